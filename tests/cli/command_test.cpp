#include "cli/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <sstream>

#include "base/options.hpp"
#include "policy/registry.hpp"
#include "tests/cli/captured.hpp"

namespace heddle::cli {
namespace command_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A subcommand that exists in this test alone.
struct probe_arguments {
  unsigned repeat = 1;
  std::string mode;
  std::vector<std::string> names;
};
probe_arguments last;

std::function<int()> add_probe(CLI::App& app) {
  auto given = std::make_shared<probe_arguments>();
  app.add_option("NAME", given->names, "Names");
  app.add_option("--repeat", given->repeat, "Times")->check(CLI::Range(1, 9));
  app.add_option("--mode", given->mode, "Mode");
  return [given] {
    last = *given;
    if (given->mode == "fail") throw std::runtime_error("something\nbroke");
    const std::vector<std::string> modes = {"fast", "slow"};
    if (given->mode == "sloww") throw usage_error::unknown("--mode", given->mode, modes);
    return given->mode == "three" ? 3 : 0;
  };
}
const registration entry{command{"probe", "exists for the test", add_probe}};

// Each run of blanks and newlines as one blank.
std::string in_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

TEST(command, help_is_made_from_the_tables) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{}, {"--help"}, {"-h"}, {"help"}}) {
    const captured o = run_captured(arguments);
    EXPECT_EQ(o.status, 0);
    EXPECT_EQ(o.err, "");
    for (const command& c : commands()) {
      EXPECT_THAT(o.out, HasSubstr(std::string("  ") + c.name));
      EXPECT_THAT(in_one_line(o.out), HasSubstr(c.help));
    }
    for (const topic& t : topics()) EXPECT_THAT(in_one_line(o.out), HasSubstr(t.help));
  }
}

TEST(command, help_fits_into_80_columns) {
  std::vector<std::string> pages;
  for (const command& c : commands()) pages.emplace_back(c.name);
  for (const topic& t : topics()) {
    if (std::string_view(t.name) != "man") pages.emplace_back(t.name);  // roff, which man(1) lays out
  }
  std::string all = run_captured({"--help"}).out;
  for (const std::string& page : pages) all += run_captured({"help", page}).out;
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(command, the_manual_page_has_every_command_and_option) {
  const captured o = run_captured({"help", "man"});
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.out, StartsWith(".TH HEDDLE 1"));
  for (const command& c : commands()) EXPECT_THAT(o.out, HasSubstr(std::string(".SS heddle ") + c.name + "\n"));
  for (const base::option& option : base::options()) EXPECT_THAT(o.out, HasSubstr(".B " + option.variable + "\n"));
}

TEST(command, tables_hold_each_name_once_and_in_order) {
  std::vector<std::string> names;
  for (const command& c : commands()) names.emplace_back(c.name);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const topic& t : topics()) names.emplace_back(t.name);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(command, every_subcommand_has_a_page) {
  for (const command& c : commands()) {
    const captured page = run_captured({"help", c.name});
    EXPECT_EQ(page.status, 0) << c.name;
    EXPECT_THAT(page.out, HasSubstr(std::string("heddle ") + c.name));
    EXPECT_THAT(in_one_line(page.out), HasSubstr(c.help));
    EXPECT_EQ(run_captured({c.name, "--help"}).out, page.out);
  }
}

TEST(command, pages_of_options_and_policies) {
  const captured options = run_captured({"help", "options"});
  for (const base::option& o : base::options()) EXPECT_THAT(options.out, HasSubstr(o.variable));
  EXPECT_EQ(run_captured({"help", "options", "--markdown"}).out, base::options_markdown());
  const captured policies = run_captured({"help", "policies"});
  for (const policy::registration& p : policy::all()) EXPECT_THAT(policies.out, HasSubstr(p.name));
  expect_refused(run_captured({"help", "policies", "--markdown"}), {"--markdown"});
}

TEST(command, version) {
  const captured o = run_captured({"--version"});
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.out, ::testing::MatchesRegex("heddle [0-9]+[.][0-9]+[.][0-9]+\n"));
  EXPECT_THAT(run_captured({"--help"}).out, StartsWith(o.out.substr(0, o.out.size() - 1)));
}

TEST(command, passes_arguments_and_status_on) {
  EXPECT_EQ(run_captured({"probe", "a", "--repeat", "4", "b", "--mode=three"}).status, 3);
  EXPECT_EQ(last.repeat, 4u);
  EXPECT_THAT(last.names, ::testing::ElementsAre("a", "b"));
  EXPECT_EQ(run_captured({"probe", "--", "--repeat"}).status, 0);
  EXPECT_THAT(last.names, ::testing::ElementsAre("--repeat"));
}

TEST(command, misspelled_names_get_suggestions) {
  expect_refused(run_captured({"porbe"}), {"command 'porbe'", "did you mean probe?"});
  expect_refused(run_captured({"--hlep"}), {"option '--hlep'", "--help"});
  expect_refused(run_captured({"zzzzzzzz"}), {"command 'zzzzzzzz'", "valid: ", "probe"});
  expect_refused(run_captured({"help", "optoins"}), {"page 'optoins'", "did you mean options?"});
  expect_refused(run_captured({"probe", "--repaet", "3"}),
                 {"heddle probe: ", "option '--repaet'", "did you mean --repeat?"});
  expect_refused(run_captured({"probe", "--repeat=2", "--mod=slow"}), {"option '--mod'", "--mode"});
  expect_refused(run_captured({"probe", "--zzzzzz"}), {"option '--zzzzzz'", "valid: ", "--repeat", "--mode"});
  expect_refused(run_captured({"probe", "-x"}), {"option '-x'", "--repeat"});
}

TEST(command, the_misspelled_option_is_told_before_a_bad_value) {
  expect_refused(run_captured({"probe", "--repeat=77", "--mdoe=slow"}), {"--mdoe", "--mode"});
}

TEST(command, bad_values_name_their_option) {
  expect_refused(run_captured({"probe", "--repeat=many"}), {"--repeat", "many"});
  expect_refused(run_captured({"probe", "--repeat=10"}), {"--repeat", "10"});
  expect_refused(run_captured({"probe", "--repeat"}), {"--repeat"});
  expect_refused(run_captured({"probe", "--mode=sloww"}), {"--mode 'sloww'", "did you mean slow?"});
  expect_refused(run_captured({"topo", "extra"}), {"argument 'extra'"});
  expect_refused(run_captured({"help", "probe", "--json"}), {"--json"});
}

TEST(command, a_failure_is_one_line_and_status_1) {
  const captured o = run_captured({"probe", "--mode=fail"});
  EXPECT_EQ(o.status, 1);
  EXPECT_EQ(o.err, "heddle probe: something broke\n");
}

#ifdef HEDDLE_COMMAND
TEST(command, the_program_itself) {
  const auto status_of = [](const std::string& rest) {
    const int status = std::system(("'" HEDDLE_COMMAND "' " + rest).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(status_of("--version >/dev/null"), 0);
  EXPECT_EQ(status_of("topo >/dev/null"), 0);
  EXPECT_EQ(status_of("tpo 2>/dev/null"), 2);
  EXPECT_EQ(status_of("help >/dev/full 2>/dev/null"), 1);
}
#endif

}  // namespace
}  // namespace command_test
}  // namespace heddle::cli
