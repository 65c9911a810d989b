// Greed, under schedules that differ at every atomic operation: no worker sleeps while there is something that it may
// take. n leaves that wait for each other on n workers end only if every worker comes to take one: where one sleeps on,
// the schedule ends as a stall. Liveness (everything ends) is the case of one leaf. Policies that promise it:
// src/policy/README.md; argument: src/sync/sleep.md, [conserving:1].
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "policy/registry.hpp"
#include "tests/sim_explore/leaves.hpp"
#include "tests/support/runtimes.hpp"

namespace heddle::sim {
namespace work_conserving_test {
namespace {

#if !defined(HEDDLE_MUTANT)

// Those of heddle_test::all_policies; without those whose rules leave workers idle, or that have one.
std::vector<std::string> work_conserving_policies() {
  std::vector<std::string> all = heddle_test::all_policies;
  all.emplace_back("constrained_ws:replay=relws");
  std::erase_if(all, [](const std::string& name) {
    const auto made = policy::make(name);
    return !made->wants().work_conserving || made->most_workers() < 4;
  });
  return all;
}

class work_conserving : public testing::TestWithParam<std::string> {};

TEST_P(work_conserving, as_many_leaves_as_workers_meet) {
  const bool often = GetParam() == "random_ws";  // what most programs run under
  const unsigned count = often ? schedules() / 3 : schedules() / 60;
  for (const shape& s : shapes) {
    for (const auto& [there, leaves] : {std::pair{3, 3}, {4, 4}, {4, 3}}) {
      const verdict v = explored(s, GetParam(), there, leaves, count);
      EXPECT_FALSE(v.failed) << s.name << ", " << leaves << " leaves on " << there << " workers: schedule " << v.seed
                             << " ended with status " << v.status;
    }
  }
}

// Two clusters of two: who finds nothing at home depends on a request to the other cluster, or on its own force.
TEST(work_conserving_clusters, as_many_leaves_as_workers_meet) {
  for (const char* policy : {"crs", "crs:patience=1"}) {
    for (const shape& s : shapes) {
      for (const int leaves : {4, 3}) {
        const verdict v = explored(s, policy, 4, leaves, schedules() / 30,
                                   "synthetic:pack:2 l3:1(size=65536) l2:2(size=4096) core:1 pu:1");
        EXPECT_FALSE(v.failed) << policy << ", " << s.name << ", " << leaves << " leaves: schedule " << v.seed
                               << " ended with status " << v.status;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(policies, work_conserving, testing::ValuesIn(work_conserving_policies()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return heddle_test::test_name(info.param);
                         });

#else

TEST(work_conserving, some_schedule_shows_the_mistake) {
  expect_found(shapes, [](const shape& s) { return explored(s, "random_ws", 4, 4, schedules() / 3); });
}

#endif

}  // namespace
}  // namespace work_conserving_test
}  // namespace heddle::sim
