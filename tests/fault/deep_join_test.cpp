// A join that blocks inside 100,000 nested levels of forks: each level's second half lies in the queue, and on the
// stack below a thread that waits. All of them must be found and run by whoever is left, while the deep one sleeps.
#include <heddle/latch.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>

#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace deep_join_test {
namespace {

constexpr std::size_t levels = heddle_test::sanitized ? 10'000 : 100'000;  // sanitizers' frames are large

class deep_join : public testing::TestWithParam<unsigned> {
 protected:
  heddle::runtime_options options() const {
    heddle::runtime_options o;
    o.workers = GetParam();
    o.stack_size = std::size_t{256} << 20;  // address space; of it, touched pages count
    return o;
  }
  heddle_test::watchdog dog_{"a join inside many levels"};
};

void descend(std::size_t level, heddle::latch& others, std::atomic<std::size_t>& passed) {
  if (level == 0) return others.wait();
  heddle::parallel_invoke([&, level] { descend(level - 1, others, passed); },
                          [&] {
                            ++passed;
                            others.count_down();
                          });
  ++passed;
}

TEST_P(deep_join, of_a_thread_that_waits_for_all_the_halves_above_it) {
  heddle::runtime rt(options());
  heddle::latch others(static_cast<std::ptrdiff_t>(levels));
  std::atomic<std::size_t> passed{0};
  rt.run([&] { descend(levels, others, passed); });
  EXPECT_EQ(passed.load(), 2 * levels);
}

void descend_groups(std::size_t level, heddle::latch& others, std::atomic<std::size_t>& passed) {
  if (level == 0) return others.wait();
  heddle::task_group group;
  group.run([&] {
    ++passed;
    others.count_down();
  });
  descend_groups(level - 1, others, passed);
  group.wait();
  ++passed;
}

TEST_P(deep_join, of_groups) {
  heddle::runtime rt(options());
  heddle::latch others(static_cast<std::ptrdiff_t>(levels));
  std::atomic<std::size_t> passed{0};
  rt.run([&] { descend_groups(levels, others, passed); });
  EXPECT_EQ(passed.load(), 2 * levels);
}

INSTANTIATE_TEST_SUITE_P(workers, deep_join, testing::Values(1u, 2u, 8u), testing::PrintToStringParamName());

}  // namespace
}  // namespace deep_join_test
