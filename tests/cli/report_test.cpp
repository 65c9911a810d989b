#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/captured.hpp"
#include "trace/file.hpp"
#include "trace/hand_made.hpp"
#include "trace/legend.hpp"

namespace heddle::cli {
namespace report_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

captured heddle_report(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "report");
  return run_captured(arguments);
}

class report_command : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) / (std::string("heddle_report_") + test->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  [[nodiscard]] std::string trace_file(const std::string& name, const std::string& policy) const {
    trace::recorder_options o = trace::test::options();
    o.policy = policy;
    trace::recorder rec(1, o);
    trace::test::at<trace::event::worker_start>(0, rec.of(0), 1);
    trace::test::at<trace::event::task_begin>(250, rec.of(0), 0, 1, 0);
    trace::test::at<trace::event::worker_stop>(1000, rec.of(0));
    trace::save(rec.collect(), path(name));
    return path(name);
  }

  // One line on stderr, nothing on stdout, status 2.

 private:
  std::filesystem::path folder_;
};

TEST_F(report_command, prints_a_table) {
  const captured o = heddle_report({trace_file("a.heddle", "random_ws")});
  EXPECT_EQ(o.status, 0);
  EXPECT_EQ(o.err, "");
  EXPECT_THAT(o.out, StartsWith(path("a.heddle")));
  EXPECT_THAT(o.out, HasSubstr("policy: random_ws"));
  EXPECT_THAT(o.out, HasSubstr("75.0"));
}

TEST_F(report_command, sets_several_traces_side_by_side) {
  const captured o = heddle_report({trace_file("a.heddle", "random_ws"), trace_file("b.heddle", "adws")});
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.out, ::testing::ContainsRegex("policy +random_ws +adws"));
}

TEST_F(report_command, writes_json) {
  const captured o = heddle_report({"--json", trace_file("a.heddle", "random_ws")});
  EXPECT_EQ(o.status, 0);
  EXPECT_EQ(nlohmann::json::parse(o.out).at("traces").at(0).at("total").at("busy_ns"), 750);
}

TEST_F(report_command, prints_the_list_of_events) {
  EXPECT_EQ(heddle_report({"--events"}).out, trace::legend_text());
  EXPECT_EQ(heddle_report({"--events=markdown"}).out, trace::legend_markdown());
  expect_refused(heddle_report({"--events=markdwn"}), {"markdown"});
}

TEST_F(report_command, refuses_what_is_no_trace) {
  expect_refused(heddle_report({}), {"TRACE is missing"});
  expect_refused(heddle_report({path("absent.heddle")}), {path("absent.heddle") + ": cannot open"});
  std::ofstream(path("text")) << "hello\n";
  expect_refused(heddle_report({path("text")}), {path("text") + ": not a heddle trace"});
  const std::string good = trace_file("good.heddle", "random_ws");
  std::filesystem::resize_file(good, std::filesystem::file_size(good) - 5);
  expect_refused(heddle_report({trace_file("a.heddle", "x"), good}), {good + ": truncated"});
  expect_refused(heddle_report({trace_file("a.json", "x")}), {path("a.json") + ": a Chrome trace"});
  std::ofstream(path("sim.json")) << R"([{"policy": "adws", "virtual_seconds": 0.5, "workers": 64}])";
  expect_refused(heddle_report({path("sim.json")}), {path("sim.json") + ": figures of heddle sim --json and no trace"});
  std::ofstream(path("other.json")) << R"({"what": "else"})";
  expect_refused(heddle_report({path("other.json")}), {path("other.json") + ": not a heddle trace"});
}

TEST_F(report_command, refuses_a_page_before_it_reads_anything) {
  expect_refused(heddle_report({path("absent.heddle"), "-o", path("page.pdf")}), {"must end in .html"});
  expect_refused(heddle_report({path("absent.heddle"), "-o", path("absent") + "/page.html"}), {"there is no folder"});
  EXPECT_FALSE(std::filesystem::exists(path("page.pdf")));
}

}  // namespace
}  // namespace report_test
}  // namespace heddle::cli
