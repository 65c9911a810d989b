// Barriers of teams of 1 to 8, in all the shapes that constructs make of them: with and without tasks, cancelled, many
// in a row, at the end of work-sharing, and those of regions inside members.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <vector>

#include "omp/core/teams/cancel.hpp"
#include "omp/task_support.hpp"
#include "support/runtimes.hpp"

namespace barrier_test {
namespace {

using namespace heddle_test;
using heddle::omp::wait_at_barrier;

// Before anything reads the environment.
[[maybe_unused]] const bool is_set = [] {
  setenv("HEDDLE_WORKERS", "2", 1);
  setenv("OMP_CANCELLATION", "true", 1);
  setenv("OMP_MAX_ACTIVE_LEVELS", "3", 1);
  return true;
}();

class barriers : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(teams, barriers, testing::Values(1, 3, 4, 8));

// All members see behind a barrier what each has written before it. The variables are plain, so that ThreadSanitizer
// checks this, too.
TEST_P(barriers, publish_what_was_done_before) {
  const int n = GetParam();
  std::vector<int> written(static_cast<std::size_t>(n));
  in_team(n, [&](thread& self) {
    for (int round = 1; round <= 200 * stress(); ++round) {
      written[self.number] = round;
      wait_at_barrier(self);
      for (const int w : written) ASSERT_EQ(w, round);
      wait_at_barrier(self);
    }
  });
}

TEST_P(barriers, end_after_all_tasks_of_the_team) {
  const int n = GetParam();
  std::atomic<int> ran{0};
  in_team(n, [&](thread& self) {
    for (int round = 1; round <= 50 * stress(); ++round) {
      for (int i = 0; i < 5; ++i) {
        spawn(self, [&](thread& on) {
          spawn(on, [&](thread&) { ran.fetch_add(1); });
          ran.fetch_add(1);
        });
      }
      wait_at_barrier(self);
      ASSERT_EQ(ran.load(), 10 * n * round);
      wait_at_barrier(self);
    }
  });
}

// A single member makes tasks after the others have come, and with gaps.
TEST_P(barriers, those_who_wait_run_what_comes_late) {
  const int n = GetParam();
  for (int round = 0; round < 20 * stress(); ++round) {
    std::atomic<int> ran{0};
    in_team(n, [&](thread& self) {
      if (self.number == 0) {
        for (int i = 0; i < 30; ++i) {
          spawn(self, [&](thread&) { ran.fetch_add(1); });
          if (i % 10 == 0) heddle::detail::yield();
        }
      }
      wait_at_barrier(self);
      ASSERT_EQ(ran.load(), 30);
    });
  }
}

// A member may wait in a taskwait while the others are at the barrier already.
TEST_P(barriers, and_waits_of_tasks_at_once) {
  const int n = GetParam();
  for (int round = 0; round < 20 * stress(); ++round) {
    std::atomic<long> sum{0};
    in_team(n, [&](thread& self) {
      if (self.number % 2 == 0) {
        for (int i = 0; i < 20; ++i) spawn(self, [&](thread&) { sum.fetch_add(1); });
        heddle::omp::taskwait(self);
        sum.fetch_add(1000);
      }
      wait_at_barrier(self);
      const int makers = (n + 1) / 2;
      ASSERT_EQ(sum.load(), makers * 1020L);
    });
  }
}

TEST_P(barriers, cancelled_regions_leave_none_behind) {
  const int n = GetParam();
  for (int round = 0; round < 30 * stress(); ++round) {
    std::atomic<int> left{0};
    in_team(n, [&](thread& self) {
      if (static_cast<int>(self.number) == round % n) {
        heddle::omp::cancel(self, heddle::omp::cancels::parallel);
        left.fetch_add(1);
        return;
      }
      if (wait_at_barrier(self, true)) left.fetch_add(1);
      else ADD_FAILURE() << "nobody else comes";
    });
    EXPECT_EQ(left.load(), n);
    // The next region's barriers are whole again.
    std::atomic<int> at{0};
    in_team(n, [&](thread& self) {
      at.fetch_add(1);
      ASSERT_FALSE(wait_at_barrier(self, true));
      ASSERT_EQ(at.load(), n);
      wait_at_barrier(self);
    });
  }
}

TEST_P(barriers, of_inner_regions_are_their_own) {
  const int n = GetParam();
  std::atomic<int> outer{0};
  in_team(n, [&](thread& self) {
    for (int round = 1; round <= 5 * stress(); ++round) {
      std::atomic<int> inner{0};
      const int m = 1 + (static_cast<int>(self.number) + round) % 3;
      in_team(m, [&](thread& in) {
        inner.fetch_add(1);
        wait_at_barrier(in);
        ASSERT_EQ(inner.load(), m);
        wait_at_barrier(in);
        inner.fetch_add(1);
        wait_at_barrier(in);
        ASSERT_EQ(inner.load(), 2 * m);
      });
      outer.fetch_add(1);
      wait_at_barrier(self);
      ASSERT_EQ(outer.load(), n * round);
      wait_at_barrier(self);
    }
  });
}

// A member that runs its constructs ahead of the others, up to the ring's end and round again.
TEST_P(barriers, behind_loops_without_one) {
  const int n = GetParam();
  std::atomic<long> sum{0};
  const int loops = 40 * stress();
  in_team(n, [&](thread& self) {
    for (int k = 0; k < loops; ++k) {
      heddle::omp::loop_plan plan;
      plan.kind = heddle::omp::schedule_kind::of_dynamic;
      plan.trips = 10;
      heddle::omp::begin_loop(self, plan);
      while (heddle::omp::next_block(self)) sum.fetch_add(static_cast<long>(self.work.now.count));
      heddle::omp::end_loop(self);
    }
    wait_at_barrier(self);
    ASSERT_EQ(sum.load(), 10L * loops);
  });
}

}  // namespace
}  // namespace barrier_test
