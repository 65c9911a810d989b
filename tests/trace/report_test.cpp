#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "hand_made.hpp"
#include "trace/report.hpp"

namespace heddle::trace {
namespace report_test {
namespace {

using test::at;
using ::testing::HasSubstr;
using ::testing::Not;

recording two_workers() {
  recorder rec(2, test::options());
  rec.place(0, "pu:0");
  at<event::worker_start>(0, rec.of(0), 1);
  at<event::thread_switch_in>(100, rec.of(0), 7);
  at<event::wake_sent>(200, rec.of(0), 1);
  at<event::thread_park>(900, rec.of(0), park_reason::ended, 7);
  at<event::worker_stop>(1000, rec.of(0));
  at<event::worker_start>(0, rec.of(1), 2);
  at<event::idle_begin>(0, rec.of(1));
  at<event::park_begin>(10, rec.of(1));
  at<event::park_end>(260, rec.of(1));
  at<event::steal_attempt>(260, rec.of(1), 0);
  at<event::steal_success>(300, rec.of(1), 0, 1, 3);
  at<event::idle_end>(300, rec.of(1));
  at<event::task_begin>(300, rec.of(1), 0, 3, 0);
  at<event::task_end>(1000, rec.of(1), 3);
  at<event::worker_stop>(1000, rec.of(1));
  return rec.collect();
}

std::string line_with(const std::string& text, const std::string& start) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(start)) return line;
  }
  return "no line " + start;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

using cells = std::vector<std::string>;

TEST(report, table_of_one_trace) {
  const std::string text = report_text({{"run.heddle", summarise(two_workers())}});
  EXPECT_EQ(words(line_with(text, "0 pu:0")), (cells{"0", "pu:0", "800", "80.0", "0", "0.0", "200", "20.0", "0", "0",
                                                     "0", "0", "0", "0", "0", "1", "1"}));
  EXPECT_EQ(words(line_with(text, "1 ")),
            (cells{"1", "700", "70.0", "260", "26.0", "40", "4.0", "1", "0", "1", "1", "0", "0", "1", "0", "0"}));
  EXPECT_EQ(words(line_with(text, "total")), (cells{"total", "1500", "75.0", "260", "13.0", "240", "12.0", "1", "0",
                                                    "1", "1", "0", "0", "1", "1", "1"}));
  EXPECT_THAT(line_with(text, "wall ns"), HasSubstr("1000"));
  EXPECT_THAT(line_with(text, "busy workers"), HasSubstr("1.50"));
  EXPECT_THAT(line_with(text, "wake to awake"), HasSubstr("60 / 60"));
  EXPECT_THAT(line_with(text, "steals over distance 1"), HasSubstr("1"));
  EXPECT_THAT(text, HasSubstr("policy: random_ws"));
  EXPECT_THAT(text, Not(HasSubstr("off ns")));
  EXPECT_THAT(text, Not(HasSubstr("warning")));
  EXPECT_THAT(text, Not(HasSubstr("steals_tried")));
}

TEST(report, what_the_policy_remarked_is_told) {
  recorder rec(1, test::options());
  at<event::worker_start>(0, rec.of(0), 1);
  at<event::policy_note>(10, rec.of(0), rec.text("packed, roots"), 8);
  at<event::policy_note>(20, rec.of(0), rec.text("misses"), 3);
  at<event::policy_note>(30, rec.of(0), rec.text("packed, roots"), 16);
  at<event::worker_stop>(40, rec.of(0));
  const summary s = summarise(rec.collect());
  const std::string text = report_text({{"a", s}});
  EXPECT_THAT(text, HasSubstr("remark: packed, roots: 8 at first, 16 at last (2 times)\nremark: misses: 3\n"));
  const auto json = nlohmann::json::parse(report_json({{"a", s}}));
  EXPECT_EQ(json.at("traces").at(0).at("remarks").at(0).at("last"), 16);
  EXPECT_EQ(json.at("traces").at(0).at("remarks").at(1).at("text"), "misses");
}

TEST(report, several_traces_stand_side_by_side) {
  recording other = two_workers();
  other.policy = "serial";
  const std::string text = report_text({{"a.heddle", summarise(two_workers())}, {"b.heddle", summarise(other)}});
  EXPECT_EQ(words(line_with(text, "policy  ")), (cells{"policy", "random_ws", "serial"}));
  EXPECT_EQ(words(line_with(text, "busy ns")), (cells{"busy", "ns", "1500", "1500"}));
  EXPECT_EQ(words(line_with(text, "workers")), (cells{"workers", "2", "2"}));
}

TEST(report, losses_strays_and_unknown_events_are_told) {
  recorder rec(1, test::options(4));
  for (int i = 0; i < 10; ++i) at<event::task_end>(i, rec.of(0), i);
  recording r = rec.collect();
  r.unknown["task_fin"] = 3;
  const std::string text = report_text({{"a", summarise(r)}});
  EXPECT_THAT(text, HasSubstr("warning: 6 of 10 events are lost"));
  EXPECT_THAT(text, HasSubstr("4 events end what began before"));
  EXPECT_THAT(text, HasSubstr("3 events task_fin are unknown"));
}

TEST(report, json_holds_the_same_figures) {
  recorder rec(1, test::options());
  emit<event::thread_wake>(rec.foreign(), 1);
  const auto all =
      nlohmann::json::parse(report_json({{"a \"b\"", summarise(two_workers())}, {"c", summarise(rec.collect())}}));
  const auto& t = all.at("traces").at(0);
  EXPECT_EQ(t.at("file"), "a \"b\"");
  EXPECT_EQ(t.at("wall_ns"), 1000);
  EXPECT_EQ(t.at("workers").at(1).at("idle_ns"), 260);
  EXPECT_EQ(t.at("workers").at(1).at("steals"), 1);
  EXPECT_EQ(t.at("workers").at(0).at("events").at("wake_sent"), 1);
  EXPECT_EQ(t.at("total").at("busy_ns"), 1500);
  EXPECT_EQ(t.at("statistics").at("steals_by_level").at("1"), 1);
  EXPECT_EQ(t.at("statistics").at("wake_latency_ns").at("median"), 60);
  EXPECT_DOUBLE_EQ(t.at("statistics").at("parallelism"), 1.5);
  EXPECT_EQ(all.at("traces").at(1).at("workers").at(1).at("worker"), "foreign");
}

}  // namespace
}  // namespace report_test
}  // namespace heddle::trace
