// Thread-local reads after a migration: LLVM #98479. Compiled with -O3 -fPIC whatever the build
// (tests/fault/fault_tests.cmake): there compilers keep the address of a thread_local across calls.
#include <heddle/blocking.hpp>
#include <heddle/detail/current.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace migration_test {
namespace {

pid_t kernel_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

// The way a program should read a thread_local when it may have moved: through a function that is not inlined.
thread_local pid_t mine = 0;
[[gnu::noinline]] pid_t* address_of_mine() {
  asm volatile("" ::: "memory");
  return &mine;
}
[[gnu::noinline]] pid_t read_mine() {
  pid_t* here = address_of_mine();
  if (*here == 0) *here = kernel_thread();
  return *here;
}

// Comes back on another worker: the child, which this policy begins at once,
// does not end before its spawner has gone on, and only a thief can do that.
bool migrate() {
  std::atomic<bool> gone_on{false};
  const pid_t before = kernel_thread();
  heddle::task_group group;
  group.run([&] {
    while (!gone_on.load()) std::this_thread::yield();  // the kernel's: the worker stays here
  });
  const bool moved = kernel_thread() != before;
  gone_on = true;
  group.wait();
  return moved;
}

class llvm_98479_thread_local : public testing::TestWithParam<unsigned> {};

TEST_P(llvm_98479_thread_local, reads_are_those_of_the_new_kernel_thread) {
  heddle_test::watchdog guard("migrations");
  heddle::runtime rt({.workers = GetParam(), .policy = "random_ws:spawn=child"});
  rt.run([&] {
    int moved = 0;
    for (int i = 0; i < 300 * heddle_test::stress(); ++i) {
      ASSERT_EQ(read_mine(), kernel_thread());
      moved += migrate() ? 1 : 0;
      ASSERT_EQ(read_mine(), kernel_thread()) << "after " << moved << " migrations";
    }
    EXPECT_GT(moved, 0);
  });
}

TEST_P(llvm_98479_thread_local, accessors_of_heddle_stay_right) {
  heddle_test::watchdog guard("migrations");
  heddle::runtime rt({.workers = GetParam(), .policy = "random_ws:spawn=child"});
  heddle::thread looks({.where = &rt}, [&] {  // not run(), whose caller may carry a worker for the call's time
    const auto id = heddle::this_thread::id();
    std::vector<pid_t> carrier_of(GetParam(), 0);
    for (int i = 0; i < 300 * heddle_test::stress(); ++i) {
      migrate();
      ASSERT_EQ(heddle::this_thread::id(), id);
      ASSERT_EQ(&heddle::runtime::current(), &rt);
      const int rank = rt.worker_rank();
      ASSERT_GE(rank, 0);
      ASSERT_LT(rank, static_cast<int>(GetParam()));
      pid_t& carrier =
          carrier_of[static_cast<std::size_t>(rank)];  // nothing is with a caller here: one carrier a worker
      if (carrier == 0) carrier = kernel_thread();
      ASSERT_EQ(carrier, kernel_thread()) << "rank " << rank;
      // Between two migrations in one function, and across forks that go on elsewhere.
      heddle::detail::fork_queue* const first = heddle::detail::current_queue();
      const pid_t there = kernel_thread();
      migrate();
      heddle::detail::fork_queue* const second = heddle::detail::current_queue();
      ASSERT_EQ(first == second, there == kernel_thread());
    }
  });
  looks.join();
}

TEST_P(llvm_98479_thread_local, blocking_comes_back_right) {
  heddle_test::watchdog guard("migrations");
  heddle::runtime rt({.workers = GetParam(), .policy = "random_ws:spawn=child"});
  rt.run([&] {
    const auto id = heddle::this_thread::id();
    for (int i = 0; i < 100 * heddle_test::stress(); ++i) {
      const pid_t inside = heddle::blocking([] { return read_mine(); });
      EXPECT_NE(inside, 0);
      ASSERT_EQ(read_mine(), kernel_thread());
      ASSERT_EQ(heddle::this_thread::id(), id);
      ASSERT_EQ(&heddle::runtime::current(), &rt);
    }
  });
}

TEST_P(llvm_98479_thread_local, the_exception_under_way_goes_along) {
  heddle_test::watchdog guard("migrations");
  heddle::runtime rt({.workers = GetParam(), .policy = "random_ws:spawn=child"});
  rt.run([&] {
    for (int i = 0; i < 100 * heddle_test::stress(); ++i) {
      try {
        throw std::runtime_error("mine");
      } catch (const std::runtime_error& e) {
        migrate();
        ASSERT_STREQ(e.what(), "mine");
        const std::exception_ptr current = std::current_exception();
        ASSERT_NE(current, nullptr);
        EXPECT_THROW(std::rethrow_exception(current), std::runtime_error);
      }
      ASSERT_EQ(std::current_exception(), nullptr);
      ASSERT_EQ(std::uncaught_exceptions(), 0);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(workers, llvm_98479_thread_local, testing::Values(2u, 4u, 8u));

}  // namespace
}  // namespace migration_test
