#include "captured.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/report/figures.hpp"
#include "cli/report/page.hpp"
#include "report/made_runs.hpp"
#include "trace/file.hpp"
#include "trace/page.hpp"

namespace heddle::cli {
namespace dag_test {
namespace {

using ::testing::HasSubstr;

class pages_and_dags : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("heddle_dag_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    trace::save(trace::test::make({}), path("made.heddle"));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(pages_and_dags, dag_tells_work_and_span_of_a_trace) {
  const captured o = run_captured({"dag", path("made.heddle")});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("burdened parallelism"));
  EXPECT_THAT(o.out, HasSubstr("simulated"));
  const captured j = run_captured({"dag", "--json", path("made.heddle")});
  EXPECT_GT(nlohmann::json::parse(j.out).at("parallelism").get<double>(), 10);
}

TEST_F(pages_and_dags, a_larger_burden_makes_less_parallelism) {
  const auto burdened = [&](const char* ns) {
    return nlohmann::json::parse(run_captured({"dag", "--json", "--burden", ns, path("made.heddle")}).out)
        .at("burdened_parallelism")
        .get<double>();
  };
  EXPECT_GT(burdened("0"), burdened("2000"));
  EXPECT_GT(burdened("2000"), burdened("100000"));
}

TEST_F(pages_and_dags, dag_runs_a_program) {
  const captured none = run_captured({"dag", "--", "/bin/true"});
  expect_refused(none, {"/bin/true wrote no trace"});
  const captured missing = run_captured({"dag", "--", path("absent")});
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.out, "");
  EXPECT_EQ(missing.err, "heddle dag: " + path("absent") + ": No such file or directory\n");
  expect_refused(run_captured({"dag", "--", "/bin/false"}), {"/bin/false wrote no trace, and ended with status 1"});
}

TEST_F(pages_and_dags, dag_refuses_what_it_cannot_read) {
  expect_refused(run_captured({"dag"}), {"TRACE is missing"});
  expect_refused(run_captured({"dag", path("absent.heddle")}), {"absent.heddle: cannot open"});
  expect_refused(run_captured({"dag", path("made.heddle"), path("made.heddle")}), {"one too many"});
}

TEST_F(pages_and_dags, report_writes_one_page_of_traces_and_figures) {
  const std::string rows = write(
      "sim.json",
      R"([{"policy":"adws","virtual_seconds":0.5,"workers":64,"levels":[{"level":"L1","accesses":10,"misses":3}]}])");
  const captured o = run_captured({"report", path("made.heddle"), path("made.heddle"), rows, "-o", path("page.html")});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out + o.err, "");
  const std::string page = read("page.html");
  EXPECT_THAT(page.substr(0, 20), HasSubstr("<!doctype html>"));
  const std::size_t from = page.find("id=\"data\">") + 10;
  const nlohmann::json data = nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
  EXPECT_EQ(data.at("runs").size(), 2u);
  EXPECT_EQ(data.at("figures").at(0).at("levels").at(0).at("misses"), 3);
  // Nothing is fetched: no element and no rule of style names an address.
  const std::string shell = report_page_pattern();
  for (const char* outside : {" src=", "<link", "@import", "url(http", "fetch(", "XMLHttpRequest"})
    EXPECT_EQ(shell.find(outside), std::string::npos) << outside;
}

TEST_F(pages_and_dags, report_refuses_other_json_and_pages_it_cannot_write) {
  expect_refused(run_captured({"report", write("a.json", "{"), "-o", path("page.html")}),
                 {"a.json", "heddle sim --json"});
  expect_refused(run_captured({"report", write("b.json", "[{\"x\":1}]"), "-o", path("page.html")}), {"b.json"});
  expect_refused(run_captured({"report", write("c.json", "{\"traceEvents\":[]}"), "-o", path("page.html")}),
                 {"Chrome trace"});
  EXPECT_EQ(run_captured({"report", path("made.heddle"), "-o", path("no/such/folder.html")}).status, 2);
}

TEST(report_figures, take_arrays_objects_and_lines) {
  const std::string row = R"({"policy":"adws","virtual_seconds":1})";
  EXPECT_EQ(read_figures("f", row).size(), 1u);
  EXPECT_EQ(read_figures("f", "[" + row + "," + row + "]").size(), 2u);
  EXPECT_EQ(read_figures("f", "{\"runs\":[" + row + "]}").size(), 1u);
  EXPECT_EQ(read_figures("f", row + "\n" + row + "\n\n").size(), 2u);
  EXPECT_THROW((void)read_figures("f", ""), std::invalid_argument);
}

}  // namespace
}  // namespace dag_test
}  // namespace heddle::cli
