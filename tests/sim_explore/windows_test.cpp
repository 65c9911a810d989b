// Loops with windows under schedules that differ at every atomic operation: that each iteration runs once, none before
// the window has come to it, and that nobody waits for ever.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>

#include <heddle/cost.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include "tests/sim_explore/scenario.hpp"
#include "windows/window_sample.hpp"

namespace heddle::sim {
namespace windows_test {
namespace {

namespace by = heddle::schedule;

constexpr std::size_t most = 12;

// Checks which of the iterations [0, n) have ended before each begins, by schedule.
void keeps_its_window(std::size_t worker_count, std::size_t n, const loop_schedule& how) {
  runtime home(workers(worker_count));
  on(home, [&] {
    std::array<std::atomic<int>, most> ended{};
    parallel_for(std::size_t{0}, n,
                 [&](std::size_t i) {
                   const std::size_t m = how.chunk, before = how.how == loop_schedule::kind::sliding_window
                                                                 ? (i >= m ? i - m + 1 : 0)
                                                                 : i / m * m;
                   for (std::size_t j = 0; j < before; ++j) require(ended[j].load() == 1);
                   if (i % 3 == 0) this_thread::pause();
                   require(++ended[i] == 1);
                 },
                 {.schedule = how});
    for (std::size_t i = 0; i < n; ++i) require(ended[i].load() == 1);
  });
}

void standing() { keeps_its_window(2, 6, by::window(2)); }
void standing_with_a_rest() { keeps_its_window(2, 5, by::window(2)); }  // whose block never counts as ended
void standing_of_three() { keeps_its_window(3, 9, by::window(3)); }
void sliding() { keeps_its_window(2, 8, by::sliding_window(2)); }
void sliding_of_three() { keeps_its_window(3, 9, by::sliding_window(3)); }
void barriers() { keeps_its_window(2, 6, by::window(2, by::window_sharing::barrier)); }

// The front waits for tasks, for which there is a worker only if those who wait for the window give theirs.
void front_waits() {
  runtime home(workers(2));
  on(home, [] {
    semaphore done(0);
    task_group group;
    parallel_for(std::size_t{0}, std::size_t{5},
                 [&](std::size_t i) {
                   if (i != 0) return;
                   for (int k = 0; k < 2; ++k) group.run([&] { done.release(); });
                   for (int k = 0; k < 2; ++k) done.acquire();
                 },
                 {.schedule = by::sliding_window(2)});
    group.wait();
  });
}

// Each iteration waits for the one before it.
void chained() {
  runtime home(workers(3));
  on(home, [] {
    std::array<semaphore, 7> turn{semaphore(1), semaphore(0), semaphore(0), semaphore(0),
                                  semaphore(0), semaphore(0), semaphore(0)};
    parallel_for(std::size_t{0}, std::size_t{6},
                 [&](std::size_t i) {
                   turn[i].acquire();
                   turn[i + 1].release();
                 },
                 {.schedule = by::sliding_window(4)});
  });
}

// Those who wait for the window have to be told that no more of it will begin.
void thrown() {
  runtime home(workers(3));
  on(home, [] {
    bool caught = false;
    try {
      parallel_for(std::size_t{0}, std::size_t{9},
                   [&](std::size_t i) {
                     this_thread::pause();
                     if (i == 1) throw 1;
                   },
                   {.schedule = by::window(2)});
    } catch (int) {
      caught = true;
    }
    require(caught);
  });
}

// Costs are told, and cost nothing.
constexpr heddle_cost_model no_costs{[](double) {},
                                     [](const void*, std::size_t, int) {},
                                     0,
                                     nullptr,
                                     nullptr,
                                     [](const heddle_cost_rows*, std::size_t, std::size_t) {}};

// A loop's accesses are listened to while a thread that can be preempted tells of its own, and the sample ends on the
// same worker: that must not spin for the thread.
void sampling() {
  runtime_options o = workers(1);
  o.preempt_interval = std::chrono::microseconds(10);
  o.preempt_timer = "aligned";
  o.preempt_klt = "direct";
  runtime home(o);
  heddle_cost = &no_costs;
  detail::window_sample sample(4, 64);
  require(sample.is_on());
  const char line[64] = {};
  thread_options where;
  where.where = &home;
  thread_options can_be_preempted = where;
  can_be_preempted.preemption = preemption::klt_switching;
  thread tells(can_be_preempted, [&] {
    for (int i = 0; i < 8; ++i) {
      const bool heard = sample.enter(0);
      cost::read(line, sizeof line);
      if (heard) sample.leave(0);  // so no iterations are counted, and no window is computed
    }
  });
  thread ends(where, [&] { static_cast<void>(sample.window(2)); });
  tells.join();
  ends.join();
}

constexpr scenario scenarios[] = {{"standing", standing},
                                  {"standing with a rest", standing_with_a_rest},
                                  {"standing of three", standing_of_three},
                                  {"sliding", sliding},
                                  {"sliding of three", sliding_of_three},
                                  {"barriers", barriers},
                                  {"front waits", front_waits},
                                  {"chained", chained},
                                  {"thrown", thrown},
                                  {"sampling", sampling}};

#if !defined(HEDDLE_MUTANT)

class windows : public testing::TestWithParam<scenario> {};

TEST_P(windows, are_right) { expect_right(GetParam().run); }

INSTANTIATE_TEST_SUITE_P(scenarios, windows, testing::ValuesIn(scenarios), named);

#else

TEST(windows, some_schedule_shows_the_mistake) { expect_found(scenarios); }

#endif

}  // namespace
}  // namespace windows_test
}  // namespace heddle::sim
