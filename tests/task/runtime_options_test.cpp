// Which variable, or which field, a refused option came from.
#include <heddle/runtime.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "platform/comparison.hpp"
#include "platform/platform.hpp"

namespace runtime_options_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string refusal(const heddle::runtime_options& options = {}) {
  try {
    heddle::runtime rt(options);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "accepted";
}

struct variable {
  variable(const char* name, const char* value) : name(name) { ::setenv(name, value, 1); }
  ~variable() { ::unsetenv(name); }
  const char* name;
};

TEST(runtime_options, a_refused_variable_is_named) {
  const auto of = [](const char* name, const char* value) {
    const variable set(name, value);
    return refusal();
  };
  EXPECT_THAT(of("HEDDLE_WORKERS", "abc"), StartsWith("HEDDLE_WORKERS=abc: expected an integer"));
  EXPECT_THAT(of("HEDDLE_POLICY", "nope"), StartsWith("HEDDLE_POLICY=nope: no policy is called 'nope'"));
  EXPECT_THAT(of("HEDDLE_POLICY", "sb:sigma=7"), StartsWith("HEDDLE_POLICY=sb:sigma=7: policy sb: sigma=7"));
  EXPECT_THAT(of("HEDDLE_MACHINE", "skylake-4x16"),
              StartsWith("HEDDLE_MACHINE=skylake-4x16: machine file skylake-4x16: No such file"));
  EXPECT_THAT(of("HEDDLE_MACHINE", "skylake-4x16"), HasSubstr("heddle sim --machine"));
  EXPECT_THAT(of("HEDDLE_TRACE", "t.foo"), StartsWith("HEDDLE_TRACE=t.foo: expected NAME.heddle"));
  EXPECT_EQ(refusal({.workers = 1}), "accepted");
}

TEST(runtime_options, user_interrupts_that_are_not_there_are_refused) {
  if (heddle::platform::user_interrupts().why_not() == nullptr) GTEST_SKIP() << "they are there";
  EXPECT_THAT(refusal({.preempt_timer = "uintr"}), HasSubstr("preempt_timer=uintr: "));
  const variable set("HEDDLE_PREEMPT_TIMER", "uintr");
  EXPECT_THAT(refusal({}), StartsWith("HEDDLE_PREEMPT_TIMER=uintr: "));
}

TEST(runtime_options, a_refused_field_is_named) {
  const variable set("HEDDLE_POLICY", "serial");
  EXPECT_THAT(refusal({.policy = "nope"}), StartsWith("policy=nope: no policy is called"));
  EXPECT_THAT(refusal({.machine = "/absent.xml"}), StartsWith("machine=/absent.xml: "));
  EXPECT_THAT(refusal({.trace = "t.foo"}), StartsWith("trace=t.foo: "));
  EXPECT_THAT(refusal({.workers = 5000}), StartsWith("workers=5000: "));
}

// No terminate, no core.
TEST(runtime_options_death, the_global_runtime_ends_the_process_with_one_line) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const variable set("HEDDLE_POLICY", "nope");
  EXPECT_EXIT(heddle::runtime::global(), testing::ExitedWithCode(2),
              "^heddle: HEDDLE_POLICY=nope: no policy is called 'nope'[^\n]*\n$");
}

}  // namespace
}  // namespace runtime_options_test
