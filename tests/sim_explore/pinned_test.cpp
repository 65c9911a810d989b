// Pinned threads under schedules that differ at every atomic operation: no worker sleeps, or is inactive, while a
// thread that is pinned to it is ready, and none runs elsewhere. As many as there are workers wait for each other
// without letting go of theirs: a worker that sleeps on ends in a stall. Argument: src/worker/gangs/pinned.md. Compiled
// once more for each mistake of cmake/heddle_sim.cmake.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <heddle/heddle.hpp>
#include <heddle/pause.hpp>

#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace pinned_test {
namespace {

using namespace std::chrono_literals;

thread_options to(runtime& home, int worker) {
  thread_options o;
  o.where = &home;
  o.worker = static_cast<std::uint16_t>(worker);
  return o;
}

// Ends when `all` of them have begun.
class meeting {
 public:
  explicit meeting(int all) : all_(all) {}
  void operator()() {
    here_.fetch_add(1);
    while (here_.load() < all_) this_thread::pause();
  }

 private:
  std::atomic<int> here_{0};
  const int all_;
};

void meet_on(runtime& home, int worker, meeting& m) {
  require(home.worker_rank() == worker);
  m();
  require(home.worker_rank() == worker);
}

// All of a runtime's workers, from the one that makes them and from outside.
void all_meet(runtime& home, int n) {
  meeting m(n);
  std::vector<thread> all;
  for (int i = 0; i < n; ++i) all.emplace_back(to(home, i), [&, i] { meet_on(home, i, m); });
  for (thread& t : all) t.join();
  on(home, [&] {
    meeting again(n);
    std::vector<thread> made;
    for (int i = 0; i < n; ++i) made.emplace_back(to(home, i), [&, i] { meet_on(home, i, again); });
    for (thread& t : made) t.join();
  });
}

// They wait before, and whoever comes last wakes the others.
void all_wake(runtime& home, int n) {
  meeting m(n);
  barrier<> step(n);
  std::vector<thread> all;
  for (int i = 0; i < n; ++i) {
    all.emplace_back(to(home, i), [&, i] {
      step.arrive_and_wait();
      meet_on(home, i, m);
    });
  }
  for (thread& t : all) t.join();
}

// Beside forks that thieves look for, and calls of foreign kernel threads, which take workers.
void beside_others(runtime& home, int n) {
  meeting m(n);
  latch gate(1);
  std::vector<thread> all;
  for (int i = 0; i < n; ++i) {
    all.emplace_back(to(home, i), [&, i] {
      gate.wait();
      require(home.worker_rank() == i && fib(2) == 1 && home.worker_rank() == i);
      meet_on(home, i, m);
    });
  }
  on(home, [&] {
    fib(3);
    gate.count_down();
    fib(2);
  });
  on(home, [] { fib(3); });
  for (thread& t : all) t.join();
  on(home, [&] {  // of the worker that is with a caller for this call, perhaps, to a caller that does not wait
    std::atomic<bool> ran{false};
    thread here(to(home, home.worker_rank()), [&] { ran.store(true); });
    while (!ran.load()) {
      this_thread::yield();
      this_thread::pause();  // as all that looks at memory: others have their turn
    }
    here.join();
  });
}

// Their worker is inactive, or is about to, or comes back.
void inactive(runtime& home, int n) {
  home.set_active_workers(1);
  meeting m(n), again(n);
  barrier<> step(n);
  std::vector<thread> all;
  for (int i = 0; i < n; ++i) {
    all.emplace_back(to(home, i), [&, i] {
      meet_on(home, i, m);
      step.arrive_and_wait();
      if (i == 0) home.set_active_workers(static_cast<unsigned>(n));
      meet_on(home, i, again);
    });
  }
  for (thread& t : all) t.join();
  on(home, [] { fib(2); });
}

// It is switched on and off while a thread becomes ready that is pinned to it.
void switched(runtime& home, int n) {
  home.set_active_workers(1);
  meeting m(n);
  latch gate(1);
  std::vector<thread> all;
  for (int i = 1; i < n; ++i) {
    all.emplace_back(to(home, i), [&, i] {
      gate.wait();
      meet_on(home, i, m);
    });
  }
  all.emplace_back(to(home, 0), [&] {
    this_thread::yield();
    home.set_active_workers(static_cast<unsigned>(n));
    gate.count_down();
    home.set_active_workers(1);
    meet_on(home, 0, m);
  });
  for (thread& t : all) t.join();
}

// They join threads that end on another worker.
void joining(runtime& home, int n) {
  std::vector<thread> all;
  for (int i = 0; i < n; ++i) {
    all.emplace_back(to(home, i), [&, i, n] {
      for (int k = 1; k <= 2; ++k) {
        thread(to(home, (i + k) % n), [] { this_thread::yield(); }).join();
        require(home.worker_rank() == i);
      }
    });
  }
  for (thread& t : all) t.join();
}

void timed(runtime& home, int n) {
  meeting m(n);
  std::vector<thread> all;
  for (int i = 0; i < n; ++i) {
    all.emplace_back(to(home, i), [&, i] {
      this_thread::sleep_for(1us);
      meet_on(home, i, m);
    });
  }
  for (thread& t : all) t.join();
}

// One sleeps until its time has come. A worker that is kept meanwhile does not look at the clock.
void one_sleeps(runtime& home, int n) {
  for (int kept = 0; kept < n; ++kept) {
    std::atomic<bool> awake{false};
    thread_options anywhere;
    anywhere.where = &home;
    thread sleeper(anywhere, [&] {
      this_thread::sleep_for(1us);
      awake.store(true);
    });
    thread keeper(to(home, kept), [&] {
      while (!awake.load()) this_thread::pause();
    });
    sleeper.join();
    keeper.join();
  }
}

struct scenario {
  const char* name;
  void (*run)(runtime& home, int n);
};

constexpr scenario scenarios[] = {
    {"new threads meet", all_meet},
    {"woken threads meet", all_wake},
    {"beside forks and calls", beside_others},
    {"inactive workers", inactive},
    {"a worker is switched on and off", switched},
    {"threads join others", joining},
    {"threads whose time comes", timed},
    {"one sleeps", one_sleeps},
};

verdict explored(const scenario& s, int n, unsigned count) {
  return explore(
      [&s, n] {
        runtime home(workers(static_cast<std::size_t>(n)));
        s.run(home, n);
      },
      count, first_schedule());
}

#if !defined(HEDDLE_MUTANT)

TEST(pinned, each_is_found_by_its_worker_alone) {
  for (const scenario& s : scenarios) {
    for (const int n : {2, 3}) {
      const verdict v = explored(s, n, schedules() / 4);
      EXPECT_FALSE(v.failed) << s.name << ", " << n << " workers: schedule " << v.seed << " ended with status "
                             << v.status;
    }
  }
}

#else

TEST(pinned, some_schedule_shows_the_mistake) {
  expect_found(scenarios, [](const scenario& s) { return explored(s, 2, 3 * schedules() / 2); });
}

#endif

}  // namespace
}  // namespace pinned_test
}  // namespace heddle::sim
