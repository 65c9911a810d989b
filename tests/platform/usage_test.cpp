// Counters of kernel threads: events that the kernel makes up stand for those of the processor, where that has none.
#include "platform/usage.hpp"

#include <linux/perf_event.h>

#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <thread>

#include "platform/linux/counters.hpp"
#include "platform/platform.hpp"

namespace heddle::platform {
namespace usage_test {
namespace {

using policy::source;
using reading = usage_reading;

constexpr counted_event faults{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, reading::instructions};
constexpr counted_event unknown{PERF_TYPE_SOFTWARE, 0xffff, reading::shared_misses};

class counters : public ::testing::Test {
 protected:
  ~counters() override { close_counters(of); }
  bool can_count() {
    open_events(of, {&faults, 1});
    const bool can = of.opened == 1;
    close_counters(of);
    return can;
  }
  static void touch(std::size_t pages) {
    const std::size_t bytes = pages * page_size();
    auto* memory = static_cast<char*>(reserve(bytes));
    ASSERT_NE(memory, nullptr);
    for (std::size_t i = 0; i < pages; ++i) memory[i * page_size()] = 1;
    release(memory, bytes);
  }
  usage_counters of;
};

TEST_F(counters, count_what_the_calling_kernel_thread_does) {
  if (!can_count()) GTEST_SKIP() << "the system grants no events";
  open_events(of, {&faults, 1});
  const usage_reading before = read_usage(of, {});
  EXPECT_EQ(before.from[reading::instructions], source::counter);
  std::thread([] { touch(5000); }).join();  // it is not counted for the calling thread
  const usage_reading between = read_usage(of, {});
  EXPECT_LT(between.value[reading::instructions] - before.value[reading::instructions],
            4000u);  // sanitizers touch some, too
  touch(500);
  const usage_reading after = read_usage(of, {});
  EXPECT_GE(after.value[reading::instructions] - between.value[reading::instructions], 500u);
}

TEST_F(counters, an_event_that_is_refused_is_left_out) {
  if (!can_count()) GTEST_SKIP() << "the system grants no events";
  const counted_event events[] = {unknown, faults, unknown};
  open_events(of, events);
  EXPECT_EQ(of.opened, 1u);
  const usage_reading now = read_usage(of, {});
  EXPECT_EQ(now.from[reading::instructions], source::counter);
  EXPECT_EQ(now.from[reading::shared_misses], source::none);
}

// The kernel counts all accesses to nodes, and the remote ones among them.
TEST_F(counters, local_accesses_are_what_is_not_remote) {
  if (!can_count()) GTEST_SKIP() << "the system grants no events";
  const counted_event all{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, reading::local_accesses};
  const counted_event remote{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, reading::remote_accesses};
  open_events(of, {&all, 1});
  touch(10);
  EXPECT_EQ(read_usage(of, {}).from[reading::local_accesses], source::none) << "local and remote ones together";
  open_events(of, {&remote, 1});
  touch(100);
  const usage_reading now = read_usage(of, {});
  EXPECT_EQ(now.from[reading::local_accesses], source::counter);
  EXPECT_GE(now.value[reading::local_accesses], 100u);
}

TEST_F(counters, without_any_the_processor_time_is_the_clocks) {
  const usage_reading before = read_usage(of, {});
  timespec t{};
  const auto now = [&] {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
  };
  const std::uint64_t start = now();
  while (now() - start < 2'000'000) {
  }
  const usage_reading after = read_usage(of, {});
  EXPECT_GE(after.value[reading::processor_time] - before.value[reading::processor_time], 2'000'000u);
  for (unsigned i = 0; i < reading::count; ++i)
    EXPECT_EQ(after.from[i], i == reading::processor_time ? source::clock : source::none);
}

TEST_F(counters, what_nobody_wants_is_not_read) {
  const policy::usage_figures none{false, false, false, false, false};
  open_counters(of, none);
  EXPECT_EQ(of.opened, 0u);
  EXPECT_FALSE(none.at_switches());
  for (const source from : read_usage(of, none).from) EXPECT_EQ(from, source::none);
}

TEST_F(counters, hardware_or_nothing) {
  open_counters(of, {});
  const usage_reading now = read_usage(of, {});
  for (unsigned i = 0; i < reading::count; ++i)
    EXPECT_TRUE(now.from[i] == source::none ||
                now.from[i] == (i == reading::processor_time ? source::clock : source::counter));
}

TEST(processor_time, of_another_kernel_thread) {
  std::atomic<int> id{0};
  std::atomic<bool> over{false};
  std::thread other([&] {
    id = kernel_thread_id();
    while (!over) {
    }
  });
  while (id == 0) std::this_thread::yield();
  const nanoseconds before = processor_time_of(id);
  while (processor_time_of(id) < before + 1'000'000) std::this_thread::yield();
  over = true;
  other.join();
  // more than the kernel numbers
  EXPECT_EQ(processor_time_of((1 << 22) + 1), 0u);
}

// Traces ask ten thousand times a second; the kernel's own accounts may be one of its ticks late.
TEST(used_so_far, follows_the_processor_time_of_the_kernel_thread) {
  const auto used = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
  };
  for (int round = 0; round < 20; ++round) {
    const std::uint64_t least = used();
    const std::uint64_t told = used_so_far().cpu;
    EXPECT_GE(told, least);
    EXPECT_LE(told, used());
    while (used() < least + 300'000) {
    }
  }
}

}  // namespace
}  // namespace usage_test
}  // namespace heddle::platform
