// Preemption under schedules that differ at every atomic operation, with ticks at any of them: the border between user
// code and the runtime, the hand-over of a worker from a preempted thread's kernel thread, and the end of all that.
// Compiled once more for each mistake of sim/CMakeLists.txt, of which at least one schedule has to show it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <heddle/heddle.hpp>
#include <heddle/pause.hpp>

#include "platform/platform.hpp"
#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace preempt_test {
namespace {

runtime_options preemptive(std::size_t n, preemption how, const char* timer = "aligned", const char* klt = "direct") {
  runtime_options o = workers(n);
  o.preempt = how;
  o.preempt_interval = std::chrono::microseconds(10);
  o.preempt_timer = timer;
  o.preempt_klt = klt;
  return o;
}

// Time slices of the usual length, until a tick finds somebody in a pause ([slice:4]).
runtime_options shortened(std::size_t n, preemption how) {
  runtime_options o = preemptive(n, how);
  o.preempt_interval.reset();
  return o;
}

// `count` threads of the runtime's kind run body(i), at the same time if there is preemption.
template <class F>
void together(runtime& home, int count, F body) {
  thread_options where;
  where.where = &home;
  std::vector<thread> all;
  for (int i = 0; i < count; ++i) all.emplace_back(where, [&body, i] { body(i); });
  for (thread& t : all) t.join();
}

void spinning_barrier(const runtime_options& o, int threads) {
  runtime home(o);
  std::atomic<int> arrived{0};
  together(home, threads, [&](int) {
    for (int phase = 1; phase <= 2; ++phase) {
      arrived.fetch_add(1);
      while (arrived.load() < phase * threads) this_thread::pause();
    }
  });
  require(arrived.load() == 2 * threads);
}

// Preempted threads use the runtime: forks, joins, groups, waits. Each result must come once.
void work_of_all_kinds(const runtime_options& o) {
  runtime home(o);
  std::atomic<int> done{0};
  mutex lock;
  int inside = 0;
  together(home, 3, [&](int) {
    require(fib(4) == 3);
    task_group group;
    group.run([&] { done.fetch_add(1); });
    group.run([&] { done.fetch_add(1); });
    group.wait();
    {
      std::lock_guard hold(lock);
      require(inside++ == 0);
      this_thread::yield();
      --inside;
    }
  });
  require(done.load() == 6);
}

// One that is not preemptive beside two that are, on one worker.
void kinds_side_by_side() {
  runtime home(workers(1));
  std::atomic<int> arrived{0};
  std::vector<thread> all;
  for (const preemption how : {preemption::signal_yield, preemption::klt_switching}) {
    thread_options where;
    where.where = &home;
    where.preemption = how;
    all.emplace_back(where, [&] {
      arrived.fetch_add(1);
      while (arrived.load() < 3) this_thread::pause();
    });
  }
  on(home, [&] { arrived.fetch_add(1); });
  for (thread& t : all) t.join();
}

void packed(preemption how) {
  runtime home(preemptive(2, how));
  std::atomic<int> arrived{0};
  home.set_active_workers(1);
  together(home, 3, [&](int) {
    arrived.fetch_add(1);
    while (arrived.load() < 3) this_thread::pause();
  });
  home.set_active_workers(2);
  together(home, 2, [&](int) {
    arrived.fetch_add(1);
    while (arrived.load() < 5) this_thread::pause();
  });
}

// A preempted thread is among the ready threads of a worker that goes on with a thread which is not preemptive and
// waits for it. The other worker must be told, because the first one does not come back to it.
void left_behind(preemption how, const char* klt) {
  runtime home(preemptive(2, preemption::none, "aligned", klt));
  std::atomic<int> asked{0}, answered{0};
  thread_options where;
  where.where = &home;
  thread_options can_be_preempted = where;
  can_be_preempted.preemption = how;
  thread answers(can_be_preempted, [&] {
    for (int round = 1; round <= 3; ++round) {
      while (asked.load() < round) this_thread::pause();
      answered.store(round);
    }
  });
  for (int round = 1; round <= 3; ++round) {
    thread asks(where, [&, round] {
      asked.store(round);
      while (answered.load() < round) this_thread::pause();
    });
    asks.join();
  }
  answers.join();
}

// Blocking calls of threads of either kind while others are preempted: the carriers come from the creator.
void blocking_calls(preemption how) {
  runtime home(preemptive(1, preemption::none));
  std::atomic<int> arrived{0};
  std::vector<thread> all;
  for (int i = 0; i < 3; ++i) {
    thread_options where;
    where.where = &home;
    if (i != 1) where.preemption = how;
    all.emplace_back(where, [&, i] {
      if (i != 2) blocking([&] { arrived.fetch_add(1); });
      else arrived.fetch_add(1);
      while (i != 1 && arrived.load() < 3) this_thread::pause();
    });
  }
  for (thread& t : all) t.join();
}

// As many threads as workers spin, above the one that they spin for.
void spinning_above(preemption how, int lower, int higher) {
  runtime_options o = preemptive(2, how);
  o.priority_aging = 1;
  runtime home(o);
  std::atomic<bool> done{false};
  thread_options t;
  t.where = &home;
  t.priority = priority{higher};
  std::vector<thread> all;
  for (int i = 0; i < 2; ++i) {
    all.emplace_back(t, [&] {
      while (!done.load()) this_thread::pause();
    });
  }
  t.priority = priority{lower};
  all.emplace_back(t, [&] { done.store(true); });
  for (thread& one : all) one.join();
}

// A low thread makes way at once for what becomes ready at another worker, which is kept: no tick of a timer comes
// before ten seconds have passed. [evict:1]
void makes_way_at_once(preemption how, int higher) {
  using namespace std::chrono_literals;
  runtime_options o = workers(2);
  o.preempt_interval = 10s;
  runtime home(o);
  const platform::nanoseconds begin = platform::now();
  thread_options low, normal, other;
  low.where = normal.where = other.where = &home;
  low.preemption = how;
  low.priority = priority::low;
  other.priority = priority{higher};
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> there{false}, ran{false};
    thread below(low, [&] {
      there.store(true);
      while (!ran.load()) this_thread::pause();
    });
    while (!there.load()) this_thread::pause();
    thread(normal, [&] {
      thread above(other, [&] { ran.store(true); });
      while (!ran.load()) this_thread::pause();
      above.join();
    }).join();
    below.join();
  }
  require(platform::now() - begin < 1'000'000'000);
}

struct scenario {
  const char* name;
  std::function<void()> run;
};

std::vector<scenario> scenarios() {
  return {
      {"signal_yield: a barrier on one worker", [] { spinning_barrier(preemptive(1, preemption::signal_yield), 3); }},
      {"signal_yield: a barrier on two", [] { spinning_barrier(preemptive(2, preemption::signal_yield), 4); }},
      {"signal_yield: a barrier, ticks in a chain",
       [] { spinning_barrier(preemptive(2, preemption::signal_yield, "chain"), 4); }},
      {"signal_yield: work of all kinds", [] { work_of_all_kinds(preemptive(2, preemption::signal_yield)); }},
      {"klt_switching: a barrier on one worker", [] { spinning_barrier(preemptive(1, preemption::klt_switching), 3); }},
      {"klt_switching: a barrier on two", [] { spinning_barrier(preemptive(2, preemption::klt_switching), 4); }},
      {"klt_switching: a barrier, ticks in a chain",
       [] { spinning_barrier(preemptive(2, preemption::klt_switching, "chain"), 3); }},
      {"klt_switching: a barrier, naive",
       [] { spinning_barrier(preemptive(2, preemption::klt_switching, "aligned", "naive"), 3); }},
      {"klt_switching: a barrier, local pools, one timer",
       [] { spinning_barrier(preemptive(2, preemption::klt_switching, "one-to-all", "local"), 3); }},
      {"klt_switching: work of all kinds", [] { work_of_all_kinds(preemptive(2, preemption::klt_switching)); }},
      {"kinds side by side", kinds_side_by_side},
      {"signal_yield: left behind", [] { left_behind(preemption::signal_yield, "direct"); }},
      {"klt_switching: left behind", [] { left_behind(preemption::klt_switching, "direct"); }},
      {"klt_switching: left behind, local pools", [] { left_behind(preemption::klt_switching, "local"); }},
      {"signal_yield: blocking calls", [] { blocking_calls(preemption::signal_yield); }},
      {"klt_switching: blocking calls", [] { blocking_calls(preemption::klt_switching); }},
      {"signal_yield: packed", [] { packed(preemption::signal_yield); }},
      {"signal_yield: a low thread under high ones", [] { spinning_above(preemption::signal_yield, -1, 1); }},
      {"signal_yield: a normal thread under high ones", [] { spinning_above(preemption::signal_yield, 0, 1); }},
      {"klt_switching: a low thread under normal ones", [] { spinning_above(preemption::klt_switching, -1, 0); }},
      {"klt_switching: packed", [] { packed(preemption::klt_switching); }},
      {"signal_yield: makes way at once", [] { makes_way_at_once(preemption::signal_yield, 0); }},
      {"signal_yield: makes way at once for a high one", [] { makes_way_at_once(preemption::signal_yield, 1); }},
      {"klt_switching: makes way at once", [] { makes_way_at_once(preemption::klt_switching, 0); }},
      {"signal_yield: a barrier, turns that get short",
       [] { spinning_barrier(shortened(2, preemption::signal_yield), 4); }},
      {"klt_switching: a barrier, turns that get short",
       [] { spinning_barrier(shortened(2, preemption::klt_switching), 4); }},
  };
}

#if !defined(HEDDLE_MUTANT)

class preempt : public ::testing::TestWithParam<std::size_t> {};

TEST_P(preempt, holds_in_all_explored_schedules) {
  const scenario s = scenarios()[GetParam()];
  SCOPED_TRACE(s.name);
  expect_right(s.run, schedules() / 2);
}

INSTANTIATE_TEST_SUITE_P(scenarios, preempt, ::testing::Range(std::size_t{0}, scenarios().size()));

TEST(preempt, threads_that_spin_for_each_other_without_it_are_reported) {
  const verdict v = explore([] { spinning_barrier(workers(1), 3); }, 20);
  EXPECT_TRUE(v.failed);
  EXPECT_EQ(v.status, stall_status);
}

#else

TEST(preempt, some_schedule_shows_the_mistake) {
  expect_found(scenarios(), [](const scenario& s) { return explore(s.run, schedules()); });
}

#endif

}  // namespace
}  // namespace preempt_test
}  // namespace heddle::sim
