// Random programs over every policy, on a machine of two packages: groups, forks, loops, hints right and wrong, waits
// on locks in between. Every leaf runs once.
#include <heddle/mutex.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "support/runtimes.hpp"
#include "support/waiting.hpp"
#include "support/watchdog.hpp"

namespace policy_stress_test {
namespace {

class random_program {
 public:
  explicit random_program(std::uint64_t seed) : seed_(seed) {}

  // Leaves of a subtree; a function of its seed alone.
  long run(std::uint64_t node, int depth) {
    heddle_test::chance dice(seed_ ^ (node * 0x9e3779b97f4a7c15u));
    if (depth == 0) {
      if (dice.below(8) == 0) heddle::this_thread::yield();
      if (dice.below(8) == 0) {
        std::lock_guard hold(mutex_);
        if (dice.below(4) == 0) heddle::this_thread::yield();
        ++counted_;
      }
      return 1;
    }
    std::atomic<long> leaves{0};
    const std::uint32_t kind = dice.below(4);
    if (kind == 0) {
      const auto half = [&](std::uint64_t which) { leaves += run(node * 4 + which, depth - 1); };
      heddle::parallel_invoke(
          heddle::work_hint{hint(dice), hint(dice), dice.below(64) << 18}, [&] { half(1); }, [&] { half(2); });
    } else if (kind == 1) {
      heddle::parallel_for(0, 5, [&](int i) { leaves += run(node * 8 + static_cast<std::uint64_t>(i), depth - 1); });
    } else {
      const std::uint32_t children = 1 + dice.below(5);
      heddle::task_group group(hint(dice), dice.below(64) << 18);
      for (std::uint32_t i = 0; i < children; ++i) {
        group.run([&, i] { leaves += run(node * 8 + i, depth - 1); }, hint(dice));
      }
      if (dice.below(2) == 0) leaves += run(node * 8 + 7, depth - 1);  // the last one is not spawned
      group.wait();
    }
    return leaves.load();
  }

 private:
  static double hint(heddle_test::chance& dice) {
    constexpr double odd[] = {std::numeric_limits<double>::quiet_NaN(), 0, -1, std::numeric_limits<double>::infinity()};
    const std::uint32_t d = dice.below(16);
    return d < 4 ? odd[d] : d;
  }

  const std::uint64_t seed_;
  heddle::mutex mutex_;
  long counted_{0};  // under mutex_
};

// With ThreadSanitizer all policies took 138 s for 20 programs each, on two loaded processors: fewer there.
constexpr unsigned programs = heddle_test::thread_sanitized ? 3 : 20;

class policy_stress : public testing::TestWithParam<std::string> {};

TEST_P(policy_stress, random_programs_run_every_leaf_once) {
  heddle_test::watchdog guard("policy stress " + GetParam());
  heddle::runtime_options options;
  options.policy = GetParam();
  options.machine = "synthetic:pack:2 l3:1(size=8388608) l2:2(size=1048576) core:1 pu:1";
  heddle::runtime rt(options);
  for (std::uint64_t seed = 1; seed <= programs * static_cast<unsigned>(heddle_test::stress()); ++seed) {
    heddle::runtime one({.policy = "serial"});
    const long expected = one.run([&] { return random_program(seed).run(1, 5); });
    ASSERT_EQ(rt.run([&] { return random_program(seed).run(1, 5); }), expected) << "seed " << seed;
    // Two at a time: the second one finds no place in a tree that belongs to the first.
    long a = 0, b = 0;
    heddle::thread first({.where = &rt}, [&] { a = random_program(seed).run(1, 4); });
    heddle::thread second({.where = &rt}, [&] { b = random_program(seed).run(1, 4); });
    first.join();
    second.join();
    ASSERT_EQ(a, b);
    guard.progress();
  }
}

INSTANTIATE_TEST_SUITE_P(policies, policy_stress, testing::ValuesIn(heddle_test::all_policies),
                         [](const auto& info) { return heddle_test::test_name(info.param); });

}  // namespace
}  // namespace policy_stress_test
