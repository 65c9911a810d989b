// Which regions are gangs after ompx_set_gang_sched and ompx_reset_gang_sched, and that members which were made before
// the first call do not keep their regions from being gangs.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>

#include "omp/api/api.hpp"
#include "omp/core/teams/member_kind.hpp"
#include "omp/task_support.hpp"

extern "C" {
void ompx_set_gang_sched_();
void ompx_reset_gang_sched_();
}

namespace gang_calls_test {
namespace {

using heddle_test::in_team;
using heddle_test::thread;

constexpr int outer = 2, inner = 2;

// Before anything reads the environment.
[[maybe_unused]] const bool is_set = [] {
  setenv("HEDDLE_WORKERS", "4", 1);
  setenv("OMP_MAX_ACTIVE_LEVELS", "3", 1);
  return true;
}();

// Regions of `inner` in each member of a region of `outer`, which calls before(its number). Returns how many members of
// the inner ones were in a gang, by the number of the member that led them.
template <class F>
std::array<int, outer> members_in_gangs(F before) {
  std::array<std::atomic<int>, outer> seen{};
  in_team(outer, [&](thread& self) {
    EXPECT_FALSE(self.in->is_gang) << "an outermost region";
    const unsigned number = self.number;
    before(number);
    in_team(inner, [&](thread& member) { seen[number].fetch_add(member.in->is_gang ? 1 : 0); });
  });
  return {seen[0].load(), seen[1].load()};
}

using numbers = std::array<int, outer>;
constexpr auto nothing = [](unsigned) {};

TEST(GangCalls, HoldForTheRegionsThatFollowInTheCallersTask) {
  EXPECT_EQ(members_in_gangs(nothing), (numbers{0, 0}));
  thread* early = nullptr;
  in_team(outer, [&](thread& self) {
    if (self.number == 1) early = &self;
  });
  ASSERT_NE(early, nullptr);
  EXPECT_FALSE(early->preemptive) << "there is a worker for each";

  ompx_set_gang_sched();
  EXPECT_EQ(members_in_gangs(nothing), (numbers{inner, inner}));
  EXPECT_EQ(members_in_gangs([](unsigned number) {
              if (number == 0) ompx_reset_gang_sched();
            }),
            (numbers{0, inner}))
      << "a call holds for the task that makes it";
  EXPECT_EQ(members_in_gangs(nothing), (numbers{inner, inner})) << "and not beyond its end";

  ompx_reset_gang_sched();
  EXPECT_EQ(members_in_gangs(nothing), (numbers{0, 0}));
  EXPECT_EQ(members_in_gangs([](unsigned number) {
              if (number == 1) ompx_set_gang_sched();
            }),
            (numbers{0, inner}));
}

TEST(GangCalls, MembersAreMadeAnewIfTheyCouldNotTakeTurns) {
  if (!heddle::omp::members_can_be_preempted()) GTEST_SKIP() << "no members here are preempted";
  ompx_set_gang_sched();
  in_team(outer, [](thread& self) { EXPECT_TRUE(self.number == 0 || self.preemptive); });
  ompx_reset_gang_sched();
}

TEST(GangCalls, HaveFortransNames) {
  ompx_set_gang_sched_();
  EXPECT_EQ(thread::current().running->variables->teams_are, heddle::omp::team_scheduling::gang);
  ompx_reset_gang_sched_();
  EXPECT_EQ(thread::current().running->variables->teams_are, heddle::omp::team_scheduling::stealing);
}

}  // namespace
}  // namespace gang_calls_test
