// A join that blocks inside 100,000 nested levels of forks: each level's second half lies in the queue, and on the
// stack below a thread that waits. All of them must be found and run by whoever is left, while the deep one sleeps.
#include <heddle/latch.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

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

// The thread alone has a large stack. A part of its work that another thread begins gets one as large.
struct right {
  static std::size_t down(std::size_t level) {
    if (level == 0) return 0;
    const auto [one, below] =
        heddle::parallel_invoke([] { return std::size_t{1}; }, [level] { return down(level - 1); });
    return one + below;
  }
  static std::size_t down_by_groups(std::size_t level) {
    if (level == 0) return 0;
    std::size_t below = 0;
    heddle::task_group group;
    group.run([&below, level] { below = down_by_groups(level - 1); });
    group.wait();
    return below + 1;
  }
};

heddle::thread_options options_of(heddle::runtime& rt) {
  heddle::thread_options o;
  o.where = &rt;
  o.stack_size = std::size_t{1} << 30;
  return o;
}

TEST_P(deep_join, stolen_parts_have_a_stack_like_their_makers) {
  heddle::runtime_options o = options();
  o.stack_size.reset();
  heddle::runtime rt(o);
  for (auto* const down : {right::down, right::down_by_groups}) {
    std::size_t reached = 0;
    heddle::thread deep(options_of(rt), [&] { reached = down(levels); });
    deep.join();
    EXPECT_EQ(reached, levels);
  }
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
