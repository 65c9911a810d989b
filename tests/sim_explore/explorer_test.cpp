// The explorer finds what is broken, passes what is right, and
// repeats a schedule from its seed. The protocols here are toys.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "platform/platform.hpp"
#include "tests/sim_explore/schedules.hpp"

namespace heddle::sim {
namespace explorer_test {
namespace {

struct shared {
  std::atomic<std::uint32_t> word{0};
  std::atomic<bool> ready{false};
  std::atomic<bool> sleeping{false};
};

void together(void (*first)(void*), void (*second)(void*), void* data) {
  platform::kernel_thread a, b;
  if (platform::start(a, first, data, "first") != 0 || platform::start(b, second, data, "second") != 0) std::abort();
  platform::join(a);
  platform::join(b);
}

void wake_if_asleep(void* data) {
  auto& s = *static_cast<shared*>(data);
  s.ready.store(true);
  if (!s.sleeping.load()) return;
  s.word.store(1);
  platform::wake_one(s.word);
}

// Looks, then says that it sleeps: between the two the waker sees nobody to wake.
void lost_wakeup() {
  shared s;
  together(
      [](void* data) {
        auto& inner = *static_cast<shared*>(data);
        if (inner.ready.load()) return;
        inner.sleeping.store(true);
        while (inner.word.load() == 0) platform::wait_on(inner.word, 0);
      },
      wake_if_asleep, &s);
}

// The same, the right way round.
void kept_wakeup() {
  shared s;
  together(
      [](void* data) {
        auto& inner = *static_cast<shared*>(data);
        inner.sleeping.store(true);
        if (inner.ready.load()) return;
        while (inner.word.load() == 0) platform::wait_on(inner.word, 0);
      },
      wake_if_asleep, &s);
}

// An increment in two steps.
void lost_update() {
  std::atomic<int> count{0};
  const auto add = [](void* data) {
    auto& c = *static_cast<std::atomic<int>*>(data);
    c.store(c.load() + 1);
  };
  together(add, add, &count);
  if (count.load() != 2) std::_Exit(9);
}

TEST(explorer, finds_a_lost_wake_up) {
  const verdict v = explore(lost_wakeup, 500);
  EXPECT_TRUE(v.failed);
  EXPECT_EQ(v.status, deadlock_status);
}

TEST(explorer, passes_the_same_protocol_the_right_way_round) {
  const verdict v = explore(kept_wakeup, 2000);
  EXPECT_FALSE(v.failed) << "seed " << v.seed << ", status " << v.status;
}

TEST(explorer, finds_a_lost_update) {
  const verdict v = explore(lost_update, 500);
  EXPECT_TRUE(v.failed);
  EXPECT_EQ(v.status, 9);
}

TEST(explorer, both_searches_find_it) {
  for (const std::uint64_t parity : {0u, 1u}) {
    bool found = false;
    for (std::uint64_t seed = parity; seed < 1000 && !found; seed += 2) found = explore(lost_update, 1, seed).failed;
    EXPECT_TRUE(found) << (parity == 1 ? "random" : "bounded preemption");
  }
}

TEST(explorer, a_seed_repeats_its_schedule) {
  const verdict first = explore(lost_wakeup, 500);
  ASSERT_TRUE(first.failed);
  for (int i = 0; i < 3; ++i) {
    const verdict again = explore(lost_wakeup, 1, first.seed);
    EXPECT_TRUE(again.failed);
    EXPECT_EQ(again.seed, first.seed);
  }
}

}  // namespace
}  // namespace explorer_test
}  // namespace heddle::sim
