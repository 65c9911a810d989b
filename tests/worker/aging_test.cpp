// Priorities that share a lock, or a loop that spins: a thread which has been ready for long has a time slice whatever
// is above it. Shares: tests/sim_platform/fairness_test.cpp.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "support/preemption.hpp"

namespace aging_test {
namespace {

using heddle::priority;
using heddle_test::in;

heddle::runtime_options with_aging(unsigned workers) {
  heddle::runtime_options o = heddle_test::options_for(workers);
  o.priority_mode = heddle::priority_mode::aging;
  return o;
}

constexpr std::pair<int, int> levels[] = {{-1, 0}, {0, 1}, {-1, 1}, {-3, -2}, {2, 3}};

class aging : public heddle_test::by_means {
 protected:
  static heddle::thread_options kind(heddle::runtime& rt, int level) {
    heddle::thread_options o = by_means::kind(rt);
    o.priority = priority{level};
    return o;
  }
};

TEST_P(aging, who_spins_for_a_lower_thread_is_not_alone_for_ever) {
  for (const auto& [lower, higher] : levels) {
    for (const unsigned workers : {1u, 2u}) {
      heddle::runtime rt(with_aging(workers));
      std::atomic<unsigned> begun{0};
      std::atomic<bool> done{false};
      std::vector<heddle::thread> spinners;
      for (unsigned i = 0; i < workers; ++i) {
        spinners.emplace_back(kind(rt, higher), [&] {
          begun.fetch_add(1);
          heddle_test::wait_for(done);
        });
      }
      while (begun.load() < workers) {
      }
      heddle::thread low(kind(rt, lower), [&] { done = true; });
      low.join();
      for (auto& t : spinners) t.join();
    }
  }
}

// A kernel's mutex, and malloc's: the holder is preempted with it,
// and those above wait for it in the kernel with all workers.
TEST_P(aging, locks_of_the_c_library_are_shared_by_levels) {
  for (const auto& [lower, higher] : {std::pair{-1, 1}, std::pair{0, 1}}) {
    heddle::runtime rt(with_aging(2));
    std::mutex lock;
    std::atomic<bool> stop{false};
    std::atomic<long> sum{0};
    const auto use = [&] {
      const std::lock_guard hold(lock);
      for (int i = 0; i < 20; ++i) {
        void* p = std::malloc(100000);
        asm volatile("" : : "r"(p) : "memory");
        std::free(p);
      }
      sum.fetch_add(1);
    };
    std::vector<heddle::thread> lows, highs;
    for (int i = 0; i < 3; ++i) {
      lows.emplace_back(kind(rt, lower), [&] {
        while (!stop.load()) use();
      });
    }
    for (int i = 0; i < 2; ++i) {
      highs.emplace_back(kind(rt, higher), [&] {
        for (int round = 0; round < 100 * heddle_test::stress(); ++round) {
          use();
          if (round % 10 == 0) heddle::this_thread::sleep_for(std::chrono::microseconds(200));
        }
      });
    }
    for (auto& t : highs) t.join();
    stop = true;
    for (auto& t : lows) t.join();
    EXPECT_GE(sum.load(), 200);
  }
}

INSTANTIATE_TEST_SUITE_P(priority, aging, testing::ValuesIn(heddle_test::every_means),
                         [](const auto& info) { return heddle_test::name_of(info.param); });

// Without any preemption: those above yield.
TEST(aging_of_yields, who_yields_for_a_lower_thread_goes_on) {
  for (const auto& [lower, higher] : levels) {
    heddle::runtime rt(with_aging(1));
    std::atomic<bool> done{false};
    std::vector<heddle::thread> yielding;
    for (int i = 0; i < 2; ++i) {
      yielding.emplace_back(in(rt, priority{higher}), [&] {
        while (!done.load()) heddle::this_thread::yield();
      });
    }
    heddle::thread low(in(rt, priority{lower}), [&] { done = true; });
    low.join();
    for (auto& t : yielding) t.join();
  }
}

}  // namespace
}  // namespace aging_test
