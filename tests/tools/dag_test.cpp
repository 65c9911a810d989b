#include "tools/trace/dag.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "trace/hand_made.hpp"

namespace heddle::trace {
namespace dag_test {
namespace {

using test::at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Times by hand: 100 ns a burden, tracing costs nothing.
dag_options exact() {
  dag_options o;
  o.burden_ns = 100;
  o.event_ns = 0;
  return o;
}

recorder_options all_forks() {
  recorder_options o = test::options();
  o.attributes["forks"] = "all";
  return o;
}

// One worker, thread 1 from 0 to the end.
struct serial_run {
  recorder rec{1, all_forks()};
  ring* w = rec.of(0);
  serial_run() {
    at<event::worker_start>(0, w, 1);
    at<event::thread_switch_in>(0, w, 1);
  }
  dag_summary end(std::uint64_t ns) {
    at<event::thread_park>(ns, w, park_reason::ended, 1);
    at<event::worker_stop>(ns, w);
    return analyse(rec.collect(), exact());
  }
};

TEST(dag, of_serial_code_is_its_time) {
  serial_run r;
  const dag_summary d = r.end(1000);
  EXPECT_EQ(d.work_ns, 1000);
  EXPECT_EQ(d.span_ns, 1000);
  EXPECT_EQ(d.parallelism(), 1);
  EXPECT_EQ(d.forks, 0u);
  ASSERT_EQ(d.path.size(), 1u);
  EXPECT_EQ(d.path[0].begin_ns, 0u);
  EXPECT_EQ(d.path[0].end_ns, 1000u);
}

TEST(dag, a_fork_spans_its_longer_half) {
  serial_run r;
  at<event::fork>(100, r.w, 0, 0x1000, 0xf0);  // 100 before
  at<event::second_half>(400, r.w, 0x1000);    // 300 first half
  at<event::join>(900, r.w, 0x1000);           // 500 second half
  const dag_summary d = r.end(1000);           // 100 after
  EXPECT_EQ(d.work_ns, 1000);
  EXPECT_EQ(d.span_ns, 700);
  EXPECT_EQ(d.burdened_span_ns, 800);
  EXPECT_EQ(d.forks, 1u);
  EXPECT_EQ(d.grain_ns, 500);
  ASSERT_EQ(d.path.size(), 3u);  // the first half is not on it
  EXPECT_EQ(d.path[0].end_ns, 100u);
  EXPECT_EQ(d.path[1].begin_ns, 400u);
  EXPECT_EQ(d.path[2].begin_ns, 900u);
}

TEST(dag, forks_in_sequence_add_up_and_nested_ones_do_not) {
  serial_run sequence;
  for (std::uint64_t i = 0; i < 2; ++i) {
    at<event::fork>(i * 200, sequence.w, 0, 0x1000, 0);
    at<event::second_half>(i * 200 + 100, sequence.w, 0x1000);
    at<event::join>(i * 200 + 200, sequence.w, 0x1000);
  }
  EXPECT_EQ(sequence.end(400).span_ns, 200);

  serial_run nested;  // the same forks and times, the second one inside the first's second half
  at<event::fork>(0, nested.w, 0, 0x1000, 0);
  at<event::second_half>(100, nested.w, 0x1000);
  at<event::fork>(200, nested.w, 0, 0x2000, 0);
  at<event::second_half>(300, nested.w, 0x2000);
  at<event::join>(400, nested.w, 0x2000);
  at<event::join>(400, nested.w, 0x1000);
  const dag_summary d = nested.end(400);
  EXPECT_EQ(d.span_ns, 200);
  EXPECT_EQ(d.burdened_span_ns, 400);
}

// A full binary tree of forks, leaves of 10 ns, nothing else: work 10 * 2^n, span 10, burden n * 100.
TEST(dag, of_a_tree_of_forks_has_the_height_of_the_tree_as_burden) {
  serial_run r;
  std::uint64_t now = 0, frames = 0x1000;
  const std::function<void(int)> tree = [&](int depth) {
    if (depth == 0) {
      now += 10;
      return;
    }
    const std::uint64_t frame = frames += 0x40;
    at<event::fork>(now, r.w, 0, frame, 0xf0);
    tree(depth - 1);
    at<event::second_half>(now, r.w, frame);
    tree(depth - 1);
    at<event::join>(now, r.w, frame);
  };
  tree(8);
  const dag_summary d = r.end(now);
  EXPECT_EQ(d.work_ns, 2560);
  EXPECT_EQ(d.span_ns, 10);
  EXPECT_EQ(d.parallelism(), 256);
  EXPECT_EQ(d.burdened_span_ns, 810);
  EXPECT_EQ(d.forks, 255u);
  EXPECT_EQ(d.speedups[0].most, 1);
  EXPECT_EQ(d.speedups[2].workers, 4u);
  EXPECT_NEAR(d.speedups[2].least, 2560 / (640 + 1.7 * 810 * 0.75), 1e-9);
  EXPECT_THAT(d.warnings, ::testing::Contains(HasSubstr("grain too small for stealing")));
  EXPECT_THAT(d.warnings, ::testing::Contains(HasSubstr("10.0 ns of work between two forks")));
}

TEST(dag, follows_a_stolen_half_to_its_thief) {
  recorder rec(2, all_forks());
  ring* a = rec.of(0);
  ring* b = rec.of(1);
  at<event::worker_start>(0, a, 1);
  at<event::worker_start>(0, b, 2);
  at<event::thread_switch_in>(0, a, 1);
  at<event::fork>(100, a, 0, 0x1000, 0xf0);
  at<event::steal_attempt>(120, b, 0);
  at<event::steal_success>(130, b, 0, 1, 0x1000);
  at<event::thread_switch_in>(150, b, 7);
  at<event::task_begin>(150, b, 0, 0x1000, 0xf0);
  at<event::thread_park>(300, a, park_reason::wait, 1);  // first half: 200
  at<event::task_end>(750, b, 0x1000);                   // second half: 600
  at<event::thread_wake>(750, b, 1);
  at<event::thread_park>(760, b, park_reason::ended, 7);
  at<event::thread_switch_in>(800, a, 1);
  at<event::join>(800, a, 0x1000);
  at<event::thread_park>(900, a, park_reason::ended, 1);  // 100 after
  at<event::worker_stop>(900, a);
  at<event::worker_stop>(900, b);
  const dag_summary d = analyse(rec.collect(), exact());
  EXPECT_EQ(d.work_ns, 100 + 200 + 600 + 10 + 100);
  EXPECT_EQ(d.span_ns, 100 + 600 + 100);
  EXPECT_EQ(d.burdened_span_ns, 900);
  EXPECT_EQ(d.steals, 1u);
  ASSERT_EQ(d.path.size(), 3u);
  EXPECT_EQ(d.path[1].worker, 1u);
  EXPECT_EQ(d.path[1].begin_ns, 150u);
}

// Children of 1000, 1000 and 8000 ns whose hints say that they are equal.
dag_summary three_children(double hint_of_the_third) {
  serial_run r;
  const std::uint32_t group = 5;
  at<event::group_begin>(0, r.w, group, 3.0, 0);
  std::uint64_t now = 0;
  for (std::uint64_t child = 11; child <= 13; ++child) {
    at<event::spawn>(now, r.w, group, child, child == 13 ? hint_of_the_third : 1.0);
    at<event::thread_switch_in>(now, r.w, child);
    at<event::task_begin>(now, r.w, 1, child, 0xf1);
    now += child == 13 ? 8000 : 1000;
    at<event::task_end>(now, r.w, child);
    at<event::thread_switch_in>(now, r.w, 1);
  }
  at<event::group_end>(now, r.w, group);
  return r.end(now);
}

TEST(dag, children_of_a_group_run_beside_each_other) {
  const dag_summary d = three_children(8);
  EXPECT_EQ(d.work_ns, 10000);
  EXPECT_EQ(d.span_ns, 8000);
  EXPECT_EQ(d.burdened_span_ns, 8000 + 2 * 100 + 100);  // two continuations, and the return of the last child
  EXPECT_EQ(d.spawns, 3u);
  ASSERT_FALSE(d.functions.empty());
  EXPECT_EQ(d.functions[0].count, 3u);
  EXPECT_EQ(d.functions[0].work_ns, 10000);
}

// A region owns what was forked and made in it, as a task does.
TEST(dag, a_region_has_the_work_of_its_children) {
  serial_run r;
  const std::uint32_t name = r.rec.text("the groups");
  at<event::region_begin>(1000, r.w, name);
  at<event::group_begin>(1000, r.w, 1u, 0u, 0u);
  at<event::spawn>(1000, r.w, 1u, 7u, 1.0);
  at<event::thread_switch_in>(1000, r.w, 7);
  at<event::task_begin>(1000, r.w, 1u, 7u, 0x100);
  at<event::task_end>(6000, r.w, 7u);
  at<event::thread_switch_in>(6000, r.w, 1);
  at<event::group_end>(8000, r.w, 1u);
  at<event::region_end>(9000, r.w);
  const dag_summary d = r.end(10000);
  const auto region = std::find_if(d.functions.begin(), d.functions.end(),
                                   [](const function_profile& f) { return f.name == "the groups"; });
  ASSERT_NE(region, d.functions.end());
  EXPECT_EQ(region->count, 1u);
  EXPECT_EQ(region->own_ns, 3000);
  EXPECT_EQ(region->work_ns, 8000);
}

TEST(dag, warns_of_hints_that_are_wrong_by_more_than_two) {
  EXPECT_THAT(three_children(8).warnings, IsEmpty());
  EXPECT_THAT(three_children(5).warnings, IsEmpty());  // 5/7 announced, 8/10 seen
  EXPECT_THAT(three_children(1).warnings, ElementsAre(HasSubstr("hints of work are wrong")));  // 1/3 announced
  EXPECT_THAT(three_children(std::nan("")).warnings, IsEmpty());
}

TEST(dag, takes_off_what_tracing_costs) {
  serial_run r;
  at<event::fork>(130, r.w, 0, 0x1000, 0);
  at<event::second_half>(260, r.w, 0x1000);
  at<event::join>(390, r.w, 0x1000);
  at<event::thread_park>(520, r.w, park_reason::ended, 1);
  dag_options o = exact();
  o.event_ns = 30;
  EXPECT_EQ(analyse(r.rec.collect(), o).work_ns, 400);
}

// 40 forks in a row, both halves of 1 us; in fork `late` the system takes `away` ns.
recording forks_in_a_row(std::uint64_t late, std::uint64_t away, unsigned forks = 40) {
  serial_run r;
  std::uint64_t now = 0;
  for (unsigned i = 0; i < forks; ++i) {
    at<event::fork>(now, r.w, 0, 0x1000, 0xf0);
    at<event::second_half>(now += 1000 + (i == late ? away : 0), r.w, 0x1000);
    at<event::join>(now += 1000, r.w, 0x1000);
  }
  at<event::thread_park>(now, r.w, park_reason::ended, 1);
  at<event::worker_stop>(now, r.w);
  return r.rec.collect();
}

TEST(dag, warns_of_a_path_that_was_interrupted) {
  const dag_summary d = analyse(forks_in_a_row(7, 4'000'000), exact());
  EXPECT_EQ(d.outliers, 1u);
  EXPECT_EQ(d.outlier_ns, 4'001'000);
  EXPECT_THAT(d.warnings, ::testing::Contains(HasSubstr("--runs 5")));
  EXPECT_EQ(analyse(forks_in_a_row(7, 0), exact()).outliers, 0u);
}

TEST(dag, of_several_runs_each_stretch_has_its_median_time) {
  std::vector<recording> runs{forks_in_a_row(7, 4'000'000), forks_in_a_row(23, 9'000'000),
                              forks_in_a_row(3, 5'000'000)};
  ASSERT_TRUE(take_typical(runs));
  const dag_summary d = analyse(runs[0], exact());
  EXPECT_EQ(d.work_ns, 80'000);
  EXPECT_EQ(d.span_ns, 40'000);
  EXPECT_THAT(d.warnings, ::testing::Not(::testing::Contains(HasSubstr("--runs"))));
}

TEST(dag, what_is_slow_in_most_runs_is_slow) {
  std::vector<recording> runs{forks_in_a_row(7, 4'000'000), forks_in_a_row(7, 0), forks_in_a_row(7, 5'000'000)};
  ASSERT_TRUE(take_typical(runs));
  EXPECT_EQ(analyse(runs[0], exact()).work_ns, 4'080'000);
}

TEST(dag, runs_with_other_events_are_not_put_together) {
  std::vector<recording> runs{forks_in_a_row(0, 500), forks_in_a_row(0, 0, 39)};
  const recording before = runs[0];
  EXPECT_FALSE(take_typical(runs));
  EXPECT_EQ(runs[0].workers[0].records, before.workers[0].records);
}

TEST(dag, a_half_that_is_dropped_because_the_first_threw_is_no_end_of_the_path) {
  serial_run r;
  at<event::fork>(0, r.w, 0, 0x1000, 0);
  at<event::fork>(0, r.w, 0, 0x2000, 0);
  at<event::second_half>(300, r.w, 0x2000);  // taken back and dropped: no join
  at<event::second_half>(300, r.w, 0x1000);
  at<event::join>(400, r.w, 0x1000);
  EXPECT_EQ(r.end(500).span_ns, 400);
}

TEST(dag, survives_records_in_any_order) {
  recorder rec(1, test::options());
  test::emit_every_event(rec.of(0));
  test::emit_every_event(rec.of(0));
  const dag_summary d = analyse(rec.collect(), exact());
  EXPECT_GE(d.work_ns, d.span_ns);
}

TEST(dag, json_is_json) {
  const recording what = [] {
    serial_run r;
    r.end(1000);
    return r.rec.collect();
  }();
  const nlohmann::json j = nlohmann::json::parse(dag_json(what, analyse(what, exact())));
  EXPECT_EQ(j.at("work_ns"), 1000);
  EXPECT_THAT(dag_text(what, analyse(what, exact())), HasSubstr("parallelism"));
}

}  // namespace
}  // namespace dag_test
}  // namespace heddle::trace
