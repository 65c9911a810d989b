// Teams that are kept from region to region: larger and smaller ones, with regions inside, led by many kernel threads
// at once, by user-level threads of the program's own, and in the child of a fork.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <heddle/runtime.hpp>
#include <heddle/thread.hpp>

#include "omp/task_support.hpp"
#include "support/runtimes.hpp"
#include "support/sanitized.hpp"
#include "worker/runtime.hpp"

namespace teams_test {
namespace {

using namespace heddle_test;
using heddle::omp::wait_at_barrier;

// Before anything reads the environment.
[[maybe_unused]] const bool is_set = [] {
  setenv("HEDDLE_WORKERS", "2", 1);
  setenv("OMP_MAX_ACTIVE_LEVELS", "4", 1);
  return true;
}();

// A region of n in which each does something of each kind; how many members it had.
int busy_region(int n) {
  std::atomic<int> members{0}, tasks{0};
  std::atomic<unsigned> numbers{0};
  in_team(n, [&](thread& self) {
    members.fetch_add(1);
    numbers.fetch_or(1u << self.number);
    wait_at_barrier(self);
    spawn(self, [&](thread&) { tasks.fetch_add(1); });
    if (self.number == 0) spawn(self, [&](thread&) { tasks.fetch_add(1); });
    wait_at_barrier(self);
    if (tasks.load() != n + 1) members.fetch_add(1000);
  });
  return numbers.load() == (1u << n) - 1 ? members.load() : -members.load();
}

TEST(teams, grow_and_shrink) {
  for (int round = 0; round < 10 * stress(); ++round)
    for (const int n : {1, 3, 8, 2, 4, 1, 8, 3, 1, 5}) ASSERT_EQ(busy_region(n), n);
}

// The first members run while the leader makes the others: whatever they tell the team must find all of them.
TEST(teams, have_all_their_members_when_the_first_of_them_begins) {
  for (int n = 4; n <= 256; n *= 2) {
    std::atomic<int> missing{0};
    in_team(n, [&](thread& self) {
      for (int i = n; i-- > 0;)
        if (self.in->members[i] == nullptr) missing.fetch_add(1);
      self.in->wake_all();
    });
    ASSERT_EQ(missing.load(), 0) << "in a team of " << n;
  }
}

TEST(teams, keep_their_members) {
  std::vector<thread*> first(8);
  in_team(8, [&](thread& self) { first[self.number] = &self; });
  for (int round = 0; round < 20 * stress(); ++round) {
    for (const int n : {1, 3, 8, 4}) in_team(n, [&](thread& self) { ASSERT_EQ(first[self.number], &self); });
  }
}

TEST(teams, inside_others_grow_and_shrink_on_their_own) {
  for (int round = 0; round < 3 * stress(); ++round) {
    for (const int n : {3, 1, 4}) {
      std::atomic<int> right{0};
      in_team(n, [&](thread& self) {
        for (int k = 0; k < 4; ++k) {
          const int m = 1 + (static_cast<int>(self.number) + k + round) % 4;
          if (busy_region(m) == m) right.fetch_add(1);
        }
      });
      ASSERT_EQ(right.load(), 4 * n);
    }
  }
}

TEST(teams, of_many_kernel_threads_at_once) {
  for (int round = 0; round < 3 * stress(); ++round) {
    std::atomic<int> ready{0}, right{0};
    constexpr int threads = 8, regions = 20;
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&, i] {
        ready.fetch_add(1);
        while (ready.load() != threads) std::this_thread::yield();  // all enter their first region at once
        for (int k = 0; k < regions; ++k) {
          const int n = 1 + (i + k) % 4;
          if (busy_region(n) == n) right.fetch_add(1);
        }
      });
    }
    for (std::thread& t : all) t.join();
    ASSERT_EQ(right.load(), threads * regions);
  }
}

TEST(teams, of_user_level_threads) {
  for (int round = 0; round < 3 * stress(); ++round) {
    std::atomic<int> right{0};
    std::vector<heddle::thread> all;
    for (int i = 0; i < 6; ++i) {
      all.emplace_back([&, i] {
        for (int k = 0; k < 5; ++k) {
          const int n = 1 + (i + k) % 4;
          if (busy_region(n) == n) right.fetch_add(1);
        }
      });
    }
    for (heddle::thread& t : all) t.join();
    ASSERT_EQ(right.load(), 30);
  }
}

// [members:4], in a runtime of its own: the child's.
// Kept members wait in the program's own runtime, and end with it: the destructor returns, and descriptors are given
// back. It hangs where it fails, until the watchdog of all tests ends it.
TEST(teams, end_with_the_runtime_of_their_leader) {
  std::set<int> numbers;
  for (int round = 0; round < 20; ++round) {
    heddle::runtime_options options;
    options.workers = static_cast<unsigned>(1 + round % 4);
    heddle::runtime own(options);
    const auto lead = [&](int n) { EXPECT_EQ(busy_region(n), n); };
    own.run([&] {
      lead(3);
      numbers.insert(thread::current().global_number);
    });
    own.run([&] {
      std::vector<heddle::thread> leaders;
      for (int i = 0; i < 3; ++i) leaders.emplace_back([&lead, i] { lead(2 + i); });
      for (heddle::thread& t : leaders) t.join();
    });
    heddle::thread_options detached;
    detached.where = &own;
    heddle::thread(detached, [] { EXPECT_EQ(busy_region(4), 4); }).detach();
  }
  EXPECT_LT(*numbers.rbegin() - *numbers.begin(), 100) << "descriptors of runtimes that have ended are in use";
}

TEST(teams, of_more_threads_than_processors_crowd_the_runtime) {
  if (heddle_test::thread_sanitized) GTEST_SKIP() << "ThreadSanitizer does not follow a fork of a process with threads";
  const pid_t child = fork();
  if (child == 0) {
    const auto is_crowded = [] { return heddle::runtime::global().core().crowded(); };
    const bool from_the_start = is_crowded();  // one processor
    if (busy_region(2) != 2 || is_crowded() != from_the_start) _exit(1);
    if (busy_region(3) != 3 || !is_crowded()) _exit(2);
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

// Whether a child that was forked now can use teams of its own; its parent goes on with the old ones.
bool works_in_child(const std::vector<int>& sizes) {
  const pid_t child = fork();
  if (child == 0) {
    for (const int n : sizes)
      if (busy_region(n) != n) _exit(1);
    std::atomic<int> right{0};
    std::thread other([&] { right = busy_region(3); });  // a new foreign thread in the child
    other.join();
    _exit(right.load() == 3 ? 0 : 2);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(teams, of_a_forked_child) {
  if (heddle_test::thread_sanitized) GTEST_SKIP() << "ThreadSanitizer does not follow a fork of a process with threads";
  for (int round = 0; round < 3 * stress(); ++round) {
    EXPECT_TRUE(works_in_child({4, 2, 8}));
    ASSERT_EQ(busy_region(4), 4);
    EXPECT_TRUE(works_in_child({2, 8, 1, 3}));
    ASSERT_EQ(busy_region(8), 8);
    // From inside a region, by its leader: the other members do not exist in the child.
    std::atomic<bool> right{false};
    in_team(3, [&](thread& self) {
      if (self.number == 0) right = works_in_child({1});
      wait_at_barrier(self);
    });
    EXPECT_TRUE(right.load());
    ASSERT_EQ(busy_region(3), 3);
  }
}

}  // namespace
}  // namespace teams_test
