// Objects that threads wait for, their time limits, and what goes on beside waits: inactive workers, threads of
// higher levels, foreign kernel threads while a runtime ends. Compiled once more for each mistake of
// cmake/heddle_sim.cmake. (Waits with a stop token are tests/wait's: std::stop_callback tells threads apart by kernel
// threads, of which a simulation has one.)
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include <heddle/heddle.hpp>
#include <heddle/pause.hpp>

#include "platform/platform.hpp"
#include "tests/sim_explore/scenario.hpp"
#include "tests/sim_explore/spinning.hpp"

namespace heddle::sim {
namespace waits_test {
namespace {

using namespace std::chrono_literals;

// Counts who is inside, with a point between.
struct inside {
  std::atomic<int> readers{0}, writers{0};

  void read() {
    readers.fetch_add(1);
    require(writers.load() == 0);
    this_thread::yield();
    require(writers.load() == 0);
    readers.fetch_sub(1);
  }
  void write() {
    require(writers.fetch_add(1) == 0 && readers.load() == 0);
    this_thread::yield();
    require(writers.fetch_sub(1) == 1 && readers.load() == 0);
  }
};

void readers_and_writers() {
  runtime home(workers(3));
  shared_mutex lock;
  inside who;
  threads(home, 4, [&](int i) {
    for (int round = 0; round < 2; ++round) {
      if (i % 2 == 0) {
        std::shared_lock hold(lock);
        who.read();
      } else {
        std::unique_lock hold(lock);
        who.write();
      }
    }
  });
}

void readers_and_writers_with_limits() {
  runtime home(workers(2));
  shared_mutex lock;
  inside who;
  std::atomic<int> had{0};
  threads(home, 4, [&](int i) {
    for (int round = 0; round < 2; ++round) {
      if (i == 0) {
        std::unique_lock hold(lock);
        who.write();
        had.fetch_add(1);
      } else if (i % 2 == 0) {
        std::shared_lock hold(lock, 300ns);
        if (hold.owns_lock()) who.read();
      } else {
        std::unique_lock hold(lock, 300ns);
        if (hold.owns_lock()) who.write();
      }
    }
  });
  require(had.load() == 2);
  std::unique_lock hold(lock, std::try_to_lock);
  require(hold.owns_lock());
}

void phases_of_a_barrier() {
  runtime home(workers(3));
  int completed = 0;
  const auto count = [&]() noexcept { ++completed; };
  barrier meeting(3, count);
  threads(home, 3, [&](int i) {
    for (int phase = 0; phase < 3; ++phase) {
      if (i == 2 && phase == 2) return meeting.arrive_and_drop();
      meeting.arrive_and_wait();
      require(completed > phase);
    }
  });
  require(completed == 3);
}

void latches() {
  runtime home(workers(3));
  for (int round = 0; round < 2; ++round) {
    latch gate(2);
    std::atomic<int> through{0};
    threads(home, 4, [&](int i) {
      if (i < 2) gate.count_down();
      else gate.wait();
      if (i >= 2) through.fetch_add(1);
    });
    require(through.load() == 2);
  }
}

void futures() {
  runtime home(workers(3));
  on(home, [] {
    promise<int> first;
    future<int> given = first.get_future();
    promise<int> second;
    future<int> limited = second.get_future();
    std::atomic<int> sum{0};
    thread waits([&] {
      future<int> next = given.then([](int value) { return value + 1; });
      sum.fetch_add(next.get());
    });
    thread tries([&] {
      while (limited.wait_for(300ns) != future_status::ready) this_thread::yield();
      sum.fetch_add(limited.get());
    });
    thread gives([&] {
      first.set_value(1);
      second.set_value(10);
    });
    waits.join();
    tries.join();
    gives.join();
    require(sum.load() == 12);
  });
}

// Tokens handed on under a mutex; who runs out of time comes again.
void conditions_with_limits() {
  runtime home(workers(3));
  mutex lock;
  condition_variable changed;
  int tokens = 0;
  std::atomic<int> taken{0};
  threads(home, 4, [&](int i) {
    if (i >= 2) {
      {
        std::lock_guard hold(lock);
        ++tokens;
      }
      return changed.notify_one();
    }
    std::unique_lock hold(lock);
    const auto there = [&] { return tokens > 0; };
    if (i == 0) changed.wait(hold, there);
    else
      while (!changed.wait_for(hold, 300ns, there)) {
      }
    --tokens;
    taken.fetch_add(1);
  });
  require(taken.load() == 2 && tokens == 0);
}

// Workers are inactive, and come back, while threads wait with them.
void inactive_with_waits() {
  runtime home(workers(3));
  mutex lock;
  latch gate(3);
  int sum = 0;
  std::vector<thread> all;
  thread_options where;
  where.where = &home;
  for (int i = 0; i < 3; ++i) {
    all.emplace_back(where, [&] {
      gate.arrive_and_wait();
      for (int round = 0; round < 2; ++round) {
        std::lock_guard hold(lock);
        this_thread::yield();
        ++sum;
      }
      this_thread::sleep_for(200ns);
    });
    home.set_active_workers(i == 1 ? 3 : 1);
  }
  home.set_active_workers(2);
  for (thread& t : all) t.join();
  require(sum == 6);
}

// Each worker runs a low thread that spins for what a high one does: an eviction makes way for it, or the next tick.
void evictions(preemption how) {
  runtime_options o = workers(2);
  o.preempt = how;
  o.preempt_interval = 10us;
  runtime home(o);
  std::atomic<int> here{0};
  std::atomic<bool> done{false};
  thread_options low, high;
  low.where = high.where = &home;
  low.priority = priority::low;
  high.priority = priority::high;
  std::vector<thread> all;
  for (int i = 0; i < 2; ++i) {
    all.emplace_back(low, [&] {
      here.fetch_add(1);
      while (!done.load()) this_thread::pause();
    });
  }
  while (here.load() < 2) this_thread::pause();
  all.emplace_back(high, [&] { done.store(true); });
  for (thread& t : all) t.join();
}

// A thread that a foreign kernel thread makes ready is the last that keeps a runtime alive. It may end, and the runtime
// with it, before the foreign call does.
struct last_calls {
  semaphore first{0}, second{0};
};
void release_first(void* data) { static_cast<last_calls*>(data)->first.release(); }
void release_second(void* data) { static_cast<last_calls*>(data)->second.release(); }
void foreign_resumes_at_the_end() {
  last_calls calls;
  platform::kernel_thread one, other;
  std::atomic<int> ended{0};
  {
    runtime home(workers(2));
    thread_options where;
    where.where = &home;
    thread(where, [&] {
      calls.first.acquire();
      ended.fetch_add(1);
    }).detach();
    thread(where, [&] {
      calls.second.acquire();
      ended.fetch_add(1);
    }).detach();
    require(platform::start(one, release_first, &calls, "one") == 0);
    require(platform::start(other, release_second, &calls, "other") == 0);
  }
  require(ended.load() == 2);
  platform::join(one);
  platform::join(other);
}

constexpr scenario scenarios[] = {{"readers and writers", readers_and_writers},
                                  {"readers and writers with limits", readers_and_writers_with_limits},
                                  {"phases of a barrier", phases_of_a_barrier},
                                  {"latches", latches},
                                  {"futures", futures},
                                  {"conditions with limits", conditions_with_limits},
                                  {"inactive with waits", inactive_with_waits},
                                  {"evictions by signal yield", [] { evictions(preemption::signal_yield); }},
                                  {"evictions by klt switching", [] { evictions(preemption::klt_switching); }},
                                  {"foreign resumes at the end", foreign_resumes_at_the_end}};

#if !defined(HEDDLE_MUTANT)

class waits : public testing::TestWithParam<scenario> {};

TEST_P(waits, end_as_they_should) { expect_right(GetParam().run); }

INSTANTIATE_TEST_SUITE_P(scenarios, waits, testing::ValuesIn(scenarios), named);

#else

TEST(waits, some_schedule_shows_the_mistake) { expect_found(scenarios); }

#endif

}  // namespace
}  // namespace waits_test
}  // namespace heddle::sim
