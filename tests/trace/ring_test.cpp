#include <gtest/gtest.h>

#include <csignal>
#include <ctime>
#include <thread>

#include "hand_made.hpp"

namespace heddle::trace {
namespace ring_test {
namespace {

std::uint64_t real_clock() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

TEST(ring, capacity_is_a_power_of_two) {
  EXPECT_EQ(ring(0, 0, test::hand_clock).capacity(), 2u);
  EXPECT_EQ(ring(100, 0, test::hand_clock).capacity(), 128u);
  EXPECT_EQ(ring(128, 0, test::hand_clock).capacity(), 128u);
}

TEST(ring, absurd_sizes_are_refused) {
  EXPECT_THROW(ring(~std::size_t{0}, 0, test::hand_clock), std::bad_alloc);
  EXPECT_THROW(ring((std::size_t{1} << 32) + 1, 0, test::hand_clock), std::bad_alloc);
}

TEST(ring, keeps_the_newest_and_counts_the_rest) {
  for (const std::uint64_t n : {0u, 1u, 7u, 8u, 9u, 16u, 17u, 1000u}) {
    ring r(8, 3, test::hand_clock);
    for (std::uint64_t i = 0; i < n; ++i) test::at<event::task_end>(100 + i, &r, i);
    const ring_snapshot got = r.snapshot();
    EXPECT_EQ(got.written, n);
    EXPECT_EQ(got.lost, n > 8 ? n - 8 : 0);
    ASSERT_EQ(got.records.size(), n - got.lost);
    for (std::size_t i = 0; i < got.records.size(); ++i) {
      EXPECT_EQ(got.records[i], (record{100 + got.lost + i, event::task_end, 3, 0, got.lost + i, 0}));
    }
  }
}

// The lap number in a slot has 16 bits: go around more often than that.
TEST(ring, survives_more_laps_than_a_slot_can_count) {
  ring r(2, 0, test::hand_clock);
  const std::uint64_t n = 2 * 65536 * 2 + 5;
  for (std::uint64_t i = 0; i < n; ++i) emit<event::task_end>(&r, i);
  const ring_snapshot got = r.snapshot();
  ASSERT_EQ(got.records.size(), 2u);
  EXPECT_EQ(got.records[0].a, n - 2);
  EXPECT_EQ(got.records[1].a, n - 1);
}

TEST(ring, snapshot_is_ordered_by_time) {
  ring r(16, 0, test::hand_clock);
  for (const std::uint64_t t : {5u, 9u, 7u, 7u, 6u, 12u, 1u}) test::at<event::task_end>(t, &r, r.written());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> got;
  for (const record& x : r.snapshot().records) got.emplace_back(x.ns, x.a);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> want{{1, 6}, {5, 0}, {6, 4}, {7, 2},
                                                                  {7, 3}, {9, 1}, {12, 5}};
  EXPECT_EQ(got, want);
}

// Snapshots of a ring in use hold whole records only: all fields of a record are made of one
// number. Small rings turn over under the reader's hands.
TEST(ring, reader_beside_a_writer_sees_whole_records) {
  for (const std::size_t size : {4u, 8u, 64u}) {
    ring r(size, 1, test::hand_clock);
    std::uint64_t seen = 0;
    std::jthread writer([&r](const std::stop_token& stop) {
      for (std::uint64_t i = 0; !stop.stop_requested(); ++i)
        r.write(event::task_begin, static_cast<std::uint32_t>(i), i, ~i);
    });
    while (r.written() < size) std::this_thread::yield();
    for (std::size_t round = 0; round < 1'500'000 / size; ++round) {
      const ring_snapshot got = r.snapshot();
      ASSERT_EQ(got.lost + got.records.size(), got.written);
      std::uint64_t previous = 0;
      for (const record& x : got.records) {
        ASSERT_EQ(x.b, ~x.a);
        ASSERT_EQ(x.arg, static_cast<std::uint32_t>(x.a));
        ASSERT_GE(x.a, previous);
        ASSERT_LT(x.a, got.written);
        previous = x.a;
        ++seen;
      }
    }
    writer.request_stop();
    writer.join();
    EXPECT_GT(seen, 0u);
    EXPECT_EQ(r.snapshot().records.size(), size);
  }
}

TEST(ring, foreign_threads_share_a_ring_without_loss) {
  constexpr int threads = 4;
  constexpr std::uint64_t each = 5000;
  ring r(threads * each, foreign_worker, real_clock);
  std::vector<std::thread> all;
  for (std::uint32_t t = 0; t < threads; ++t) {
    all.emplace_back([&r, t] {
      for (std::uint64_t i = 0; i < each; ++i) emit<event::thread_wake>(&r, t * each + i);
    });
  }
  for (std::thread& t : all) t.join();
  const ring_snapshot got = r.snapshot();
  EXPECT_EQ(got.lost, 0u);
  std::vector<char> found(threads * each);
  for (const record& x : got.records) ++found.at(x.a);
  for (const char c : found) ASSERT_EQ(c, 1);
}

ring* interrupted = nullptr;
std::atomic<std::uint64_t> from_handler{0};
void handler(int) {
  emit<event::thread_wake>(interrupted, from_handler.load());
  from_handler.fetch_add(1);
}

// No record of either side is lost when a handler writes in the middle of a write.
TEST(ring, signal_handler_writes_the_ring_it_interrupts) {
  ring r(1 << 22, 0, real_clock);
  interrupted = &r;
  struct sigaction act{};
  struct sigaction before{};
  act.sa_handler = handler;
  ASSERT_EQ(sigaction(SIGUSR1, &act, &before), 0);
  std::atomic<bool> stop{false};
  const pthread_t self = pthread_self();
  std::thread disturber([&] {
    while (!stop.load()) pthread_kill(self, SIGUSR1);
  });
  std::uint64_t mine = 0;
  for (; mine < 1'000'000 && (from_handler.load() < 200 || mine < 100'000); ++mine) emit<event::task_end>(&r, mine);
  stop = true;
  disturber.join();
  sigaction(SIGUSR1, &before, nullptr);
  const ring_snapshot got = r.snapshot();
  EXPECT_EQ(got.lost, 0u);
  EXPECT_EQ(got.written, mine + from_handler.load());
  std::uint64_t next_mine = 0, next_handler = 0;
  for (const record& x : got.records) {
    if (x.event == event::task_end) {
      ASSERT_EQ(x.a, next_mine++);
    } else {
      ASSERT_EQ(x.event, event::thread_wake);
      ASSERT_EQ(x.a, next_handler++);
    }
  }
  EXPECT_EQ(next_mine, mine);
  EXPECT_EQ(next_handler, from_handler.load());
  EXPECT_GT(next_handler, 0u);
}

}  // namespace
}  // namespace ring_test
}  // namespace heddle::trace
