// Policies beyond the daily ones: the names that libheddle.so knows are those of their library's lines, and their
// library is no plug-in like others. That it is loaded: tests/install/consumer_test.sh.
#include "policy/further.hpp"

#include <heddle/runtime.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "policy/registry.hpp"

namespace heddle::policy {
namespace further_test {
namespace {

TEST(further, every_name_is_there_once_and_finds_its_line) {
  std::set<std::string> names;
  for (const registration& line : all()) {
    EXPECT_TRUE(names.insert(line.name).second) << line.name;
    EXPECT_NE(line.make, nullptr) << line.name;
    EXPECT_STRNE(line.summary, "") << line.name;
  }
  for (const registration& line : lines_of_further()) EXPECT_TRUE(names.contains(line.name)) << line.name;
  EXPECT_NE(make("hws"), nullptr);
}

TEST(further, their_names_are_taken) {
  const auto maker = [](parameters&) { return std::unique_ptr<policy>(); };
  for (const registration& line : lines_of_further())
    EXPECT_THROW(add({line.name, "a second one", maker}), std::invalid_argument) << line.name;
}

TEST(further, a_misspelt_one_is_told_its_name) {
  try {
    (void)make("hsw");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("no policy is called 'hsw'"));
    EXPECT_THAT(e.what(), ::testing::HasSubstr("did you mean hws"));
  }
}

// Here they are linked in, so the file is not looked at.
TEST(further, naming_their_library_adds_nothing) {
  load_plugins("/nowhere/libheddle_policies.so.0.1");
  EXPECT_NE(make("hws"), nullptr);
}

}  // namespace
}  // namespace further_test
}  // namespace heddle::policy
