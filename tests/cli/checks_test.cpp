#include "cli/checks.hpp"

#include <filesystem>
#include <fstream>

#include "tests/cli/captured.hpp"

namespace heddle::cli {
namespace checks_test {
namespace {

using ::testing::HasSubstr;

TEST(checks, an_integer_is_digits_within_its_bounds) {
  const auto check = integer(1, 4096);
  for (const char* good : {"1", "10", "4096"}) EXPECT_EQ(check(good), "") << good;
  for (const char* bad :
       {"", "0", "-1", "+1", "4097", "010", "0x10", "1.5", "1e3", " 1", "1 ", "x", "18446744073709551617"}) {
    EXPECT_EQ(check(bad), std::string("expected an integer from 1 to 4096, not '") + bad + "'");
  }
  EXPECT_EQ(integer(0, most_seed)("18446744073709551615"), "");
  EXPECT_EQ(integer(0, most_seed)("0"), "");
}

TEST(checks, a_number_is_finite_and_within_its_bounds) {
  const auto check = number(-1, 1e6);
  for (const char* good : {"0", "-1", "0.5", "1e6"}) EXPECT_EQ(check(good), "") << good;
  for (const char* bad : {"", "x", "nan", "inf", "-1.5", "1e7", "1x"}) EXPECT_NE(check(bad), "") << bad;
}

TEST(checks, an_output_file_can_be_made) {
  std::string pattern = ::testing::TempDir() + "heddle_checks_XXXXXX";
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  const std::filesystem::path folder(pattern);
  const auto any = output_file();
  EXPECT_EQ(any((folder / "new").string()), "");
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
  EXPECT_EQ(any("here.json"), "");
  EXPECT_EQ(any("/dev/null"), "");
  EXPECT_THAT(any(""), HasSubstr("name of a file"));
  EXPECT_THAT(any(folder.string()), HasSubstr("is a folder"));
  EXPECT_THAT(any((folder / "absent" / "new").string()), HasSubstr("there is no folder"));
  const auto page = output_file({".html", ".htm"});
  EXPECT_EQ(page((folder / "a.html").string()), "");
  EXPECT_THAT(page((folder / "a.pdf").string()), HasSubstr("must end in .html or .htm"));
  EXPECT_NE(page(".html"), "");
  std::ofstream(folder / "locked") << "x";
  std::filesystem::permissions(folder / "locked", std::filesystem::perms::owner_read);
  if (::geteuid() != 0) {  // root may
    EXPECT_THAT(any((folder / "locked").string()), HasSubstr("not to be written to"));
  }
  std::filesystem::remove_all(folder);
}

// One line, status 2, and nothing has been run.
TEST(checks, commands_refuse_before_they_run) {
  const std::string range = "expected an integer from ";
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"bench", "fib", "--n", "-5"},
                                             {"bench", "fib", "--n", "0"},
                                             {"bench", "fib", "--iterations", "-1"},
                                             {"bench", "fib", "--workers", "x"},
                                             {"demo", "--seed", "-1"},
                                             {"demo", "--repeat", "0"},
                                             {"demo", "--workers", "-1"},
                                             {"sim", "--explore", "-1", "--", "true"},
                                             {"sim", "--explore-seed", "-1", "--", "true"},
                                             {"sim", "--seed", "-1", "--", "true"},
                                             {"sim", "--workers", "-1", "--", "true"},
                                             {"dag", "--workers", "0", "--", "true"}}) {
    expect_refused(run_captured(words), {words[0], range});
  }
  expect_refused(run_captured({"dag", "--burden", "x", "--", "true"}),
                 {"--burden: expected a number from 0 to", "'x'"});
  expect_refused(run_captured({"sim", "--trace", "t.foo", "--", "true"}), {"--trace", ".heddle or .json"});
  expect_refused(run_captured({"sim", "--trace", "/absent/t.heddle", "--", "true"}),
                 {"--trace", "there is no folder '/absent'"});
  expect_refused(run_captured({"sim", "--json", "/absent/t.json", "--", "true"}),
                 {"--json", "there is no folder '/absent'"});
  expect_refused(run_captured({"demo", "--json", "/absent/t.json"}), {"--json", "there is no folder '/absent'"});
}

}  // namespace
}  // namespace checks_test
}  // namespace heddle::cli
