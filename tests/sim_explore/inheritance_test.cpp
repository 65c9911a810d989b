// Priorities are strict, and as many threads as workers spin above one that holds a mutex until a still higher one,
// which waits for it, has had it. That ends if the holder is with a caller the level of who waits, wherever it stands.
// Compiled once more for each mistake of cmake/heddle_sim.cmake.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include <heddle/heddle.hpp>
#include <heddle/pause.hpp>

#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace inheritance_test {
namespace {

using namespace std::chrono_literals;

struct levels {
  int holder, middle, waiter;
};

runtime_options strict(std::size_t n, preemption how) {
  runtime_options o = workers(n);
  o.preempt = how;
  o.preempt_interval = 10us;
  o.priority_mode = priority_mode::strict;
  return o;
}

thread_options at(runtime& home, int level) {
  thread_options o;
  o.where = &home;
  o.priority = priority{level};
  return o;
}

void spin_until(const std::atomic<bool>& flag) {
  while (!flag.load()) this_thread::pause();
}

// Between the holder and who waits for it stand so many more, each of which holds what the next one waits for.
void held_below(preemption how, int count, const levels& l, int between = 0) {
  runtime home(strict(static_cast<std::size_t>(count), how));
  // Waits that begin before the process has its first thread with a level pass nothing on: inheritance.md, "Not
  // covered".
  thread(at(home, l.waiter), [] {}).join();
  std::vector<mutex> locks(static_cast<std::size_t>(between) + 1);
  std::atomic<bool> waits{false}, had{false};
  std::vector<thread> all;
  for (int i = 0; i <= between; ++i) {
    latch held(1);
    all.emplace_back(at(home, l.holder), [&, i, &held = held] {
      const auto here = static_cast<std::size_t>(i);
      std::lock_guard hold(locks[here]);
      held.count_down();
      if (i == 0) return spin_until(waits);
      std::lock_guard other(locks[here - 1]);
    });
    held.wait();
  }
  all.emplace_back(at(home, l.waiter), [&] {
    waits.store(true);
    std::lock_guard hold(locks.back());
    had.store(true);
  });
  for (int i = 0; i < count; ++i) all.emplace_back(at(home, l.middle), [&] { spin_until(had); });
  for (thread& t : all) t.join();
}

// Waits with a time limit that come to nothing beside others that do not, a condition, and foreign kernel threads:
// nothing is with a caller for ever, and nobody is left without it.
void given_up(preemption how) {
  runtime home(strict(2, how));
  mutex lock;
  condition_variable changed;
  int stage = 0;
  std::atomic<int> had{0};
  std::vector<thread> all;
  all.emplace_back(at(home, -1), [&] {
    std::unique_lock hold(lock);
    while (stage == 0) changed.wait(hold);
    for (int i = 0; i < 30; ++i) this_thread::pause();
    ++stage;
  });
  for (const int level : {1, 2}) {
    all.emplace_back(at(home, level), [&] {
      if (!lock.try_lock_for(1us)) {
        std::lock_guard hold(lock);
        had.fetch_add(1);
        return;
      }
      had.fetch_add(1);
      lock.unlock();
    });
  }
  all.emplace_back(at(home, 0), [&] {
    std::lock_guard hold(lock);
    ++stage;
    changed.notify_all();
  });
  {
    std::lock_guard hold(lock);
    had.fetch_add(1);
  }
  for (thread& t : all) t.join();
  require(had.load() == 3 && stage == 2);
}

constexpr scenario scenarios[] = {
    {"a low holder under a normal thread", [] { held_below(preemption::signal_yield, 1, {-1, 0, 1}); }},
    {"a low holder under normal threads on two workers", [] { held_below(preemption::signal_yield, 2, {-1, 0, 1}); }},
    {"a normal holder under high threads", [] { held_below(preemption::signal_yield, 2, {0, 1, 2}); }},
    {"a normal holder under high threads, by KLT-switching",
     [] { held_below(preemption::klt_switching, 2, {0, 1, 2}); }},
    {"a high holder under higher threads", [] { held_below(preemption::signal_yield, 1, {1, 2, 3}); }},
    {"holders that wait for holders", [] { held_below(preemption::signal_yield, 1, {-1, 0, 1}, 2); }},
    {"normal holders that wait for holders", [] { held_below(preemption::signal_yield, 2, {0, 1, 2}, 2); }},
    {"waits given up", [] { given_up(preemption::signal_yield); }},
};

#if !defined(HEDDLE_MUTANT)

TEST(inheritance, who_holds_is_not_held_up_by_those_between) {
  for (const scenario& s : scenarios) {
    const verdict v = explore(s.run, schedules() / 3, first_schedule());
    EXPECT_FALSE(v.failed) << s.name << ": schedule " << v.seed << " ended with status " << v.status;
  }
}

#else

TEST(inheritance, some_schedule_shows_the_mistake) {
  expect_found(scenarios, [](const scenario& s) { return explore(s.run, schedules() / 3, first_schedule()); });
}

#endif

}  // namespace
}  // namespace inheritance_test
}  // namespace heddle::sim
