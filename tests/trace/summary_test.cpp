#include <gtest/gtest.h>

#include "hand_made.hpp"
#include "trace/summary.hpp"

namespace heddle::trace {
namespace summary_test {
namespace {

using test::at;

void expect_time(const counters& c, std::uint64_t busy, std::uint64_t idle, std::uint64_t overhead,
                 std::uint64_t off = 0) {
  EXPECT_EQ(c.time(activity::busy), busy);
  EXPECT_EQ(c.time(activity::idle), idle);
  EXPECT_EQ(c.time(activity::overhead), overhead);
  EXPECT_EQ(c.time(activity::off), off);
}

TEST(summary, two_workers_with_known_times) {
  recorder rec(2, test::options());
  ring* const a = rec.of(0);
  ring* const b = rec.of(1);
  at<event::worker_start>(100, a, 1);
  at<event::thread_create>(105, a, 7, 0);
  at<event::thread_switch_in>(110, a, 7);                 // overhead 10
  at<event::task_begin>(120, a, 0, 1, 0);                 // busy 10
  at<event::fork>(150, a, 2, 3, 0);                       // busy
  at<event::task_end>(200, a, 1);                         // busy 80
  at<event::wake_sent>(210, a, 1);                        // busy
  at<event::thread_park>(300, a, park_reason::ended, 7);  // busy 100
  at<event::worker_stop>(310, a);                         // overhead 10

  at<event::worker_start>(100, b, 2);
  at<event::idle_begin>(101, b);        // overhead 1
  at<event::steal_attempt>(110, b, 0);  // idle 9
  at<event::steal_fail>(115, b, 0);     // idle 5: nothing was there
  at<event::park_begin>(120, b);        // idle 5
  at<event::park_end>(240, b);          // idle 120
  at<event::steal_attempt>(241, b, 0);  // idle 1
  at<event::request_post>(242, b, 0);
  at<event::steal_success>(251, b, 0, 2, 3);  // overhead 10
  at<event::idle_end>(252, b);                // idle 1
  at<event::task_begin>(253, b, 0, 3, 0);     // overhead 1
  at<event::task_end>(293, b, 3);             // busy 40
  at<event::worker_switch_off>(295, b);       // overhead 2
  at<event::worker_switch_on>(299, b);        // off 4
  at<event::worker_stop>(300, b);             // overhead 1
  emit<event::thread_wake>(rec.foreign(), 7);

  const summary s = summarise(rec.collect());
  EXPECT_EQ(s.wall_ns(), 210u);
  ASSERT_EQ(s.workers.size(), 3u);
  expect_time(s.workers[0].seen, 190, 0, 20);
  expect_time(s.workers[1].seen, 40, 141, 15, 4);
  expect_time(s.workers[2].seen, 0, 0, 0);
  expect_time(s.total, 230, 141, 35, 4);
  EXPECT_EQ(s.workers[0].seen.lifetime(), 210u);
  EXPECT_EQ(s.workers[1].seen.lifetime(), 200u);

  EXPECT_EQ(s.total.count(event::steal_attempt), 2u);
  EXPECT_EQ(s.total.count(event::steal_success), 1u);
  EXPECT_EQ(s.total.count(event::task_begin), 2u);
  EXPECT_EQ(s.workers[1].seen.count(event::park_begin), 1u);
  EXPECT_EQ(s.workers[0].seen.count(event::wake_sent), 1u);
  EXPECT_EQ(s.workers[0].seen.count(event::thread_switch_in), 1u);
  EXPECT_EQ(s.workers[2].seen.count(event::thread_wake), 1u);

  EXPECT_EQ(s.task_slice.count, 2u);
  EXPECT_EQ(s.task_slice.median, 40u);
  EXPECT_EQ(s.task_slice.max, 80u);
  EXPECT_EQ(s.idle_spell.max, 151u);
  EXPECT_EQ(s.steal_latency.median, 10u);
  EXPECT_EQ(s.wake_latency.max, 30u);
  EXPECT_EQ(s.steals_by_level, (std::map<std::uint64_t, std::uint64_t>{{2, 1}}));
  EXPECT_DOUBLE_EQ(s.parallelism(), 230.0 / 210.0);
  EXPECT_DOUBLE_EQ(s.imbalance(), 190.0 / 115.0);
  EXPECT_EQ(s.strays, 0u);
}

TEST(summary, time_before_a_stray_end_belongs_to_what_it_ends) {
  recorder rec(1, test::options(4));
  at<event::worker_start>(0, rec.of(0), 1);
  at<event::task_begin>(10, rec.of(0), 0, 1, 0);
  at<event::policy_note>(20, rec.of(0), 0, 0);  // the oldest that is kept
  at<event::task_end>(50, rec.of(0), 1);
  at<event::idle_begin>(60, rec.of(0));
  at<event::worker_stop>(70, rec.of(0));
  const summary s = summarise(rec.collect());
  EXPECT_EQ(s.lost, 2u);
  EXPECT_EQ(s.strays, 1u);
  expect_time(s.total, 30, 10, 10);
}

TEST(summary, times_are_charged_once_when_a_thread_moves) {
  recorder rec(2, test::options());
  at<event::worker_start>(0, rec.of(0), 1);
  at<event::worker_start>(0, rec.of(1), 2);
  at<event::thread_switch_in>(0, rec.of(0), 7);
  at<event::task_begin>(0, rec.of(0), 0, 1, 0);
  at<event::thread_park>(40, rec.of(0), park_reason::moved, 7);
  at<event::thread_switch_in>(50, rec.of(1), 7);
  at<event::task_end>(90, rec.of(1), 1);
  at<event::thread_park>(100, rec.of(1), park_reason::ended, 7);
  at<event::worker_stop>(100, rec.of(0));
  at<event::worker_stop>(100, rec.of(1));
  const summary s = summarise(rec.collect());
  expect_time(s.workers[0].seen, 40, 0, 60);
  expect_time(s.workers[1].seen, 50, 0, 50);
  EXPECT_EQ(s.task_slice.count, 2u);  // slices, not tasks
}

TEST(summary, an_empty_recording_has_no_time) {
  recorder rec(2, test::options());
  const summary s = summarise(rec.collect());
  EXPECT_EQ(s.wall_ns(), 0u);
  EXPECT_EQ(s.total.lifetime(), 0u);
  EXPECT_EQ(s.parallelism(), 0);
  EXPECT_EQ(s.imbalance(), 0);
}

// Busy, idle, overhead and off always add up to the worker's life.
TEST(summary, activities_add_up) {
  recorder rec(1, test::options(4096));
  std::uint64_t seed = 99;
  at<event::worker_start>(1000, rec.of(0), 1);
  for (std::uint64_t i = 1; i < 2000; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    test::time_now = 1000 + i * 3;
    const auto e = static_cast<event>(1 + (seed >> 33) % event_count);
    if (e == event::worker_start || e == event::worker_stop) continue;
    rec.of(0)->write(e, 0, seed % 3, 0);
  }
  at<event::worker_stop>(9000, rec.of(0));
  EXPECT_EQ(summarise(rec.collect()).total.lifetime(), 8000u);
}

}  // namespace
}  // namespace summary_test
}  // namespace heddle::trace
