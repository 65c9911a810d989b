// Loops that are over before a thief could help are unannounced: queued, and told to nobody. No policy may rely on
// hearing of them, or be without them where it does: [inline:1] to [inline:6] of src/loop/inline.md.
#include <heddle/heddle.hpp>
#include <heddle/policy_victims.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace unannounced_loops_test {
namespace {

constexpr std::size_t n = 16;

// The loops of one place, which learns that they are inline; in the last one of each round the first iteration waits
// for the last one, by the runtime's means.
void loop(std::atomic<int>& ran, heddle::semaphore* waits) {
  heddle::parallel_for(std::size_t{0}, n,
                       [&ran, waits](std::size_t i) {
                         ran.fetch_add(1, std::memory_order_relaxed);
                         if (waits == nullptr) return;
                         if (i == 0) waits->acquire();
                         if (i == n - 1) waits->release();
                       },
                       {.grain = 1});
}

class unannounced_loops : public heddle_test::over_runtimes {};

TEST_P(unannounced_loops, are_found_by_whoever_is_needed) {
  heddle_test::watchdog guard("unannounced loops");
  std::atomic<int> ran{0};
  constexpr int rounds = 5, loops = 50;
  run([&] {
    for (int round = 0; round < rounds; ++round) {
      for (int k = 0; k < loops; ++k) loop(ran, nullptr);
      heddle::semaphore met(0);
      loop(ran, &met);
    }
  });
  EXPECT_EQ(ran.load(), static_cast<int>(n) * rounds * (loops + 1));
}

INSTANTIATE_TEST_SUITE_P(all, unannounced_loops,
                         testing::Combine(testing::ValuesIn(heddle_test::worker_counts()),
                                          testing::ValuesIn(heddle_test::all_policies)),
                         heddle_test::runtime_name);

// Leaves each fork to its owner, and counts them.
std::atomic<int> shown{0};
class counting final : public heddle::policy::policy {
 public:
  bool fork_begin(unsigned, const heddle::policy::fork_info&) noexcept override {
    shown.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  heddle::policy::entry acquire(unsigned self, heddle::policy::effort how) noexcept override {
    return heddle::policy::others(self, *host_).rob_at_random(*host_, how);
  }
};

TEST(a_policy_that_wants_forks, is_shown_each_of_a_loop_that_would_be_quiet) {
  heddle_test::watchdog guard("unannounced loops");
  heddle::policy::add(
      {"counting_forks", "of a test", [](heddle::policy::parameters&) { return heddle::policy::create<counting>(); }});
  for (const unsigned workers : {1u, 2u, 4u}) {
    heddle::runtime rt({.workers = workers, .policy = "counting_forks"});
    std::atomic<int> ran{0};
    rt.run([&] {
      for (int k = 0; k < 200; ++k) {
        shown = 0;
        loop(ran, nullptr);
        ASSERT_EQ(shown.load(), static_cast<int>(n) - 1) << k;
      }
    });
    EXPECT_EQ(ran.load(), static_cast<int>(n) * 200);
  }
}

}  // namespace
}  // namespace unannounced_loops_test
