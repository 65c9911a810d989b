// sleep_for, sleep_until: not too short; a sleeping thread holds up nobody.
#include <heddle/latch.hpp>
#include <heddle/sleep.hpp>

#include <atomic>

#include "support/waiting.hpp"

namespace sleep_test {
namespace {

using namespace std::chrono_literals;

class sleeping : public heddle_test::waiting {};

TEST_P(sleeping, lasts_at_least_as_long_as_asked) {
  together(20, 2, [&](int i) {
    heddle_test::chance c(i);
    for (int k = 0; k < 5; ++k) {
      const auto time = std::chrono::microseconds(c.below(3000));
      const auto start = std::chrono::steady_clock::now();
      if (k % 2 == 0) heddle::this_thread::sleep_for(time);
      else heddle::this_thread::sleep_until(start + time);
      EXPECT_GE(std::chrono::steady_clock::now() - start, time);
    }
    const auto until = std::chrono::system_clock::now() + 1ms;
    heddle::this_thread::sleep_until(until);
    EXPECT_GE(std::chrono::system_clock::now(), until);
    progress();
  });
}

TEST_P(sleeping, the_past_is_no_sleep) {
  together(2, 1, [&](int) {
    heddle::this_thread::sleep_for(-1h);
    heddle::this_thread::sleep_for(0s);
    heddle::this_thread::sleep_until(std::chrono::steady_clock::time_point{});
    heddle::this_thread::sleep_until(std::chrono::system_clock::time_point{});
  });
}

// The sleep would last for an hour, so the stop is what ends it.
TEST_P(sleeping, a_stop_ends_a_sleep) {
  for (int k = 0; k < 20 * heddle_test::stress(); ++k) {
    std::stop_source stop;
    together(4, 1, [&](int i) {
      heddle_test::chance c(k * 8 + i);
      c.maybe_yield();
      if (i == 4) stop.request_stop();
      else if (i % 2 == 0) EXPECT_FALSE(heddle::this_thread::sleep_for(1h, stop.get_token()));
      else EXPECT_FALSE(heddle::this_thread::sleep_until(std::chrono::system_clock::now() + 1h, stop.get_token()));
    });
    EXPECT_FALSE(heddle::this_thread::sleep_for(-1h, stop.get_token())) << "requested before the call";
    progress();
  }
  std::stop_source never;
  EXPECT_TRUE(heddle::this_thread::sleep_for(1ms, never.get_token()));
  EXPECT_TRUE(heddle::this_thread::sleep_for(0s, never.get_token()));
  EXPECT_TRUE(heddle::this_thread::sleep_for(1ms, std::stop_token{}));
}

// A thousand sleepers; the others on the same workers are done long before: ordered by events, not by time.
TEST_P(sleeping, others_run_meanwhile) {
  run([&] {
    heddle::latch worked(100);
    std::vector<heddle::thread> all;
    for (int i = 0; i < 1000 / heddle_test::fewer; ++i) {
      all.emplace_back([&] {
        heddle::this_thread::sleep_for(1ms);
        worked.wait();
      });
    }
    for (int i = 0; i < 100; ++i) all.emplace_back([&] { worked.count_down(); });
    for (auto& t : all) t.join();
  });
}

HEDDLE_OVER_RUNTIMES(sleeping);

}  // namespace
}  // namespace sleep_test
