// The fast paths of forks and joins as they are: in two of five schedules the limits of a queue are poisoned by nobody
// but thieves and sleepers, so most pushes and pops take the few instructions that are inlined here. Argument:
// src/queue/proof.md.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>

#include "tests/sim_explore/leaves.hpp"

namespace heddle::sim {
namespace fast_paths_test {
namespace {

// Each leaf once, and so often that queues fill, are robbed and run empty.
template <class Shape>
void each_leaf_once(std::size_t n, Shape shape) {
  runtime home(workers(n));
  constexpr int leaves = 12;
  for (int round = 0; round < 2; ++round) {
    std::atomic<int> done{0};
    auto leaf = [&] { done.fetch_add(1); };
    on(home, [&] { shape(leaves, leaf); });
    require(done.load() == leaves);
  }
}

void trees() {
  each_leaf_once(3, [](int n, auto& leaf) { tree(n, leaf); });
}
void chains() {
  each_leaf_once(3, [](int n, auto& leaf) { chain(n, leaf); });
}
void numbers() {
  runtime home(workers(3));
  long value = 0;
  on(home, [&] { value = fib(7); });
  require(value == 13);
}
// An owner that forks while others sleep: its push meets their poison.
void leaves_meet() {
  runtime home(workers(3));
  later(home, 3);
}
void forked_leaves_meet() {
  runtime home(workers(3));
  forks(home, 3);
}
void children_of_groups() {
  runtime home(workers(2));
  std::atomic<int> done{0};
  on(home, [&] {
    task_group group;
    for (int i = 0; i < 12; ++i) group.run([&] { done.fetch_add(1); });
    group.wait();
  });
  require(done.load() == 12);
}

constexpr scenario scenarios[] = {{"numbers", numbers},         {"trees", trees},
                                  {"chains", chains},           {"children of groups", children_of_groups},
                                  {"leaves meet", leaves_meet}, {"forked leaves meet", forked_leaves_meet}};

#if !defined(HEDDLE_MUTANT)

class fast_paths : public testing::TestWithParam<scenario> {};

TEST_P(fast_paths, are_right) { expect_right(GetParam().run); }

INSTANTIATE_TEST_SUITE_P(scenarios, fast_paths, testing::ValuesIn(scenarios), named);

#else

TEST(fast_paths, some_schedule_shows_the_mistake) { expect_found(scenarios); }

#endif

}  // namespace
}  // namespace fast_paths_test
}  // namespace heddle::sim
