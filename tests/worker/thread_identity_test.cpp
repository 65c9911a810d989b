// The answers of the C library to a thread that asks about itself, in each kind of thread.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <latch>
#include <system_error>
#include <thread>

#include <heddle/heddle.hpp>

namespace heddle {
namespace thread_identity_test {
namespace {

struct range {
  std::uintptr_t low{0}, high{0};
  bool holds(const void* address) const {
    return low <= reinterpret_cast<std::uintptr_t>(address) && reinterpret_cast<std::uintptr_t>(address) < high;
  }
};

range stack_by_c_library() {
  pthread_attr_t attributes;
  range found;
  const int error = pthread_getattr_np(pthread_self(), &attributes);
  EXPECT_EQ(error, 0);
  if (error != 0) return found;
  void* low = nullptr;
  std::size_t bytes = 0;
  cpu_set_t told, real;
  EXPECT_EQ(pthread_attr_getstack(&attributes, &low, &bytes), 0);
  EXPECT_EQ(pthread_attr_getaffinity_np(&attributes, sizeof told, &told), 0);
  EXPECT_EQ(sched_getaffinity(0, sizeof real, &real), 0);
  EXPECT_TRUE(CPU_EQUAL(&told, &real));
  pthread_attr_destroy(&attributes);
  found.low = reinterpret_cast<std::uintptr_t>(low);
  found.high = found.low + bytes;
  return found;
}

void asks_about_itself() {
  const int here = 0;
  const range stack = stack_by_c_library();
  EXPECT_TRUE(stack.holds(&here));
  EXPECT_TRUE(stack.holds(__builtin_frame_address(0)));
  *reinterpret_cast<volatile char*>(stack.low) = 1;  // all of it can be used

  cpu_set_t told, real;
  EXPECT_EQ(pthread_getaffinity_np(pthread_self(), sizeof told, &told), 0);
  EXPECT_EQ(sched_getaffinity(0, sizeof real, &real), 0);
  EXPECT_TRUE(CPU_EQUAL(&told, &real));
  int policy = -1;
  sched_param parameters{};
  EXPECT_EQ(pthread_getschedparam(pthread_self(), &policy, &parameters), 0);
  EXPECT_EQ(policy, SCHED_OTHER);
  clockid_t clock{};
  timespec time{};
  EXPECT_EQ(pthread_getcpuclockid(pthread_self(), &clock), 0);
  EXPECT_EQ(clock_gettime(clock, &time), 0);
  EXPECT_TRUE(time.tv_sec != 0 || time.tv_nsec != 0);
  EXPECT_EQ(pthread_kill(pthread_self(), 0), 0);
}

void asks_everywhere() {
  asks_about_itself();
  const range before = stack_by_c_library();
  blocking([before] {
    asks_about_itself();
    EXPECT_EQ(stack_by_c_library().low, before.low);  // a blocking call is on the thread's own stack
  });
  this_thread::yield();
  EXPECT_EQ(stack_by_c_library().low, before.low);
  parallel_invoke(asks_about_itself, asks_about_itself);
}

struct kind {
  const char* name;
  preemption technique;
  tls storage;
};

class asks : public testing::TestWithParam<kind> {};

TEST_P(asks, about_itself) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers stand before the C library themselves";
#endif
  runtime home({.workers = 2});
  try {
    thread(thread_options{.where = &home, .preemption = GetParam().technique, .tls = GetParam().storage},
           asks_everywhere)
        .join();
    thread(
        thread_options{
            .stack_size = 8 << 20, .where = &home, .preemption = GetParam().technique, .tls = GetParam().storage},
        [] {
          const range stack = stack_by_c_library();
          EXPECT_GE(stack.high - stack.low, std::uintptr_t{7} << 20);
          EXPECT_LE(stack.high - stack.low, std::uintptr_t{8} << 20);
        })
        .join();
  } catch (const std::system_error& e) {
    GTEST_SKIP() << e.what();  // own storage cannot be had here
  }
}

INSTANTIATE_TEST_SUITE_P(, asks,
                         testing::Values(kind{"plain", preemption::none, tls::carrier},
                                         kind{"own", preemption::none, tls::own},
                                         kind{"signal_yield_own", preemption::signal_yield, tls::own},
                                         kind{"klt", preemption::klt_switching, tls::carrier}),
                         [](const auto& p) { return p.param.name; });

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
// Main, in a call that it runs itself, is on a user-level thread's stack, and outside of calls on its own.
TEST(thread_identity, of_kernel_threads) {
  runtime home({.workers = 1});
  const range own = stack_by_c_library();
  asks_about_itself();
  home.run([own] {
    asks_about_itself();
    EXPECT_NE(stack_by_c_library().low, own.low);
  });
  EXPECT_EQ(stack_by_c_library().low, own.low);
  std::thread(asks_about_itself).join();
  arena limited({.max_concurrency = 1, .where = &home});
  limited.execute(asks_about_itself);
}

TEST(thread_identity, of_others_is_the_c_librarys) {
  runtime home({.workers = 1});
  latch started(1);
  std::latch end(1);
  std::thread other([&] {
    started.count_down();
    end.wait();
  });
  started.wait();
  home.run([&] {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_getattr_np(other.native_handle(), &attributes), 0);
    void* low = nullptr;
    std::size_t bytes = 0;
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    const int here = 0;
    const auto begin = reinterpret_cast<std::uintptr_t>(low);
    EXPECT_FALSE((range{begin, begin + bytes}.holds(&here)));
  });
  end.count_down();
  other.join();
}
#endif

}  // namespace
}  // namespace thread_identity_test
}  // namespace heddle
