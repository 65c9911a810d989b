// poller: what only an ask completes is completed for whoever waits, whatever the workers do; ends of pollers.
#include <heddle/poller.hpp>

#include <heddle/event_count.hpp>
#include <heddle/mutex.hpp>
#include <heddle/thread.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "support/fib.hpp"
#include "support/waiting.hpp"

namespace poller_test {
namespace {

using namespace std::chrono_literals;

class pollers : public heddle_test::waiting {};

constexpr heddle::poller_options workers_only{.bound = 1h, .gap = 0ns};

// Requests, completed by whoever asks for them.
class device {
 public:
  struct request {
    std::atomic<bool> done{false};
    request* next{nullptr};
  };
  void post(request& r) {
    r.next = posted_.load();
    while (!posted_.compare_exchange_weak(r.next, &r)) {
    }
  }
  int complete() {
    int completed = 0;
    for (request* r = posted_.exchange(nullptr); r != nullptr; ++completed) {
      request* const next = r->next;
      r->done = true;  // it may be gone
      r = next;
    }
    if (completed != 0) completed_.notify_all();
    return completed;
  }
  void wait_for(request& r) {
    completed_.await([&] { return r.done.load(); });
  }

 private:
  std::atomic<request*> posted_{nullptr};
  heddle::event_count completed_;
};

TEST_P(pollers, what_an_ask_completes_is_waited_for) {
  const int each = 30 * heddle_test::stress();
  device d;
  std::atomic<bool> asks{false};
  heddle::poller p(runtime(), {}, [&] {
    EXPECT_FALSE(asks.exchange(true)) << "twice at a time";
    const int found = d.complete();
    asks = false;
    return found;
  });
  together(6, 2, [&](int i) {
    heddle_test::chance c(static_cast<std::uint64_t>(i));
    for (int k = 0; k < each; ++k) {
      device::request r;
      c.maybe_yield();
      const heddle::poller::interest waits(p);
      d.post(r);
      c.maybe_yield();
      d.wait_for(r);
      progress();
    }
  });
  while (p.found() != 8u * static_cast<unsigned>(each)) std::this_thread::yield();  // the last ask returns
}

TEST_P(pollers, unwanted_ones_are_not_asked) {
  heddle::poller p(runtime(), {.bound = 1us, .gap = 0ns}, [] { return false; });
  run([] { EXPECT_EQ(heddle_test::fib(15), 610); });
  EXPECT_EQ(p.asks(), 0u);
}

TEST_P(pollers, one_is_asked_while_all_workers_compute) {
  std::atomic<bool> found{false};
  heddle::poller p(runtime(), {}, [&] {
    found = true;
    return true;
  });
  const heddle::poller::interest waits(p);
  together(static_cast<int>(runtime().workers()), 0, [&](int) {
    while (!found) std::this_thread::yield();  // keeps its worker
    progress();
  });
}

TEST_P(pollers, one_is_asked_while_all_workers_sleep) {
  heddle::poller p(runtime(), {}, [] { return false; });
  const heddle::poller::interest waits(p);
  while (p.asks() < 20) std::this_thread::yield();
}

TEST_P(pollers, one_is_asked_between_two_threads) {
  heddle::poller p(runtime(), workers_only, [] { return false; });
  const heddle::poller::interest waits(p);
  run([&] {
    while (p.asks() < 5) heddle::this_thread::yield();
  });
}

TEST_P(pollers, all_are_asked) {
  heddle::poller a(runtime(), {}, [] { return 1; });
  heddle::poller b(runtime(), {}, [] { return 2; });
  heddle::poller c(runtime(), workers_only, [] { return 3; });
  const heddle::poller::interest in_a(a), in_b(b), in_c(c);
  run([&] {
    while (a.asks() < 5 || b.asks() < 5 || c.asks() < 5) heddle::this_thread::yield();
  });
}

TEST_P(pollers, the_function_may_wait) {
  heddle::mutex lock;
  int value = 0;
  std::atomic<int> seen{0};
  heddle::poller p(runtime(), {.bound = 50us, .gap = 0ns}, [&] {
    const std::lock_guard hold(lock);
    heddle::this_thread::yield();
    seen = value;
    return 0;
  });
  const heddle::poller::interest waits(p);
  together(3, 1, [&](int) {
    for (int k = 0; k < 50; ++k) {
      {
        const std::lock_guard hold(lock);
        ++value;
        heddle::this_thread::yield();
      }
      heddle::this_thread::yield();
    }
    progress();
  });
  while (seen != 200) std::this_thread::yield();
}

TEST_P(pollers, nobody_asks_after_the_end) {
  together(3, 2, [&](int i) {
    heddle_test::chance c(static_cast<std::uint64_t>(i));
    for (int k = 0; k < 20; ++k) {
      const auto exists = std::make_shared<std::atomic<bool>>(true);
      {
        heddle::poller p(runtime(), {.bound = 20us, .gap = 0ns}, [exists] {
          EXPECT_TRUE(exists->load());
          return false;
        });
        p.want();
        for (std::uint32_t n = c.below(30); n > 0; --n) heddle::this_thread::yield();
        if (c.below(2) == 0) p.unwant();
      }
      *exists = false;
    }
    progress();
  });
}

TEST_P(pollers, the_function_may_destroy_its_poller) {
  for (const auto& options : {heddle::poller_options{}, workers_only}) {
    std::atomic<bool> may{false}, freed{false};
    std::optional<heddle::poller> p;
    {
      const std::shared_ptr<int> owned(new int(0), [&](const int* n) {
        delete n;
        freed = true;
      });
      p.emplace(runtime(), options, [&, owned] {
        if (!may) return 0;
        p.reset();
        heddle::this_thread::yield();
        EXPECT_FALSE(freed) << "the function runs still";
        return *owned;
      });
    }
    p->want();
    may = true;
    run([&] {
      while (!freed) heddle::this_thread::yield();
    });
    EXPECT_FALSE(p.has_value());
  }
}

TEST_P(pollers, times_that_make_no_sense_are_refused) {
  const auto none = [] { return false; };
  EXPECT_THROW(heddle::poller(runtime(), {.bound = 0ns, .gap = 0ns}, none), std::invalid_argument);
  EXPECT_THROW(heddle::poller(runtime(), {.bound = 1us, .gap = -1ns}, none), std::invalid_argument);
}

HEDDLE_OVER_RUNTIMES(pollers);

}  // namespace
}  // namespace poller_test
