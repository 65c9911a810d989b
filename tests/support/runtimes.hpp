// A fixture over worker counts and policies; when its runtime has ended, every stack and control block is back.
#pragma once

#include <heddle/runtime.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "fiber/stack_pool.hpp"
#include "support/sanitized.hpp"

// libstdc++ counts the references to an exception in code that is not instrumented: that the last one to drop an
// exception comes after all who have read it is hidden from ThreadSanitizer. Without that one nobody calls this.
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

// Every policy that `heddle help policies` knows, and the variants that differ in what they do with tasks.
inline const std::vector<std::string> all_policies = {
    "random_ws",
    "random_ws:spawn=child",
    "random_ws:spawn=parent",
    "random_ws:victim=hybrid",
    "pws:victim=history",
    "hierarchical_ws",
    "work_sharing",
    "work_sharing:order=fifo",
    "serial",
    "adws",
    "adws:steal=off",
    "ml-adws",
    "ml-adws:aggregation=group",
    "ml-ws",
    "ml-adaptive",
    "ml-adaptive:levels=off,patience=1",
    "auto",
    "pdf",
    "pws",
    "sb",
    "sb-d",
    "slaw",
    "mts",
    "mts:victim=near,batch=1",
    "hws",
    "hws:level=2,attempts=1",
    "constrained_ws",
    "constrained_ws:relws=0",
    "constrained_ws:replay=stuws,relws=1",
    "levels",
    "levels:l3=random_ws,l2=adws",
    "levels:l3=hierarchical_ws,l2=work_sharing",
};

// From one to more than can run at once: three times the processors.
inline std::vector<unsigned> worker_counts() {
  std::vector<unsigned> counts{1, 2, 4, 8};
  const unsigned many = 3 * std::max(1u, std::thread::hardware_concurrency());
  if (std::find(counts.begin(), counts.end(), many) == counts.end()) counts.push_back(many);
  return counts;
}

class over_runtimes : public testing::TestWithParam<std::tuple<unsigned, std::string>> {
 protected:
  void SetUp() override {
    static_cast<void>(heddle::runtime::global());  // made by the first call from outside, it would count as a leak
    pools_ = heddle::fiber::stack_pool::living();
    heddle::runtime_options options;
    options.workers = std::get<0>(GetParam());
    options.policy = std::get<1>(GetParam());
    runtime_ = std::make_unique<heddle::runtime>(options);
  }
  void TearDown() override {
    runtime_.reset();
    EXPECT_EQ(heddle::fiber::stack_pool::living(), pools_) << "a thread's stack or control block was not given back";
  }
  heddle::runtime& runtime() { return *runtime_; }
  template <class F>
  auto run(F&& f) {
    return runtime_->run(std::forward<F>(f));
  }

 private:
  std::size_t pools_{0};
  std::unique_ptr<heddle::runtime> runtime_;
};

// What GoogleTest takes as the name of a parameter.
inline std::string test_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return text;
}

inline std::string runtime_name(const testing::TestParamInfo<std::tuple<unsigned, std::string>>& info) {
  return test_name(std::get<1>(info.param) + "_" + std::to_string(std::get<0>(info.param)));
}

}  // namespace heddle_test

#define HEDDLE_OVER_RUNTIMES(suite)                                                                                    \
  INSTANTIATE_TEST_SUITE_P(                                                                                            \
      workers, suite,                                                                                                  \
      testing::Combine(testing::ValuesIn(heddle_test::worker_counts()), testing::ValuesIn(heddle_test::all_policies)), \
      heddle_test::runtime_name)
