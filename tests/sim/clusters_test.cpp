// Policies for clusters and nodes, simulated: two of four workers each, between which messages take their time.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "support/shell.hpp"
#include "support/simulated.hpp"

namespace clusters_test {
namespace {

namespace fs = std::filesystem;
using heddle::process::ended;
using nlohmann::json;

class clusters_test : public ::testing::Test {
 protected:
  void SetUp() override {
    program_ = fs::path(HEDDLE_COMMAND).parent_path() / "tests" / "sim_programs" / "divide";
    SKIP_WITHOUT_SIMULATOR(program_);
    std::string name = (fs::temp_directory_path() / "heddle-clusters-test-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  // Two clusters, whose link has that latency in ns.
  std::string machine(double latency, double messages) const {
    const fs::path file = folder_ / ("m" + std::to_string(static_cast<long>(latency)) + ".toml");
    std::ofstream(file) << "tree = \"synthetic:pack:2 numa:1(memory=16GiB) l3:1(size=32MiB) l2:4(size=1MiB) core:1 "
                           "pu:1\"\nfrequency = 3\n[links]\nlatency = "
                        << latency << "\nmessages = " << messages << "\n";
    return file.string();
  }
  ended run(const std::string& arguments) const {
    return heddle_test::shell(HEDDLE_COMMAND " sim " + arguments + " 2>&1");
  }
  // Virtual seconds.
  double time(const std::string& machine, const std::string& policy, unsigned seed, const std::string& sizes) const {
    const fs::path file = folder_ / "figures.json";
    const ended e = run("--machine " + machine + " --policy " + policy + " --seed " + std::to_string(seed) +
                        " --no-serial --json " + file.string() + " -- " + program_.string() + " " + sizes);
    EXPECT_EQ(e.status, 0) << policy << ": " << e.output;
    std::ifstream stream(file);
    return e.status == 0 ? json::parse(stream).at(0).value("virtual_seconds", 0.0) : 0;
  }

  fs::path program_;

 private:
  fs::path folder_;
};

TEST_F(clusters_test, all_policies_end_and_compute_the_same_whatever_messages_take) {
  for (const char* policy : {"crs", "chs", "cls", "random-pushing", "tatl", "random_ws", "mts", "hws", "ml-adaptive"}) {
    const ended near = run("--machine " + machine(1000, 0) + " --no-serial --policy " + policy + " -- " +
                           program_.string() + " 3000 20");
    const ended far = run("--machine " + machine(300000, 1) + " --no-serial --policy " + policy + " -- " +
                          program_.string() + " 3000 20");
    EXPECT_EQ(near.status, 0) << policy << near.output;
    EXPECT_EQ(far.status, 0) << policy << far.output;
    EXPECT_EQ(near.output.substr(0, near.output.find('\n')), far.output.substr(0, far.output.find('\n')));
  }
}

// 5 ms of work for each of eight workers, and messages of 0.5 ms: a thief that waits for each attempt loses a
// millisecond whenever it tries the other cluster in vain, one that asks and steals at home meanwhile does not.
TEST_F(clusters_test, thieves_that_do_not_wait_for_slow_links_are_faster) {
  const std::string far = machine(500000, 1);
  double asking = 0, waiting = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    asking += time(far, "crs", seed, "40000 20");
    waiting += time(far, "random_ws", seed, "40000 20");
  }
  EXPECT_LT(asking, waiting);
}

TEST_F(clusters_test, a_message_takes_its_time_both_ways) {
  const std::string near = machine(1000, 1), far = machine(1000000, 1);
  // The second cluster can begin its work only after a request and its answer, 2 ms.
  EXPECT_GT(time(far, "crs", 1, "8000 20"), time(near, "crs", 1, "8000 20") + 0.0005);
  EXPECT_GT(time(far, "chs", 1, "8000 20"), time(near, "chs", 1, "8000 20") + 0.0005);
  EXPECT_GT(time(far, "random-pushing", 1, "8000 20"), time(near, "random-pushing", 1, "8000 20") + 0.0003);
}

// Dealt out in blocks the heavy quarter of the children lies on a quarter of the workers; by what they used, it is
// spread.
TEST_F(clusters_test, numalb_learns_from_the_first_iteration) {
  const ended e = run("--machine " + machine(60, 0) + " --no-serial --policy numalb -- " +
                      (program_.parent_path() / "objects").string() + " 64 4");
  ASSERT_EQ(e.status, 0) << e.output;
  double first = 0, last = 0;
  ASSERT_EQ(std::sscanf(e.output.c_str(), "%lf %lf", &first, &last), 2) << e.output;
  // Eight workers: 8 heavy children of 400 us each on one of them, then 2 heavy ones and 6 light ones of 100 us on
  // each.
  EXPECT_GT(first, 3000);
  EXPECT_LT(last, 1800);
}

}  // namespace
}  // namespace clusters_test
