#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hand_made.hpp"
#include "trace/replay.hpp"

namespace heddle::trace {
namespace replay_test {
namespace {

using test::at;

class journal : public replay_visitor {
 public:
  void opened(std::uint16_t worker, const open_span& s, std::uint64_t ns) override {
    lines.push_back(fmt::format("{} w{} +{}{}", ns, worker, info(s.kind).name, s.resumed ? " again" : ""));
  }
  void closed(std::uint16_t worker, const open_span& s, std::uint64_t ns, activity as) override {
    lines.push_back(
        fmt::format("{} w{} -{} {}", ns, worker, info(s.kind).name, activity_names[static_cast<std::size_t>(as)]));
  }
  void stray(const record& r) override {
    lines.push_back(fmt::format("{} w{} stray {}", r.ns, r.worker, info(r.event).name));
  }
  std::vector<std::string> lines;
};

std::vector<std::string> replayed(const recording& r) {
  journal j;
  replay(r, j);
  return j.lines;
}

using lines = std::vector<std::string>;

TEST(replay, what_a_thread_has_open_travels_with_it) {
  recorder rec(2, test::options());
  at<event::worker_start>(0, rec.of(0), 1);
  at<event::worker_start>(0, rec.of(1), 2);
  at<event::thread_switch_in>(10, rec.of(0), 7);
  at<event::group_begin>(11, rec.of(0), 1, 1.0, 0);
  at<event::task_begin>(12, rec.of(0), 0, 1, 0);
  at<event::thread_park>(20, rec.of(0), park_reason::wait, 7);
  at<event::thread_switch_in>(20, rec.of(1), 7);  // at the same time, on the other worker
  at<event::task_end>(25, rec.of(1), 1);
  at<event::group_end>(26, rec.of(1), 1);
  at<event::thread_park>(30, rec.of(1), park_reason::ended, 7);
  at<event::worker_stop>(40, rec.of(0));
  at<event::worker_stop>(40, rec.of(1));
  EXPECT_EQ(replayed(rec.collect()),
            (lines{"0 w0 +worker", "0 w1 +worker", "10 w0 +thread", "11 w0 +group", "12 w0 +task", "20 w0 -task busy",
                   "20 w0 -group busy", "20 w0 -thread busy", "20 w1 +thread", "20 w1 +group again",
                   "20 w1 +task again", "25 w1 -task busy", "26 w1 -group busy", "30 w1 -thread busy",
                   "40 w0 -worker overhead", "40 w1 -worker overhead"}));
}

TEST(replay, leaves_nothing_open) {
  recorder rec(1, test::options());
  at<event::worker_start>(0, rec.of(0), 1);
  at<event::thread_switch_in>(1, rec.of(0), 7);
  at<event::task_begin>(2, rec.of(0), 0, 1, 0);
  test::time_now = 9;
  EXPECT_EQ(replayed(rec.collect()), (lines{"0 w0 +worker", "1 w0 +thread", "2 w0 +task", "9 w0 -task busy",
                                            "9 w0 -thread busy", "9 w0 -worker overhead"}));
}

TEST(replay, a_recording_may_begin_in_the_middle) {
  recorder rec(1, test::options());
  at<event::task_end>(5, rec.of(0), 1);
  at<event::thread_park>(6, rec.of(0), park_reason::wait, 7);
  at<event::idle_begin>(7, rec.of(0));
  at<event::worker_stop>(9, rec.of(0));
  EXPECT_EQ(replayed(rec.collect()), (lines{"5 w0 +worker", "5 w0 stray task_end", "6 w0 stray thread_park",
                                            "7 w0 +idle", "9 w0 -idle idle", "9 w0 -worker overhead"}));
}

TEST(replay, an_ended_thread_leaves_nothing_to_its_successor) {
  recorder rec(1, test::options());
  at<event::worker_start>(0, rec.of(0), 1);
  at<event::thread_switch_in>(1, rec.of(0), 7);
  at<event::task_begin>(2, rec.of(0), 0, 1, 0);
  at<event::thread_park>(3, rec.of(0), park_reason::ended, 7);
  at<event::thread_switch_in>(4, rec.of(0), 7);
  at<event::thread_park>(5, rec.of(0), park_reason::ended, 7);
  at<event::worker_stop>(6, rec.of(0));
  EXPECT_EQ(replayed(rec.collect()),
            (lines{"0 w0 +worker", "1 w0 +thread", "2 w0 +task", "3 w0 -task busy", "3 w0 -thread busy", "4 w0 +thread",
                   "5 w0 -thread busy", "6 w0 -worker overhead"}));
}

TEST(replay, a_steal_counts_by_its_outcome) {
  recorder rec(2, test::options());
  at<event::worker_start>(0, rec.of(0), 1);
  at<event::idle_begin>(1, rec.of(0));
  at<event::steal_attempt>(2, rec.of(0), 1);
  at<event::steal_fail>(3, rec.of(0), 1);
  at<event::steal_attempt>(4, rec.of(0), 1);
  at<event::steal_success>(5, rec.of(0), 1, 0, 9);
  at<event::idle_end>(5, rec.of(0));
  at<event::worker_stop>(6, rec.of(0));
  EXPECT_EQ(replayed(rec.collect()),
            (lines{"0 w0 +worker", "1 w0 +idle", "2 w0 +steal", "3 w0 -steal idle", "4 w0 +steal",
                   "5 w0 -steal overhead", "5 w0 -idle idle", "6 w0 -worker overhead"}));
}

TEST(replay, a_blocking_call_takes_the_thread_off_its_worker) {
  recorder rec(1, test::options());
  at<event::worker_start>(0, rec.of(0), 1);
  at<event::thread_switch_in>(1, rec.of(0), 7);
  at<event::loop_begin>(2, rec.of(0), 100, 0);
  at<event::blocking_begin>(3, rec.of(0), 7);
  at<event::blocking_end>(5, rec.of(0), 7);
  at<event::thread_switch_in>(6, rec.of(0), 7);
  at<event::worker_stop>(8, rec.of(0));
  EXPECT_EQ(replayed(rec.collect()),
            (lines{"0 w0 +worker", "1 w0 +thread", "2 w0 +loop", "3 w0 -loop busy", "3 w0 -thread busy", "6 w0 +thread",
                   "6 w0 +loop again", "8 w0 -loop busy", "8 w0 -thread busy", "8 w0 -worker overhead"}));
}

TEST(replay, foreign_threads_open_nothing) {
  recorder rec(1, test::options());
  test::emit_every_event(rec.foreign());
  EXPECT_TRUE(replayed(rec.collect()).empty());
}

// Whatever stands in the rings, openings and closings balance on every worker.
TEST(replay, any_sequence_nests) {
  std::uint64_t seed = 12345;
  const auto random = [&seed](std::uint64_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
  };
  for (int round = 0; round < 200; ++round) {
    recorder rec(3, test::options(64));
    for (int i = 0; i < 300; ++i) {
      test::time_now = static_cast<std::uint64_t>(i / 3);
      rec.of(static_cast<unsigned>(random(3)))
          ->write(static_cast<event>(1 + random(event_count)), static_cast<std::uint32_t>(random(6)), random(4), 0);
    }
    std::map<std::string, std::vector<std::string>> open;
    for (const std::string& line : replayed(rec.collect())) {
      const std::string worker = line.substr(line.find('w'), 2);
      const std::string what = line.substr(line.find('w') + 3);
      if (what[0] == '+') open[worker].push_back(what.substr(1, what.find(' ') - 1));
      if (what[0] != '-') continue;
      ASSERT_FALSE(open[worker].empty());
      ASSERT_EQ(open[worker].back(), what.substr(1, what.find(' ') - 1));
      open[worker].pop_back();
    }
    for (const auto& [worker, left] : open) ASSERT_TRUE(left.empty()) << worker;
  }
}

}  // namespace
}  // namespace replay_test
}  // namespace heddle::trace
