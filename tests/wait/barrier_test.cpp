// barrier: phases, completion function, dropping out.
#include <heddle/barrier.hpp>
#include <heddle/mutex.hpp>

#include <array>
#include <atomic>
#include <mutex>

#include "support/waiting.hpp"

namespace barrier_test {
namespace {

class barriers : public heddle_test::waiting {};

TEST_P(barriers, nobody_is_a_phase_ahead) {
  constexpr int threads = 6;
  const int phases = 200 * heddle_test::stress();
  std::array<std::atomic<int>, threads> at{};
  heddle::barrier meeting(threads);
  together(4, 2, [&](int i) {
    heddle_test::chance c(i);
    for (int p = 1; p <= phases; ++p) {
      at[i] = p;
      c.maybe_yield();
      meeting.arrive_and_wait();
      for (const auto& other : at) EXPECT_GE(other.load(), p);
      meeting.arrive_and_wait();
    }
    progress();
  });
}

TEST_P(barriers, the_completion_runs_once_a_phase_before_anybody_goes_on) {
  constexpr int phases = 100;
  int completed = 0;  // not atomic: the barrier orders it
  heddle::mutex m;
  auto completion = [&]() noexcept {
    std::lock_guard hold(m);  // it may wait
    ++completed;
  };
  heddle::barrier meeting(5, completion);
  together(4, 1, [&](int i) {
    heddle_test::chance c(i);
    for (int p = 1; p <= phases; p += 3) {
      c.maybe_yield();
      meeting.arrive_and_wait();
      EXPECT_EQ(completed, p);
      meeting.wait(meeting.arrive());
      EXPECT_EQ(completed, p + 1);
      meeting.arrive_and_wait();  // nobody reads `completed` while the next phase may end
    }
    progress();
  });
}

TEST_P(barriers, who_drops_out_is_not_waited_for) {
  constexpr int threads = 6;
  std::atomic<int> completions{0};
  auto completion = [&]() noexcept { ++completions; };
  heddle::barrier meeting(threads, completion);
  together(4, 2, [&](int i) {
    for (int p = 0; p < 10 * i; ++p) meeting.arrive_and_wait();
    meeting.arrive_and_drop();
  });
  EXPECT_EQ(completions.load(), 10 * (threads - 1) + 1);
}

TEST_P(barriers, arrivals_may_be_counted_together) {
  heddle::barrier meeting(10);
  run([&] {
    auto token = meeting.arrive(9);
    heddle::thread other([&] { meeting.wait(meeting.arrive(1)); });
    meeting.wait(std::move(token));
    other.join();
  });
}

HEDDLE_OVER_RUNTIMES(barriers);

}  // namespace
}  // namespace barrier_test
