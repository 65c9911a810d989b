// Policies in shared objects: the one of the guide runs programs; what is no plugin is refused with words.
#include <heddle/parallel_for.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/runtimes.hpp"

namespace plugin_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string plugin(const char* name) { return std::string(HEDDLE_PLUGINS) + "/" + name + ".so"; }

std::string what_of(const heddle::runtime_options& options) {
  try {
    const heddle::runtime rt(options);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "nothing was thrown";
}

std::uint64_t fib(unsigned n) {
  if (n < 2) return n;
  std::uint64_t first = 0;
  heddle::task_group group;
  group.run([&] { first = fib(n - 1); });
  const std::uint64_t second = fib(n - 2);
  group.wait();
  return first + second;
}

TEST(plugin, the_policy_of_the_guide_runs_programs) {
  for (const unsigned workers : {1u, 2u, 3u, 8u}) {
    for (const char* policy : {"loyal", "loyal:patience=1", "loyal:patience=1000"}) {
      SCOPED_TRACE(policy);
      heddle::runtime rt({.workers = workers, .policy = policy, .policy_plugin = plugin("loyal_policy")});
      EXPECT_EQ(rt.policy(), policy);
      for (int round = 0; round < 10 * heddle_test::stress(); ++round) {
        EXPECT_EQ(rt.run([] { return fib(12); }), 144u);
        std::vector<int> out(10'000, 0);
        rt.run([&] { heddle::parallel_for(std::size_t{0}, out.size(), [&](std::size_t i) { out[i] = 1; }); });
        EXPECT_EQ(std::accumulate(out.begin(), out.end(), 0), 10'000);
      }
    }
  }
}

// The tasks of one place: as many as fib makes.
TEST(plugin, the_ledger_adds_up_what_tasks_have_used) {
  for (const unsigned workers : {1u, 3u}) {
    for (const char* policy : {"ledger", "ledger:figures=time", "ledger:figures=none"}) {
      SCOPED_TRACE(policy);
      ::testing::internal::CaptureStderr();
      {
        heddle::runtime rt({.workers = workers, .policy = policy, .policy_plugin = plugin("ledger_policy")});
        EXPECT_EQ(rt.run([] { return fib(12); }), 144u);
      }
      const std::string table = ::testing::internal::GetCapturedStderr();
      if (policy == std::string("ledger:figures=none")) {
        EXPECT_EQ(table, "");
        continue;
      }
      EXPECT_THAT(table, AllOf(HasSubstr("processor us"), HasSubstr("\n         232 ")));
    }
  }
}

TEST(plugin, the_ledger_of_the_global_runtime_is_told_when_the_program_ends) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto program = [] {
    setenv("HEDDLE_POLICY", "ledger", 1);
    setenv("HEDDLE_POLICY_PLUGIN", plugin("ledger_policy").c_str(), 1);
    std::exit(fib(12) == 144 ? 0 : 1);
  };
  EXPECT_EXIT(program(), ::testing::ExitedWithCode(0), "processor us");
}

TEST(plugin, several_are_loaded_and_one_is_loaded_once) {
  const std::string twice = plugin("loyal_policy") + ":" + plugin("loyal_policy");
  heddle::runtime rt({.workers = 2, .policy = "loyal", .policy_plugin = twice});
  heddle::runtime again({.workers = 2, .policy = "loyal", .policy_plugin = plugin("loyal_policy")});
  EXPECT_EQ(again.run([] { return fib(5); }), 5u);
}

TEST(plugin, a_parameter_that_it_does_not_take_is_named) {
  EXPECT_THAT(what_of({.workers = 1, .policy = "loyal:patients=3", .policy_plugin = plugin("loyal_policy")}),
              AllOf(HasSubstr("policy loyal has no parameter 'patients'"), HasSubstr("patience")));
}

TEST(plugin, what_is_no_plugin_is_refused) {
  EXPECT_THAT(what_of({.workers = 1, .policy_plugin = "/nowhere/none.so"}),
              AllOf(HasSubstr("policy_plugin=/nowhere/none.so"), HasSubstr("cannot open")));
  EXPECT_THAT(what_of({.workers = 1, .policy_plugin = "libm.so.6"}), HasSubstr("it lacks HEDDLE_POLICIES"));
  EXPECT_THAT(what_of({.workers = 1, .policy_plugin = plugin("other_version")}),
              AllOf(HasSubstr("compiled with version 0"), HasSubstr("compile it again")));
  EXPECT_THAT(what_of({.workers = 1, .policy_plugin = plugin("names_taken")}),
              HasSubstr("a policy is called 'adws' already"));
}

}  // namespace
}  // namespace plugin_test
