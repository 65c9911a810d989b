// Loops with windows on modelled machines. They have the misses of a shared cache that the theory predicts
// (Tchiboukdjian, Danjean, Gautier, Le Mentec, Raffin). The stencil has planes that a quarter of the cache does not
// hold.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "support/shell.hpp"
#include "support/simulated.hpp"

namespace windows_test {
namespace {

namespace fs = std::filesystem;
using heddle::process::ended;
using nlohmann::json;

std::string stencil() {
  return (fs::path(HEDDLE_COMMAND).parent_path() / "tests" / "sim_programs" / "stencil").string();
}
constexpr unsigned side = 320, planes = 48;
std::string arguments(int sweeps) {
  return " --fast -- " + stencil() + " " + std::to_string(side) + " " + std::to_string(planes) + " " +
         std::to_string(sweeps);
}

struct figures {
  double milliseconds, misses;  // of the last level of caches
};

figures run(const std::string& machine, const std::string& loop, int sweeps, unsigned seed) {
  const std::string file = (fs::temp_directory_path() / ("heddle-windows-" + std::to_string(getpid()))).string();
  const ended e =
      heddle_test::shell("HEDDLE_LOOP=" + loop + " " HEDDLE_COMMAND " sim --no-serial --machine " + machine +
                         " --seed " + std::to_string(seed) + " --json " + file + arguments(sweeps) + " 2>&1");
  EXPECT_EQ(e.status, 0) << e.output;
  const json rows = e.status == 0 ? json::parse(std::ifstream(file)) : json();
  fs::remove(file);
  if (rows.empty()) return {};
  return {rows[0]["virtual_seconds"].get<double>() * 1e3, rows[0]["levels"].back()["misses"].get<double>()};
}

json predicted() {
  const ended e = heddle_test::shell(HEDDLE_COMMAND " reuse --json --machine nehalem-e5530 --iterations " +
                                     std::to_string(side * planes) + " -- " + stencil() + " " + std::to_string(side) +
                                     " " + std::to_string(planes));
  EXPECT_EQ(e.status, 0) << e.output;
  return e.status == 0 ? json::parse(e.output)[0]["window"] : json();
}

TEST(windows, keep_the_misses_of_one_core_where_loops_without_miss_as_predicted) {
  SKIP_WITHOUT_SIMULATOR(stencil());
  const json theory = predicted();
  ASSERT_EQ(theory["why"], "window");
  const double alone = theory["misses_alone"], apart = theory["misses_apart"];
  ASSERT_GT(apart, 1.9 * alone);
  const std::string length = std::to_string(theory["length"].get<unsigned>());
  for (const unsigned seed : {1u, 2u}) {
    const figures none = run("nehalem-e5530", "static", 1, seed), adaptive = run("nehalem-e5530", "adaptive", 1, seed),
                  standing = run("nehalem-e5530", "window," + length, 1, seed),
                  barriers = run("nehalem-e5530", "window_barrier," + length, 1, seed),
                  sliding = run("nehalem-e5530", "sliding_window," + length, 1, seed);
    EXPECT_NEAR(none.misses, apart, 0.15 * apart);
    EXPECT_NEAR(adaptive.misses, apart, 0.15 * apart);
    EXPECT_LT(sliding.misses, 1.02 * alone);
    EXPECT_LT(standing.misses, 1.05 * alone);
    EXPECT_LT(barriers.misses, 1.05 * alone);
    EXPECT_LT(1.3 * sliding.milliseconds, none.milliseconds);
    EXPECT_LE(sliding.milliseconds, standing.milliseconds);
  }
}

// The kernel of the slides: a loop over rows of cells that counts triangles, and one that writes them.
std::string isosurface() {
  return (fs::path(HEDDLE_COMMAND).parent_path() / "libexec" / "heddle-smoke" / "heddle-bench-heddle-shared").string();
}
std::string surface(unsigned workers) {
  return isosurface() +
         " --kernel isosurface --n 24 --columns 640 --variant default --samples 1 --warmup 0 --touch serial "
         "--workers " +
         std::to_string(workers);
}

figures extract(const std::string& loop, unsigned workers = 4) {
  const std::string file = (fs::temp_directory_path() / ("heddle-surface-" + std::to_string(getpid()))).string();
  const ended e = heddle_test::shell("HEDDLE_LOOP=" + loop +
                                     " " HEDDLE_COMMAND " sim --fast --no-serial --machine nehalem-e5530 --workers " +
                                     std::to_string(workers) + " --json " + file + " -- " + surface(workers) + " 2>&1");
  EXPECT_EQ(e.status, 0) << e.output;
  const json rows = e.status == 0 ? json::parse(std::ifstream(file)) : json();
  fs::remove(file);
  const std::string metric = "{\"metric\": \"time\"";
  const std::size_t at = e.output.find(metric);
  EXPECT_NE(at, std::string::npos) << e.output;
  if (rows.empty() || at == std::string::npos) return {};
  const json time = json::parse(e.output.substr(at, e.output.find('\n', at) - at));
  return {time["samples"][0].get<double>(), rows[0]["levels"].back()["misses"].get<double>()};
}

TEST(windows, of_an_isosurface_come_in_the_order_of_the_slides) {
  SKIP_WITHOUT_SIMULATOR(stencil());
  if (!fs::exists(isosurface())) GTEST_SKIP() << "the smoke form of heddle-bench-heddle-shared is not built";
  const ended e =
      heddle_test::shell(HEDDLE_COMMAND " reuse --json --machine nehalem-e5530 --iterations 30720 -- " + surface(1));
  ASSERT_EQ(e.status, 0) << e.output;
  const json theory = json::parse(e.output.substr(e.output.find("[\n")))[0]["window"];
  const double alone = theory["misses_alone"], apart = theory["misses_apart"];
  const std::string length = std::to_string(theory["length"].get<unsigned>());
  const figures serial = extract("static", 1), none = extract("static"), adaptive = extract("adaptive"),
                barriers = extract("window_barrier," + length), standing = extract("window," + length),
                sliding = extract("sliding_window," + length), automatic = extract("window_automatic");
  EXPECT_NEAR(serial.misses, alone, 0.1 * alone);
  EXPECT_NEAR(none.misses, apart, 0.1 * apart);
  EXPECT_NEAR(adaptive.misses, apart, 0.15 * apart);
  for (const figures& window : {barriers, standing, sliding}) {
    EXPECT_LT(window.misses, 1.1 * serial.misses);
    EXPECT_LT(window.milliseconds, std::min(none.milliseconds, adaptive.milliseconds));
  }
  EXPECT_LE(sliding.milliseconds, std::min(barriers.milliseconds, standing.milliseconds));
  EXPECT_LT(automatic.milliseconds, 1.05 * sliding.milliseconds);
}

TEST(windows, automatic_ones_follow_from_a_quarter_of_the_first_loop) {
  SKIP_WITHOUT_SIMULATOR(stencil());
  const json theory = predicted();
  const double alone = theory["misses_alone"], apart = theory["misses_apart"];
  const double one = run("nehalem-e5530", "window_automatic", 1, 1).misses,
               three = run("nehalem-e5530", "window_automatic", 3, 1).misses;
  EXPECT_LT(one, 1.05 * (0.25 * apart + 0.75 * alone));
  EXPECT_LT(three - one, 2 * 1.02 * alone);
}

TEST(windows, lose_where_no_cache_is_shared_and_automatic_has_none) {
  SKIP_WITHOUT_SIMULATOR(stencil());
  const figures adaptive = run("opteron-2x2", "adaptive", 2, 1),
                sliding = run("opteron-2x2", "sliding_window,600", 2, 1),
                automatic = run("opteron-2x2", "window_automatic", 2, 1);
  EXPECT_GT(sliding.milliseconds, 1.02 * adaptive.milliseconds);
  EXPECT_EQ(automatic.milliseconds, adaptive.milliseconds);
  EXPECT_EQ(automatic.misses, adaptive.misses);
}

}  // namespace
}  // namespace windows_test
