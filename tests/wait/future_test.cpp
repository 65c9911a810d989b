// promise, future, async, then, when_all: values of every kind, exceptions, what is broken.
#include <heddle/future.hpp>
#include <heddle/latch.hpp>
#include <heddle/mutex.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "support/waiting.hpp"

namespace future_test {
namespace {

using namespace std::chrono_literals;

class futures : public heddle_test::waiting {};

template <class F>
std::future_errc error_of(F&& f) {
  try {
    f();
  } catch (const std::future_error& e) {
    return static_cast<std::future_errc>(e.code().value());
  }
  ADD_FAILURE() << "no std::future_error";
  return {};
}

TEST_P(futures, async_returns_values_references_and_nothing) {
  int target = 7;
  together(3, 1, [&](int i) {
    EXPECT_EQ(heddle::async([i] { return i * 2; }).get(), i * 2);
    EXPECT_EQ(&heddle::async(runtime(), [&]() -> int& { return target; }).get(), &target);
    EXPECT_EQ(*heddle::async([p = std::make_unique<int>(i)]() mutable { return std::move(p); }).get(), i);
    std::atomic<bool> done{false};
    heddle::future<void> nothing = heddle::async([&] { done = true; });
    nothing.get();
    EXPECT_TRUE(done.load());
    EXPECT_FALSE(nothing.valid());
  });
}

TEST_P(futures, async_takes_arguments) {
  run([] {
    int target = 0;
    auto sum = heddle::async([](int a, std::unique_ptr<int> b, int& out) { return out = a + *b; }, 1,
                             std::make_unique<int>(2), std::ref(target));
    EXPECT_EQ(sum.get(), 3);
    EXPECT_EQ(target, 3);
    EXPECT_EQ(
        heddle::async(heddle::thread_options{.name = "named"}, [](int a, int b) { return a * b; }, 6, 7).get(), 42);
    EXPECT_EQ(heddle::async(heddle::runtime::current(), [](std::string s) { return s + "b"; }, "a").get(), "ab");
  });
}

TEST_P(futures, exceptions_reach_get) {
  together(3, 1, [&](int) {
    EXPECT_THROW(heddle::async([]() -> int { throw std::runtime_error("x"); }).get(), std::runtime_error);
    EXPECT_THROW(heddle::async([] { throw std::logic_error("x"); }).get(), std::logic_error);
    struct unwilling {
      unwilling() = default;
      unwilling(const unwilling&) { throw std::range_error("x"); }
    };
    heddle::promise<unwilling> p;
    const unwilling value;
    p.set_value(value);
    EXPECT_THROW(p.get_future().get(), std::range_error);
  });
}

TEST_P(futures, many_wait_for_theirs_while_others_work) {
  std::atomic<long> sum{0};
  together(8, 2, [&](int i) {
    std::vector<heddle::future<int>> all;
    for (int k = 0; k < 50; ++k)
      all.push_back(heddle::async(runtime(), [i, k] {
        heddle::this_thread::yield();
        return i * 100 + k;
      }));
    for (auto& f : all) sum += f.get();
    progress();
  });
  EXPECT_EQ(sum.load(), 50L * 100 * 45 + 10L * 1225);
}

TEST_P(futures, a_promise_is_kept_from_anywhere) {
  for (int k = 0; k < 100 * heddle_test::stress(); ++k) {
    heddle::promise<std::string> p;
    heddle::future<std::string> f = p.get_future();
    together(1, 1, [&](int i) {
      heddle_test::chance c(k * 2 + i);
      c.maybe_yield();
      if (i == k % 2) p.set_value("kept");
      else EXPECT_EQ(f.get(), "kept");
    });
    progress();
  }
}

TEST_P(futures, misuse_is_an_error) {
  run([] {
    heddle::future<int> none;
    EXPECT_FALSE(none.valid());
    EXPECT_EQ(error_of([&] { none.get(); }), std::future_errc::no_state);
    EXPECT_EQ(error_of([&] { none.then([](int) {}); }), std::future_errc::no_state);
    EXPECT_EQ(error_of([&] { heddle::when_all(std::move(none)); }), std::future_errc::no_state);
    heddle::promise<int> p;
    heddle::future<int> f = p.get_future();
    EXPECT_EQ(error_of([&] { p.get_future(); }), std::future_errc::future_already_retrieved);
    p.set_value(1);
    EXPECT_EQ(error_of([&] { p.set_value(2); }), std::future_errc::promise_already_satisfied);
    EXPECT_EQ(error_of([&] { p.set_exception(std::make_exception_ptr(1)); }),
              std::future_errc::promise_already_satisfied);
    EXPECT_TRUE(f.is_ready());
    EXPECT_EQ(f.get(), 1);
    heddle::promise<void> moved_from;
    heddle::promise<void> other = std::move(moved_from);
    EXPECT_EQ(error_of([&] { moved_from.set_value(); }), std::future_errc::no_state);
  });
}

TEST_P(futures, a_promise_that_goes_is_broken) {
  run([] {
    heddle::future<int> f;
    heddle::thread waits;
    {
      heddle::promise<int> p;
      f = p.get_future();
      waits = heddle::thread([&] { EXPECT_EQ(error_of([&] { f.get(); }), std::future_errc::broken_promise); });
      heddle::this_thread::yield();
    }
    waits.join();
    heddle::promise<int> q;
    f = q.get_future();
    q = heddle::promise<int>();
    EXPECT_EQ(error_of([&] { f.get(); }), std::future_errc::broken_promise);
  });
}

TEST_P(futures, a_time_limit_ends_the_wait) {
  heddle::promise<int> p;
  heddle::future<int> f = p.get_future();
  run([&] { EXPECT_EQ(f.wait_for(1ms), std::future_status::timeout); });
  EXPECT_EQ(f.wait_until(std::chrono::system_clock::now() + 1ms), std::future_status::timeout);
  p.set_value(1);
  EXPECT_EQ(f.wait_for(0s), std::future_status::ready);
}

TEST_P(futures, then_chains_values_and_passes_exceptions_on) {
  together(3, 1, [&](int i) {
    auto f = heddle::async(runtime(), [i] { return i; }).then([](int x) { return x + 1; }).then([](int x) {
      return std::to_string(x);
    });
    EXPECT_EQ(f.get(), std::to_string(i + 1));

    std::atomic<int> calls{0};
    auto failed =
        heddle::async([]() -> int { throw std::runtime_error("first"); }).then([&](int) { ++calls; }).then([&] {
          ++calls;
        });
    EXPECT_THROW(failed.get(), std::runtime_error);
    EXPECT_EQ(calls.load(), 0);

    auto generic = heddle::async([] { return 3; }).then([](auto x) { return x + 1; });  // no body for a future
    EXPECT_EQ(generic.get(), 4);
    auto nothing = heddle::async([] {}).then([](auto before) { return before.is_ready(); });  // fits the future only
    EXPECT_TRUE(nothing.get());
    auto repaired =
        heddle::async([]() -> int { throw std::runtime_error("first"); }).then([](heddle::future<int> before) {
          try {
            return before.get();
          } catch (const std::runtime_error&) {
            return -1;
          }
        });
    EXPECT_EQ(repaired.get(), -1);

    auto later = heddle::async([] { return 1; }).then([](int) -> int { throw std::logic_error("then"); });
    EXPECT_THROW(later.get(), std::logic_error);
    auto move_only =
        heddle::async([] { return std::make_unique<int>(5); }).then([](std::unique_ptr<int> p) { return *p; });
    EXPECT_EQ(move_only.get(), 5);
    heddle::make_ready_future().then([&] { ++calls; }).get();
    EXPECT_EQ(calls.load(), 1);
  });
}

// A continuation runs on a thread of its own, so it may wait for a lock that the setter holds.
TEST_P(futures, a_continuation_does_not_run_on_the_setters_stack) {
  run([] {
    heddle::mutex m;
    heddle::promise<int> p;
    auto f = p.get_future().then([&](int x) {
      std::lock_guard hold(m);
      return x;
    });
    {
      std::lock_guard hold(m);
      p.set_value(3);
      EXPECT_FALSE(f.is_ready());
    }
    EXPECT_EQ(f.get(), 3);
  });
}

TEST_P(futures, when_all_waits_for_all_and_keeps_each_result) {
  together(3, 1, [&](int i) {
    int target = 0;
    heddle::promise<void> p;
    auto all =
        heddle::when_all(heddle::async(runtime(), [i] { return i; }), heddle::async([&]() -> int& { return target; }),
                         p.get_future(), heddle::async([]() -> int { throw std::runtime_error("one of them"); }));
    EXPECT_FALSE(all.is_ready());
    p.set_value();
    auto [number, reference, nothing, failed] = all.get();
    EXPECT_TRUE(number.is_ready() && reference.is_ready() && nothing.is_ready() && failed.is_ready());
    EXPECT_EQ(number.get(), i);
    EXPECT_EQ(&reference.get(), &target);
    nothing.get();
    EXPECT_THROW(failed.get(), std::runtime_error);
    heddle::when_all().get();

    std::vector<heddle::future<int>> many;
    for (int k = 0; k < 100; ++k) many.push_back(heddle::async(runtime(), [k] { return k; }));
    int sum = 0;
    for (auto& f : heddle::when_all(std::move(many)).get()) sum += f.get();
    EXPECT_EQ(sum, 4950);
    EXPECT_TRUE(heddle::when_all(std::vector<heddle::future<int>>()).get().empty());
    progress();
  });
}

TEST_P(futures, results_nobody_asks_for_are_destroyed) {
  auto counted = std::make_shared<int>(0);
  run([&] {
    for (int k = 0; k < 100; ++k) {
      auto f = heddle::async([counted] { return counted; });
      if (k % 2 == 0) f.then([](std::shared_ptr<int> p) { return p; });
    }
    while (counted.use_count() > 1) heddle::this_thread::yield();
  });
  EXPECT_EQ(counted.use_count(), 1);
}

HEDDLE_OVER_RUNTIMES(futures);

}  // namespace
}  // namespace future_test
