// A fixture over worker counts and policies. When its runtime has ended, every stack and control block must be back.
// The parts that need not be a template are in runtimes.cpp, because sixty tests use this header.
#pragma once

#include <heddle/runtime.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "support/sanitized.hpp"

// libstdc++ counts the references to an exception in code that is not instrumented. So ThreadSanitizer does not see
// that the last thread to drop an exception comes after all that have read it. In builds without ThreadSanitizer this
// function is not called.
extern "C" [[gnu::used, gnu::visibility("default")]] inline const char* __tsan_default_suppressions() {
  return "race:std::__exception_ptr::exception_ptr::_M_release\n";
}

namespace heddle_test {

// How often stress loops repeat: HEDDLE_STRESS, 1 when not set.
inline int stress() {
  const char* text = std::getenv("HEDDLE_STRESS");
  const int factor = text == nullptr ? 1 : std::atoi(text);
  return factor < 1 ? 1 : factor;
}

// Long forms are for runs that set the variable, such as `make nightly`.
inline bool whole() { return std::getenv("HEDDLE_STRESS") != nullptr; }

// Every policy that `heddle help policies` knows, and the variants that differ in what they do with tasks.
extern const std::vector<std::string> all_policies;

// The same policy for a runtime of `workers` workers: with as many sockets as workers if it names more.
std::string fitting(std::string policy, unsigned workers);

// From one to more than can run at once: three times the processors. Under ThreadSanitizer two of them.
std::vector<unsigned> worker_counts();

class over_runtimes : public testing::TestWithParam<std::tuple<unsigned, std::string>> {
 protected:
  over_runtimes();
  ~over_runtimes() override;
  void SetUp() override;
  void TearDown() override;
  heddle::runtime& runtime() { return *runtime_; }
  template <class F>
  auto run(F&& f) {
    return runtime_->run(std::forward<F>(f));
  }

 private:
  std::size_t pools_{0};
  std::unique_ptr<heddle::runtime> runtime_;
};

// Returns the name of a parameter in the form that GoogleTest accepts.
std::string test_name(std::string text);
std::string runtime_name(const testing::TestParamInfo<std::tuple<unsigned, std::string>>& info);

// Every policy with one of the worker counts, which changes from policy to policy and from suite to suite; the default
// policy has all of them. With HEDDLE_STRESS each policy has all.
testing::internal::ParamGenerator<std::tuple<unsigned, std::string>> every_runtime(std::string_view suite);

}  // namespace heddle_test

#define HEDDLE_OVER_RUNTIMES(suite) \
  INSTANTIATE_TEST_SUITE_P(workers, suite, heddle_test::every_runtime(#suite), heddle_test::runtime_name)
