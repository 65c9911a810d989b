// Co-location: two threads bound to one processor see each other there, until one leaves it.
#include "omp/core/teams/co_location.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <latch>
#include <thread>

namespace whereabouts_test {
namespace {

using heddle::omp::co_location;

// To the first processor that it may use.
bool bind_caller() {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return false;
  int first = 0;
  while (!CPU_ISSET(first, &usable)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  return sched_setaffinity(0, sizeof one, &one) == 0;
}

TEST(co_location, two_threads_on_one_processor) {
  std::latch is_there{1}, may_leave{1};
  std::thread other([&] {
    ASSERT_TRUE(bind_caller());
    co_location its;
    EXPECT_FALSE(its.look());
    is_there.count_down();
    may_leave.wait();
    its.leave();
  });
  is_there.wait();
  std::thread mine_too([&] {
    ASSERT_TRUE(bind_caller());
    co_location mine;
    EXPECT_TRUE(mine.look());
    EXPECT_TRUE(mine.look());  // counted once
    may_leave.count_down();
    other.join();
    EXPECT_FALSE(mine.look());
    mine.leave();
    mine.leave();
    EXPECT_FALSE(mine.look());
    mine.leave();
  });
  mine_too.join();
}

TEST(co_location, whoever_is_asked_answers_by_a_look) {
  co_location mine;
  static_cast<void>(mine.look());
  EXPECT_FALSE(mine.is_asked());
  co_location::ask();
  EXPECT_TRUE(mine.is_asked());
  static_cast<void>(mine.look());
  EXPECT_FALSE(mine.is_asked());
  mine.leave();
}

// Counts of other threads belong to the parent; a thread that was counted there is not subtracted here.
TEST(co_location, a_forked_child_sees_nobody) {
  std::thread alone([] {
    ASSERT_TRUE(bind_caller());
    co_location mine, of_another;
    static_cast<void>(mine.look());
    EXPECT_TRUE(of_another.look());
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      co_location::forget_all();
      const bool sees = mine.look();
      of_another.leave();
      co_location third;
      _exit(!sees && third.look() ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    mine.leave();
    of_another.leave();
  });
  alone.join();
}

}  // namespace
}  // namespace whereabouts_test
