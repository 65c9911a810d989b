#include "trace/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "trace/hand_made.hpp"
#include "trace/stream.hpp"

namespace heddle::trace {
namespace page_test {
namespace {

using test::at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Does the same as the page's script (report/src/decode.ts).
std::vector<std::uint64_t> numbers_of(const std::string& base64) {
  static const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned> bytes;
  unsigned bits = 0, count = 0;
  for (const char c : base64) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(letters.find(c));
    if ((count += 6) >= 8) bytes.push_back(bits >> (count -= 8) & 255);
  }
  std::vector<std::uint64_t> out;
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const unsigned b : bytes) {
    value |= std::uint64_t{b & 127} << shift;
    shift += 7;
    if (b < 128) {
      out.push_back(value);
      value = shift = 0;
    }
  }
  return out;
}

TEST(number_stream, comes_back) {
  std::vector<std::uint64_t> values{0, 1, 127, 128, 16383, 16384, ~std::uint64_t{0}};
  for (std::size_t n = 0; n <= values.size(); ++n) {
    number_stream s;
    for (std::size_t i = 0; i < n; ++i) s.put(values[i]);
    EXPECT_EQ(s.count(), n);
    EXPECT_EQ(s.base64().size() % 4, 0u);
    EXPECT_EQ(numbers_of(s.base64()),
              std::vector<std::uint64_t>(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n)));
  }
}

page_run small_run(const std::string& name = "a.heddle") {
  recorder_options o = test::options();
  o.attributes["clock"] = "virtual";
  recorder rec(2, o);
  const std::uint32_t grid = rec.text("grid");
  const std::uint32_t part = rec.text("sweep");
  ring* a = rec.of(0);
  ring* b = rec.of(1);
  at<event::worker_start>(1000, a, 1);
  at<event::worker_start>(1000, b, 2);
  at<event::thread_switch_in>(1100, a, 1);
  at<event::region_begin>(1200, a, part);
  at<event::piece>(1200, a, grid, std::uint64_t{0} << 32 | 0, std::uint64_t{64} << 32 | 32);
  at<event::steal_attempt>(1250, b, 0);
  at<event::steal_success>(1300, b, 0, 1, 0x40);
  at<event::piece>(1300, a, grid, std::uint64_t{0} << 32 | 0, std::uint64_t{64} << 32 | 32);
  at<event::thread_park>(1500, a, park_reason::ended, 1);
  at<event::worker_stop>(1600, a);
  at<event::worker_stop>(1600, b);
  return {name, rec.collect()};
}

TEST(page, tells_slices_by_worker) {
  const nlohmann::json j = nlohmann::json::parse(page_data({small_run()}, "[]"));
  const nlohmann::json& run = j.at("runs").at(0);
  EXPECT_EQ(run.at("attributes").at("clock"), "virtual");
  EXPECT_EQ(run.at("wall"), 600);
  EXPECT_EQ(run.at("names"), nlohmann::json({"run loop", "thread", "sweep", "steal", "(outside tasks)"}));
  const nlohmann::json& first = run.at("slices").at(0);
  EXPECT_EQ(first.at(0), 0);
  EXPECT_EQ(first.at(1), 4);
  // gap, duration, name and activity: run loop, thread, sweep, run loop
  EXPECT_THAT(numbers_of(first.at(2)),
              ElementsAre(0, 100, 0 << 2 | 2, 0, 100, 1 << 2 | 0, 0, 300, 2 << 2 | 0, 0, 100, 0 << 2 | 2));
}

TEST(page, tells_steals_and_pieces) {
  const nlohmann::json j = nlohmann::json::parse(page_data({small_run()}, "[]"));
  const nlohmann::json& run = j.at("runs").at(0);
  EXPECT_THAT(numbers_of(run.at("thefts").at("data")), ElementsAre(300, 50, 1, 0));
  EXPECT_EQ(run.at("thefts").at("matrix"), nlohmann::json::parse("[[1,0,1,1,1]]"));
  const nlohmann::json& grid = run.at("pieces").at(0);
  EXPECT_EQ(grid.at("name"), "grid");
  EXPECT_EQ(grid.at("tree"), false);
  // begin, duration, worker, repeat, x0, y0, x1, y1: the same piece twice
  EXPECT_THAT(numbers_of(grid.at("data")), ElementsAre(200, 100, 0, 0, 0, 0, 64, 32, 100, 200, 0, 1, 0, 0, 64, 32));
}

TEST(page, holds_nothing_that_ends_its_script) {
  page_run hostile = small_run("</script><b>.heddle");
  hostile.what.program = "<!--";
  const std::string page = write_page({hostile}, "[]", "<script>/*heddle:data*/</script>");
  EXPECT_THAT(page.substr(8, page.size() - 17), Not(HasSubstr("<")));
  const nlohmann::json j = nlohmann::json::parse(page.substr(8, page.size() - 17));
  EXPECT_EQ(j.at("runs").at(0).at("name"), "</script><b>.heddle");
}

TEST(page, takes_several_runs_and_figures) {
  const nlohmann::json j =
      nlohmann::json::parse(page_data({small_run(), small_run("b.heddle")}, R"([{"policy":"adws"}])"));
  EXPECT_EQ(j.at("runs").size(), 2u);
  EXPECT_EQ(j.at("figures").at(0).at("policy"), "adws");
  EXPECT_THROW((void)write_page({}, "[]", "no mark"), trace_error);
}

TEST(page, survives_every_event) {
  recorder rec(1, test::options());
  test::emit_every_event(rec.of(0));
  const nlohmann::json j = nlohmann::json::parse(page_data({{"x", rec.collect()}}, "[]"));
  EXPECT_EQ(j.at("runs").at(0).at("events"), event_count);
}

}  // namespace
}  // namespace page_test
}  // namespace heddle::trace
