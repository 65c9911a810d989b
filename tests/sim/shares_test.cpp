// How evenly loops share their work that name no schedule: beside those that do, and on cores of unlike speeds.
// Simulated, so to the last digit the same on each machine.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "support/shell.hpp"
#include "support/simulated.hpp"

namespace shares_test {
namespace {

namespace fs = std::filesystem;
using heddle::process::ended;

std::string program() {
  return (fs::path(HEDDLE_COMMAND).parent_path() / "tests" / "sim_programs" / "shares").string();
}
struct figures {
  double work, middle, longest;  // microseconds
};
using by_schedule = std::map<std::string, figures>;

// By loop.
std::map<std::string, by_schedule> run(const std::string& machine, unsigned seed) {
  const ended e = heddle_test::shell(HEDDLE_COMMAND " sim --no-serial --machine '" + machine + "' --seed " +
                                     std::to_string(seed) + " -- " + program() + " 2>&1");
  EXPECT_EQ(e.status, 0) << e.output;
  std::map<std::string, by_schedule> all;
  std::istringstream lines(e.output);
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    std::istringstream words(line);
    std::string loop, schedule;
    figures f{};
    words >> loop >> schedule >> f.work >> f.middle >> f.longest;
    EXPECT_TRUE(words) << line;
    all[loop][schedule] = f;
  }
  EXPECT_EQ(all.size(), 8U) << e.output;
  return all;
}

std::string equal_cores(unsigned n) { return "synthetic:pack:1 l3:1(size=32MiB) core:" + std::to_string(n) + " pu:1"; }

class shares : public testing::TestWithParam<unsigned> {};

TEST_P(shares, are_as_even_as_by_the_best_schedule_that_is_named) {
  SKIP_WITHOUT_SIMULATOR(program());
  for (const unsigned seed : {1U, 2U}) {
    for (const auto& [loop, all] : run(equal_cores(GetParam()), seed)) {
      double best = all.begin()->second.middle;
      for (const auto& [name, f] : all) best = std::min(best, f.middle);
      // Four cores meet the longest iterations, of which nothing can be known, later than in the order of the range.
      const double slack = loop == "tail" && GetParam() == 4 ? 1.1 : 1.05;
      EXPECT_LE(all.at("adaptive").middle, slack * best) << loop << ", seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(cores, shares, testing::Values(2U, 4U));

// One core of `cores` has half the speed of the others.
std::string one_throttled(unsigned cores, const fs::path& file) {
  std::ofstream(file) << "title = \"one core at half speed\"\ntree = \"" << equal_cores(cores)
                      << "\"\nfrequency = 3\n[[core]]\nname = \"fast\"\n[[core]]\nname = \"slow\"\nspeed = 0.5\nunits "
                         "= \"1\"\n";
  return file.string();
}

class throttled : public testing::TestWithParam<unsigned> {};

// Equal parts would wait for the slow core, twice as long as the others need. Halves that have to be asked for, and for
// whose end others wait, took up to a fifth more than the ideal.
TEST_P(throttled, core_gets_its_share_and_no_more) {
  SKIP_WITHOUT_SIMULATOR(program());
  const fs::path file = fs::temp_directory_path() / ("heddle-shares-" + std::to_string(getpid()) + ".toml");
  const std::string machine = one_throttled(GetParam(), file);
  for (const unsigned seed : {1U, 2U, 3U}) {
    auto all = run(machine, seed);
    for (const std::string loop : {"even", "short", "triangle", "turned"}) {
      const figures adaptive = all[loop]["adaptive"], equal = all[loop]["static"];
      const double ideal = adaptive.work / (GetParam() - 0.5);
      EXPECT_LE(adaptive.middle, 1.05 * ideal) << loop << ", seed " << seed;
      EXPECT_LE(adaptive.longest, 1.12 * ideal) << loop << ", seed " << seed;
      if (loop == "even" || loop == "short") {
        EXPECT_GT(equal.longest, 1.4 * ideal) << loop << ", seed " << seed;
      }
    }
  }
  fs::remove(file);
}

INSTANTIATE_TEST_SUITE_P(cores, throttled, testing::Values(2U, 4U));

}  // namespace
}  // namespace shares_test
