#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "hand_made.hpp"
#include "trace/chrome.hpp"

namespace heddle::trace {
namespace chrome_test {
namespace {

using nlohmann::json;
using test::at;

json chrome(const recording& r) { return json::parse(to_chrome(r)); }

// Slices nest on each track, times do not run backwards within a track's slices, and arrows have
// both ends with a slice around them.
void check(const json& trace) {
  std::map<int, std::vector<std::string>> open;
  std::map<int, double> last;
  std::map<std::string, int> starts;
  for (const json& e : trace.at("traceEvents")) {
    const std::string phase = e.at("ph");
    if (phase == "M") continue;
    const int track = e.at("tid");
    const double ts = e.at("ts");
    ASSERT_GE(ts, 0);
    const std::string cat = e.at("cat");
    if (phase == "B" || phase == "E") {
      ASSERT_GE(ts, last[track]);
      last[track] = ts;
    }
    if (phase == "B") open[track].push_back(cat);
    if (phase == "E") {
      ASSERT_FALSE(open[track].empty());
      ASSERT_EQ(open[track].back(), cat);
      open[track].pop_back();
    }
    if (phase == "s") ++starts[cat + e.at("id").get<std::string>()];
    if (phase == "f") {
      ASSERT_GT(starts[cat + e.at("id").get<std::string>()], 0);
      ASSERT_FALSE(open[track].empty());
    }
  }
  for (const auto& [track, left] : open) ASSERT_TRUE(left.empty()) << track;
}

std::vector<json> with(const json& trace, const std::string& phase, const std::string& cat) {
  std::vector<json> found;
  for (const json& e : trace.at("traceEvents")) {
    if (e.at("ph") == phase && e.value("cat", "") == cat) found.push_back(e);
  }
  return found;
}

TEST(chrome, a_run_with_a_steal) {
  recorder_options o = test::options();
  o.program = "a \"quoted\"\n\\name\xff";
  recorder rec(2, o);
  rec.place(0, "pu:0");
  const std::uint32_t text = rec.text("range split");
  at<event::worker_start>(1'000'000, rec.of(0), 1);
  at<event::worker_start>(1'000'000, rec.of(1), 2);
  at<event::idle_begin>(1'000'100, rec.of(1));
  at<event::thread_switch_in>(1'000'200, rec.of(0), 7);
  at<event::steal_attempt>(1'000'300, rec.of(1), 0);
  at<event::policy_note>(1'000'400, rec.of(0), text, 5);
  at<event::steal_success>(1'001'300, rec.of(1), 0, 1, 42);
  at<event::idle_end>(1'001'300, rec.of(1));
  at<event::task_begin>(1'001'301, rec.of(1), 0, 42, 0x4000);
  at<event::task_end>(1'002'301, rec.of(1), 42);
  at<event::blocking_begin>(1'003'000, rec.of(0), 7);
  at<event::blocking_end>(1'004'000, rec.of(0), 7);
  at<event::thread_wake>(1'004'000, rec.foreign(), 7);
  at<event::thread_switch_in>(1'004'500, rec.of(1), 7);
  at<event::worker_stop>(1'005'000, rec.of(0));
  at<event::worker_stop>(1'005'000, rec.of(1));
  recording r = rec.collect();
  r.symbols[0x4000] = "weave<int>(\"x\")";
  const json trace = chrome(r);
  check(trace);

  const std::vector<json> tasks = with(trace, "B", "task");
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].at("name"), "weave<int>(\"x\")");
  EXPECT_EQ(tasks[0].at("tid"), 1);
  EXPECT_DOUBLE_EQ(tasks[0].at("ts"), 1.301);
  EXPECT_EQ(tasks[0].at("args").at("task"), 42);

  const std::vector<json> from = with(trace, "s", "steal"), to = with(trace, "f", "steal");
  ASSERT_EQ(from.size(), 1u);
  ASSERT_EQ(to.size(), 1u);
  EXPECT_EQ(from[0].at("tid"), 0);
  EXPECT_EQ(to[0].at("tid"), 1);
  EXPECT_EQ(from[0].at("id"), to[0].at("id"));
  EXPECT_EQ(with(trace, "B", "steal").at(0).at("name"), "steal from 0");

  EXPECT_EQ(with(trace, "s", "wake").size(), 1u);
  EXPECT_EQ(with(trace, "f", "wake").at(0).at("tid"), 1);
  EXPECT_EQ(with(trace, "b", "blocking").size(), 1u);
  EXPECT_EQ(with(trace, "e", "blocking").size(), 1u);
  bool noted = false;
  for (const json& e : with(trace, "i", "event"))
    noted |= e.at("name") == "policy_note" && e.at("args").at("text") == "range split";
  EXPECT_TRUE(noted);
  EXPECT_EQ(trace.at("otherData").at("policy"), "random_ws");
}

TEST(chrome, every_event_gives_valid_json) {
  recorder rec(1, test::options());
  test::emit_every_event(rec.of(0));
  test::emit_every_event(rec.foreign());
  check(chrome(rec.collect()));
}

TEST(chrome, infinite_hints_stay_readable) {
  recorder rec(1, test::options());
  for (const double work : {HUGE_VAL, -HUGE_VAL, std::nan(""), 1e300}) at<event::group_begin>(1, rec.of(0), 1, work, 0);
  check(chrome(rec.collect()));
}

TEST(chrome, any_sequence_nests) {
  std::uint64_t seed = 4711;
  const auto random = [&seed](std::uint64_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
  };
  for (int round = 0; round < 50; ++round) {
    recorder rec(3, test::options(64));
    for (int i = 0; i < 300; ++i) {
      test::time_now = static_cast<std::uint64_t>(1000 + i / 3);
      rec.of(static_cast<unsigned>(random(3)))
          ->write(static_cast<event>(1 + random(event_count)), static_cast<std::uint32_t>(random(3)), random(4),
                  random(2));
    }
    check(chrome(rec.collect()));
    if (HasFatalFailure()) return;
  }
}

TEST(chrome, an_empty_recording_is_valid) {
  recorder rec(2, test::options());
  check(chrome(rec.collect()));
}

}  // namespace
}  // namespace chrome_test
}  // namespace heddle::trace
