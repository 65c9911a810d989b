// event_count: nothing is lost between a look at a condition and the sleep; time limits; exceptions.
#include <heddle/event_count.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <vector>

#include "support/waiting.hpp"

namespace event_count_test {
namespace {

using namespace std::chrono_literals;

class event_counts : public heddle_test::waiting {};

// A lock-free stack of numbers whose takers sleep while it is empty.
class stack {
 public:
  ~stack() {
    while (node* n = top_.load()) {
      top_.store(n->next);
      delete n;
    }
  }
  void push(int value) {
    auto* n = new node{value, top_.load()};
    while (!top_.compare_exchange_weak(n->next, n)) {
    }
    changed_.notify_one();
  }
  int take() {
    int value = 0;
    changed_.await([&] {
      while (busy_.exchange(true)) heddle::this_thread::yield();  // one taker at a time, so that no node is reused
      node* n = top_.load();
      while (n != nullptr && !top_.compare_exchange_weak(n, n->next)) {
      }
      busy_.store(false);
      if (n == nullptr) return false;
      value = n->value;
      delete n;
      return true;
    });
    return value;
  }

 private:
  struct node {
    int value;
    node* next;
  };
  std::atomic<node*> top_{nullptr};
  std::atomic<bool> busy_{false};
  heddle::event_count changed_;
};

TEST_P(event_counts, what_is_pushed_is_taken) {
  const int each = 300 * heddle_test::stress();
  stack numbers;
  std::atomic<long> sum{0};
  together(6, 2, [&](int i) {
    heddle_test::chance c(i);
    for (int k = 0; k < each; ++k) {
      c.maybe_yield();
      if (i % 2 == 0) numbers.push(k);
      else sum += numbers.take();
    }
    progress();
  });
  EXPECT_EQ(sum.load(), 4L * each * (each - 1) / 2);
}

TEST_P(event_counts, all_are_woken) {
  heddle::event_count changed;
  std::atomic<int> phase{0}, arrived{0};
  together(5, 2, [&](int i) {
    for (int p = 1; p <= 50; ++p) {
      if (i == 0) {
        changed.await([&] { return arrived.load() == 6 * p; });
        phase = p;
        changed.notify_all();
      } else {
        ++arrived;
        changed.notify_all();
        changed.await([&] { return phase.load() >= p; });
      }
    }
    progress();
  });
  EXPECT_EQ(arrived.load(), 300);
}

TEST_P(event_counts, a_notification_between_prepare_and_commit_is_not_slept_through) {
  run([] {
    heddle::event_count changed;
    const auto key = changed.prepare_wait();
    changed.notify_one();
    changed.commit_wait(key);
    const auto other = changed.prepare_wait();
    changed.cancel_wait();
    static_cast<void>(other);
  });
}

TEST_P(event_counts, a_time_limit_ends_a_wait) {
  run([] {
    heddle::event_count changed;
    const auto key = changed.prepare_wait();
    EXPECT_FALSE(changed.commit_wait_until(key, std::chrono::steady_clock::now() + 1ms));
    EXPECT_FALSE(changed.await_until(std::chrono::steady_clock::now() + 1ms, [] { return false; }));
    EXPECT_TRUE(changed.await_until(std::chrono::system_clock::now() + 1h, [] { return true; }));
    EXPECT_FALSE(changed.await_until(std::chrono::system_clock::now() - 1h, [] { return false; }));
  });
}

TEST_P(event_counts, an_exception_of_the_condition_leaves_nobody_registered) {
  run([] {
    heddle::event_count changed;
    int looks = 0;
    const auto throws_at_the_second_look = [&]() -> bool {
      if (++looks == 2) throw std::runtime_error("look");
      return false;
    };
    EXPECT_THROW(changed.await(throws_at_the_second_look), std::runtime_error);
    changed.notify_all();  // would find a waiter that is gone
    changed.await([] { return true; });
  });
}

HEDDLE_OVER_RUNTIMES(event_counts);

}  // namespace
}  // namespace event_count_test
