// The report page in headless Chromium: report/test/browser.mjs clicks, zooms, searches and takes the screenshots,
// which stay in the folder report/ of the build.
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "report/made_runs.hpp"
#include "trace/page.hpp"

namespace heddle::trace {
namespace browser_test {
namespace {

constexpr std::string_view parts[] = {
#include "report/dist/page.inc"
};

std::string pattern() {
  std::string page;
  for (const std::string_view part : parts) page += part;
  return page;
}

std::filesystem::path artifacts(const std::string& name) {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path folder = program.parent_path().parent_path() / "report" / name;
  std::filesystem::create_directories(folder);
  return folder;
}

// Exit status of the script: 0 passed, 77 no browser.
int browse(const std::string& name, const std::string& page, const std::string& option = "") {
  const std::filesystem::path folder = artifacts(name);
  std::ofstream(folder / "page.html", std::ios::binary) << page;
  const std::string command = "timeout 100 node '" HEDDLE_SOURCE_DIR "/report/test/browser.mjs' '" +
                              (folder / "page.html").string() + "' '" + folder.string() + "' " + option;
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool has_node() { return std::system("node --version > /dev/null 2>&1") == 0; }

constexpr const char* figures = R"([
  {"program": "heat2d --n 2048", "machine": "skylake-4x16", "policy": "adws", "workers": 16, "seed": 1, "virtual_seconds": 0.000412,
   "serial_virtual_seconds": 0.0059, "speedup": 14.3, "steals": 812, "failed_steals": 1290, "migrations": 61, "busy": 0.91, "idle": 0.07,
   "overhead": 0.02, "real_seconds": 1.9,
   "levels": [{"level": "L1", "accesses": 81920000, "misses": 5120000}, {"level": "L2", "accesses": 5120000, "misses": 702000},
              {"level": "L3", "accesses": 702000, "misses": 41000}],
   "nodes": [{"node": 0, "local_bytes": 701000, "remote_bytes": 20100}, {"node": 1, "local_bytes": 690000, "remote_bytes": 31000},
             {"node": 2, "local_bytes": 655000, "remote_bytes": 18000}, {"node": 3, "local_bytes": 700100, "remote_bytes": 9000}]},
  {"program": "heat2d --n 2048", "machine": "skylake-4x16", "policy": "random_ws", "workers": 16, "seed": 1, "virtual_seconds": 0.00109,
   "serial_virtual_seconds": 0.0059, "speedup": 5.4, "steals": 1180, "failed_steals": 8800, "migrations": 950, "busy": 0.78, "idle": 0.19,
   "overhead": 0.03, "real_seconds": 2.2,
   "levels": [{"level": "L1", "accesses": 81920000, "misses": 5180000}, {"level": "L2", "accesses": 5180000, "misses": 3920000},
              {"level": "L3", "accesses": 3920000, "misses": 2800000}],
   "nodes": [{"node": 0, "local_bytes": 12400000, "remote_bytes": 35200000}, {"node": 1, "local_bytes": 11800000, "remote_bytes": 33100000},
             {"node": 2, "local_bytes": 12100000, "remote_bytes": 30900000}, {"node": 3, "local_bytes": 12000000, "remote_bytes": 34000000}]}])";

TEST(browser, reads_two_runs_side_by_side) {
  if (!has_node()) GTEST_SKIP() << "no node: the page is not opened";
  test::made_run near, far;
  far.policy = "random_ws";
  far.scattered = true;
  far.clock = "real";
  const int status =
      browse("two_runs",
             write_page({{"adws.heddle", test::make(near)}, {"random.heddle", test::make(far)}}, figures, pattern()));
  if (status == 77) GTEST_SKIP() << "no Chromium: the page is not opened";
  EXPECT_EQ(status, 0);
}

TEST(browser, reads_sixty_four_workers_and_a_tree) {
  if (!has_node()) GTEST_SKIP() << "no node: the page is not opened";
  test::made_run how;
  how.workers = 64;
  how.side = 32;
  how.iterations = 8;
  how.tree = true;
  const int status = browse("many_workers", write_page({{"many.heddle", test::make(how)}}, "[]", pattern()));
  if (status == 77) GTEST_SKIP() << "no Chromium: the page is not opened";
  EXPECT_EQ(status, 0);
}

TEST(browser, loads_a_million_events) {
  if (!has_node()) GTEST_SKIP() << "no node: the page is not opened";
  test::made_run how;
  how.side = 32;
  how.iterations = 650;
  how.scattered = true;
  recording what = test::make(how);
  std::size_t events = 0;
  for (const worker_log& log : what.workers) events += log.records.size();
  EXPECT_GE(events, 1'000'000u);
  const std::string page = write_page({{"large.heddle", std::move(what)}}, "[]", pattern());
  std::printf("%zu events: %.1f MB of HTML\n", events, static_cast<double>(page.size()) / 1e6);
  std::fflush(stdout);
  const int status = browse("million", page, "--large");
  if (status == 77) GTEST_SKIP() << "no Chromium: the page is not opened";
  EXPECT_EQ(status, 0);
}

// Without a browser: the recordings that the page is tested with are right themselves.
TEST(made_runs, are_whole) {
  const recording what = test::make({});
  for (const worker_log& log : what.workers) {
    EXPECT_GT(log.records.size(), 100u);
    EXPECT_TRUE(std::is_sorted(log.records.begin(), log.records.end(),
                               [](const record& a, const record& b) { return a.ns < b.ns; }));
  }
}

}  // namespace
}  // namespace browser_test
}  // namespace heddle::trace
