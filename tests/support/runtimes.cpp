#include "support/runtimes.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <thread>

#include "fiber/stack_pool.hpp"

namespace heddle_test {

const std::vector<std::string> all_policies = {
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
    "grouped",
    "grouped:steal=off",
    "numalb",
    "numalb:objects=3,sites=1",
    "pdf",
    "controlled-pdf",
    "controlled-pdf:shared=4096,own=256",
    "pws",
    "sb",
    "sb-d",
    "slaw",
    "mts",
    "mts:victim=near,batch=1",
    "hws",
    "hws:level=2,attempts=1",
    "crs",
    "crs:patience=1",
    "chs",
    "cls",
    "cls:load=1000000,interval=1",
    "random-pushing",
    "random-pushing:threshold=0,transit=1",
    "tatl",
    "tatl:most=1,least=0",
    "constrained_ws",
    "constrained_ws:relws=0",
    "constrained_ws:replay=stuws,relws=1",
    "locality_ws",
    "locality_ws:tasks=2,depth=64,patience=1",
    "cab-fto",
    "cab-fto:sockets=2",
    "cab-fto:sockets=2,level=3,keep=0",
    "cab-gto:sockets=2",
    "cab-gto:sockets=3,soid=profile,cmpi=0",
    "laws:sockets=2,repeats=1",
    "laws-nc:sockets=2,pieces=2",
    "levels",
    "levels:l3=random_ws,l2=adws",
    "levels:l3=hierarchical_ws,l2=work_sharing",
    "aats",
    "aats:speeds=1:0.5",
    "aats-np:speeds=1:0.5:0.5,hold=1",
    "aats-ts:speeds=1:0.25",
    "pfws",
    "rts",
};

std::string fitting(std::string policy, unsigned workers) {
  constexpr std::string_view key = "sockets=";
  const std::size_t at = policy.find(key);
  if (at == std::string::npos) return policy;
  const std::size_t from = at + key.size(), end = std::min(policy.find(',', from), policy.size());
  const auto sockets = static_cast<unsigned>(std::stoul(policy.substr(from, end - from)));
  return policy.replace(from, end - from, std::to_string(std::min(sockets, workers)));
}

std::vector<unsigned> worker_counts() {
  // ThreadSanitizer takes ten times as long: what only the number of workers tells apart is left to the other builds.
  if (thread_sanitized) return {2, 8};
  std::vector<unsigned> counts{1, 2, 4, 8};
  const unsigned many = 3 * std::max(1u, std::thread::hardware_concurrency());
  if (std::find(counts.begin(), counts.end(), many) == counts.end()) counts.push_back(many);
  return counts;
}

over_runtimes::over_runtimes() = default;
over_runtimes::~over_runtimes() = default;

void over_runtimes::SetUp() {
  static_cast<void>(heddle::runtime::global());  // made by the first call from outside, it would count as a leak
  pools_ = heddle::fiber::stack_pool::living();
  heddle::runtime_options options;
  options.workers = std::get<0>(GetParam());
  options.policy = fitting(std::get<1>(GetParam()), std::get<0>(GetParam()));
  runtime_ = std::make_unique<heddle::runtime>(options);
}

void over_runtimes::TearDown() {
  runtime_.reset();
  EXPECT_EQ(heddle::fiber::stack_pool::living(), pools_) << "a thread's stack or control block was not given back";
}

std::string test_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return text;
}

std::string runtime_name(const testing::TestParamInfo<std::tuple<unsigned, std::string>>& info) {
  return test_name(std::get<1>(info.param) + "_" + std::to_string(std::get<0>(info.param)));
}

testing::internal::ParamGenerator<std::tuple<unsigned, std::string>> every_runtime(std::string_view suite) {
  const std::vector<unsigned> counts = worker_counts();
  const bool every_count = whole();
  const std::size_t first = std::accumulate(suite.begin(), suite.end(), std::size_t{0});
  std::vector<std::tuple<unsigned, std::string>> all;
  for (std::size_t policy = 0; policy < all_policies.size(); ++policy) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const bool chosen = policy == 0 || i == (first + policy) % counts.size();
      if (every_count || chosen) all.emplace_back(counts[i], all_policies[policy]);
    }
  }
  return testing::ValuesIn(all);
}

}  // namespace heddle_test
