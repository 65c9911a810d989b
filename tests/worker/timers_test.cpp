// The heap of time limits against a sorted set, and a hundred
// thousand sleepers of whom some are woken before their time.
#include "worker/time/timers.hpp"

#include <heddle/semaphore.hpp>
#include <heddle/sleep.hpp>
#include <heddle/thread.hpp>

#include <atomic>
#include <set>
#include <vector>

#include "base/random.hpp"
#include "support/waiting.hpp"

namespace timers_test {
namespace {

using heddle::base::random_source;
using heddle::worker::timer;
using heddle::worker::timer_heap;

// A waiter that is claimed already: fire passes over it, so that no thread is needed.
struct armed {
  armed() : limit{0, &waiting} { waiting.reason.store(1); }
  heddle::detail::waiter waiting{"test"};
  timer limit;
};

struct by_deadline {
  bool operator()(const timer* a, const timer* b) const {
    return a->deadline != b->deadline ? a->deadline < b->deadline : a < b;
  }
};

TEST(timer_heap, agrees_with_a_sorted_set) {
  random_source random(7);
  const std::size_t count = heddle_test::sanitized ? 10'000 : 100'000;
  std::vector<armed> all(count);
  timer_heap heap;
  std::set<timer*, by_deadline> expected;
  EXPECT_EQ(heap.next(), timer_heap::never);
  for (std::size_t step = 0; step < 6 * count; ++step) {
    timer& t = all[random.below(static_cast<std::uint32_t>(count))].limit;
    const bool grows = step < 2 * count;
    if (!t.armed && (grows || random.below(4) == 0)) {
      // Bursts in order, in reverse order, all at one time, and anywhere.
      switch (step / 1000 % 4) {
        case 0: t.deadline = 1'000'000 + step; break;
        case 1: t.deadline = 900'000'000 - step; break;
        case 2: t.deadline = 5'000'000; break;
        default: t.deadline = 1 + random.below(1'000'000'000); break;
      }
      const bool earliest = heap.add(t);
      expected.insert(&t);
      ASSERT_TRUE(!earliest || (*expected.begin())->deadline == t.deadline) << step;
    } else if (t.armed && random.below(3) != 0) {
      heap.remove(t);
      expected.erase(&t);
    } else if (!expected.empty() && random.below(8) == 0) {
      const auto now = (*expected.begin())->deadline;
      heap.fire(now);
      while (!expected.empty() && (*expected.begin())->deadline <= now) {
        ASSERT_FALSE((*expected.begin())->armed);
        expected.erase(expected.begin());
      }
    }
    ASSERT_EQ(heap.next(), expected.empty() ? timer_heap::never : (*expected.begin())->deadline) << step;
  }
  heap.fire(timer_heap::never - 1);
  EXPECT_EQ(heap.next(), timer_heap::never);
  for (const armed& a : all) ASSERT_FALSE(a.limit.armed);
  heap.remove(all[0].limit);  // harmless
  EXPECT_EQ(heap.next(), timer_heap::never);
}

// The right edge stays short, whatever comes in whatever order: it bounds the time under the lock.
TEST(timer_heap, ranks_stay_logarithmic) {
  const std::uint64_t count = 50'000;
  for (int order = 0; order < 3; ++order) {
    random_source random(11);
    std::vector<armed> all(count);
    timer_heap heap;
    for (std::uint64_t i = 0; i < count; ++i) {
      all[i].limit.deadline = 1 + (order == 0 ? i : order == 1 ? count - i : random.below(1000));
      heap.add(all[i].limit);
    }
    for (std::uint64_t i = 0; i < count; i += 1 + random.below(2)) heap.remove(all[i].limit);
    for (const armed& a : all) {
      if (!a.limit.armed) continue;
      const auto rank = [](const timer* t) { return t == nullptr ? 0u : t->rank; };
      ASSERT_LE(rank(a.limit.right), rank(a.limit.left));
      ASSERT_EQ(a.limit.rank, rank(a.limit.right) + 1);
      ASSERT_LE(a.limit.rank, 17u);  // 2^17 > count
      for (const timer* below : {a.limit.left, a.limit.right}) {
        ASSERT_TRUE(below == nullptr || (below->parent == &a.limit && below->deadline >= a.limit.deadline));
      }
    }
  }
}

TEST(timers, a_hundred_thousand_sleepers_some_woken_early) {
  using namespace std::chrono_literals;
  heddle_test::watchdog guard("sleepers");
  const int count = heddle_test::sanitized ? 3000 : 100'000;
  heddle::runtime rt({.workers = 4});
  std::atomic<int> early{0}, late{0};
  rt.run([&] {
    heddle::counting_semaphore<> permits(0);
    std::vector<heddle::thread> all;
    all.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      all.emplace_back([&, i] {
        random_source random(static_cast<std::uint64_t>(i));
        if (permits.try_acquire_for(std::chrono::microseconds(50'000 + random.below(1'000'000)))) ++early;
        else ++late;
      });
    }
    for (int i = 0; i < count / 3; ++i) {
      permits.release();
      if (i % 64 == 0) heddle::this_thread::yield();
      if (i % 1024 == 0) guard.progress();
    }
    for (auto& t : all) t.join();
  });
  EXPECT_EQ(early + late, count);
  EXPECT_GT(early.load(), 0);
  EXPECT_LE(early.load(), count / 3);
}

}  // namespace
}  // namespace timers_test
