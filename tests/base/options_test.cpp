#include "base/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace heddle::base {
namespace options_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(const char* entry) {
  try {
    (void)options_from(std::vector<const char*>{entry});
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

option_values from(std::vector<const char*> environment) { return options_from(environment); }

TEST(options, defaults_without_variables) {
  const option_values values = from({"PATH=/bin", "HEDDLEWORKERS=3", "HEDDLE"});
  EXPECT_EQ(values, option_values{});
  EXPECT_EQ(values.workers, 0u);
  EXPECT_EQ(values.policy, "random_ws");
  EXPECT_EQ(values.bind, "auto");
  EXPECT_TRUE(values.smt);
  EXPECT_EQ(values.seed, 42u);
}

TEST(options, reads_every_kind) {
  const option_values values =
      from({"HEDDLE_WORKERS=7", "HEDDLE_POLICY=sb:sigma=0.5,mu=0.2", "HEDDLE_STACK_SIZE=2M", "HEDDLE_SMT=Off",
            "HEDDLE_BIND=ON", "HEDDLE_SEED=18446744073709551615", "HEDDLE_SIGNAL_STACKS=usr1"});
  EXPECT_EQ(values.workers, 7u);
  EXPECT_EQ(values.policy, "sb:sigma=0.5,mu=0.2");
  EXPECT_EQ(values.stack_size, 2u << 20);
  EXPECT_FALSE(values.smt);
  EXPECT_EQ(values.bind, "on");
  EXPECT_EQ(values.seed, ~std::uint64_t{0});
  EXPECT_EQ(values.signal_stacks, "USR1");
}

TEST(options, empty_variable_is_unset) { EXPECT_EQ(from({"HEDDLE_WORKERS=", "HEDDLE_BIND"}), option_values{}); }

TEST(options, refuses_with_name_value_and_what_is_expected) {
  EXPECT_EQ(refusal("HEDDLE_WORKERS=abc"), "HEDDLE_WORKERS=abc: expected an integer from 0 to 4096");
  EXPECT_THAT(refusal("HEDDLE_WORKERS=4097"), HasSubstr("from 0 to 4096"));
  EXPECT_THAT(refusal("HEDDLE_WORKERS=-1"), HasSubstr("from 0 to 4096"));
  EXPECT_THAT(refusal("HEDDLE_WORKERS=2 "), HasSubstr("from 0 to 4096"));
  EXPECT_THAT(refusal("HEDDLE_SEED=18446744073709551616"), HasSubstr("expected an integer"));
  EXPECT_EQ(refusal("HEDDLE_STACK_SIZE=2MB"),
            "HEDDLE_STACK_SIZE=2MB: expected a size from 4K to 1024G (suffixes K, M, G)");
  EXPECT_THAT(refusal("HEDDLE_STACK_SIZE=K"), HasSubstr("expected a size"));
  EXPECT_THAT(refusal("HEDDLE_STACK_SIZE=99999999999999999999G"), HasSubstr("expected a size"));
  EXPECT_EQ(refusal("HEDDLE_BIND=atuo"), "HEDDLE_BIND=atuo: expected on, off or auto; did you mean auto?");
  EXPECT_EQ(refusal("HEDDLE_SMT=2"), "HEDDLE_SMT=2: expected on or off");
}

TEST(options, a_wrong_value_leaves_the_rest_alone) {
  option_values values;
  EXPECT_THROW(set_option(values, "stack_size", "1", "--stack-size"), std::invalid_argument);
  EXPECT_EQ(values, option_values{});
  set_option(values, "stack_size", "64k");
  EXPECT_EQ(values.stack_size, 65536u);
}

TEST(options, names_where_the_value_came_from) {
  option_values values;
  try {
    set_option(values, "workers", "many", "--workers");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith("--workers=many: "));
  }
  try {
    set_option(values, "worker", "1");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "no option is called 'worker'; did you mean workers?");
  }
}

TEST(options, values_given_by_code_are_checked_too) {
  option_values values;
  EXPECT_NO_THROW(check_options(values));
  values.workers = 5000;
  EXPECT_THROW(check_options(values), std::invalid_argument);
  values.workers = 1;
  values.bind = "perhaps";
  EXPECT_THROW(check_options(values), std::invalid_argument);
}

TEST(options, warns_of_misspelled_variables) {
  std::vector<std::string> warnings;
  const std::vector<const char*> environment = {"HEDDLE_WORKER=2", "HEDDLE_STACKSIZE=1M", "HEDDLE_NUM_THREADS=4",
                                                "HEDDLE_STRESS=10", "OTHER=1"};
  EXPECT_EQ(options_from(environment, &warnings), option_values{});
  EXPECT_THAT(warnings, ElementsAre("HEDDLE_WORKER is no option of heddle; did you mean HEDDLE_WORKERS?",
                                    HasSubstr("did you mean HEDDLE_STACK_SIZE"),
                                    "HEDDLE_NUM_THREADS is no option of heddle; `heddle help options` lists them"));
}

TEST(options, the_environment_of_the_process_is_read_and_warned_of_once) {
  ::setenv("HEDDLE_WORKERS", "3", 1);
  ::setenv("HEDDLE_WRKERS", "3", 1);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(options_from_environment().workers, 3u);
  EXPECT_EQ(options_from_environment().workers, 3u);
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 1) << printed;
  EXPECT_THAT(printed, HasSubstr("HEDDLE_WORKERS?"));
  ::unsetenv("HEDDLE_WORKERS");
  ::unsetenv("HEDDLE_WRKERS");
}

TEST(options, table_is_consistent) {
  std::set<std::string> keys;
  for (const option& o : options()) {
    EXPECT_TRUE(keys.insert(o.key).second) << o.key;
    EXPECT_THAT(o.variable, ::testing::StartsWith("HEDDLE_"));
    EXPECT_FALSE(o.text.empty()) << o.key;
    EXPECT_FALSE(o.values.empty()) << o.key;
    // set() reads what get() writes, and the default is the value of the struct.
    option_values values;
    EXPECT_EQ(o.get(values), o.preset) << o.key;
    o.set(values, o.get(values), o.key);
    EXPECT_EQ(values, option_values{}) << o.key;
  }
}

TEST(options, every_knob_is_in_the_help) {
  for (const option& o : options()) {
    EXPECT_THAT(options_text(), HasSubstr(o.variable + "  "));
    EXPECT_THAT(options_markdown(), HasSubstr("`" + o.variable + "`"));
  }
}

TEST(options, the_guide_holds_the_generated_table) {
  std::ifstream file(HEDDLE_SOURCE_DIR "/docs/guide/options.md");
  ASSERT_TRUE(file) << "docs/guide/options.md is missing";
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_TRUE(page.str().find(options_markdown()) != std::string::npos)
      << "the table of docs/guide/options.md is out of date; put there what `heddle help options --markdown` prints";
}

}  // namespace
}  // namespace options_test
}  // namespace heddle::base
