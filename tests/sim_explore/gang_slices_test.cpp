// Gangs of preemptive threads under schedules that differ at every atomic operation, with ticks at any of them. They
// spin for what is in other gangs, or in none, so that all of it ends only if gangs take turns. Argument: [gang:12] to
// [gang:15] of src/worker/gangs/gangs.md. Compiled once more for each mistake of cmake/heddle_sim.cmake.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <vector>

#include <heddle/detail/gang.hpp>
#include <heddle/heddle.hpp>

#include "tests/sim_explore/scenario.hpp"
#include "tests/sim_explore/spinning.hpp"

namespace heddle::sim {
namespace gang_turns_test {
namespace {

using namespace std::chrono_literals;

runtime_options preemptive(int n, preemption how) {
  runtime_options o = workers(static_cast<std::size_t>(n));
  o.preempt = how;
  o.preempt_interval = 10us;
  return o;
}

// body(i) on n threads, in a gang.
template <class F>
void region(runtime& home, int n, F body) {
  team_options o;
  o.where = &home;
  o.threads = static_cast<unsigned>(n);
  team(o).run([&](team_member& self) { body(static_cast<int>(self.number())); });
}

// A token goes round the members of all gangs, `size` of them in each.
void ring(runtime& home, int gangs, int size) {
  std::atomic<int> token{0};
  threads(home, gangs, [&](int g) {
    region(home, size, [&](int i) {
      const int turn = i * gangs + g;
      spin([&] { return token.load() == turn; });
      token.store(turn + 1);
    });
  });
  require(token.load() == gangs * size);
}

void as_large_as_the_workers(runtime& home, int n) { ring(home, 2, n); }

void larger_than_the_workers(runtime& home, int n) { ring(home, 2, n + 1); }

// Every worker has siblings beside the one that runs: what begins the other gang must get by ([gang:13]).
void twice_as_large(runtime& home, int n) { ring(home, 2, 2 * n); }

// All members wait for a thread that is in no gang.
void beside_a_thread(runtime& home, int n) {
  std::atomic<int> done{0};
  thread_options o;
  o.where = &home;
  thread other(o, [&] {
    spin([&] { return done.load() == n; });
    done.store(-1);
  });
  region(home, n, [&](int) {
    done.fetch_add(1);
    spin([&] { return done.load() < 0; });
  });
  other.join();
}

// There is one gang more than there are workers, each of one thread. So one always waits to be put on, and takes a
// worker as soon as a time slice ends there.
void more_gangs_beside_a_thread(runtime& home, int n) {
  std::atomic<int> spinning{0};
  thread_options o;
  o.where = &home;
  thread other(o, [&] {
    spin([&] { return spinning.load() == n + 1; });
    spinning.store(-1);
  });
  threads(home, n + 1, [&](int) {
    detail::gang_handle* const gang = detail::make_gang(&home, 1);
    detail::begin_gang(gang, 1);
    detail::enter_gang(gang, 0);
    spinning.fetch_add(1);
    spin([&] { return spinning.load() < 0; });
    detail::leave_gang();
    detail::free_gang(gang);
  });
  other.join();
}

// Those of a nested gang spin for their elders, which spin for a third gang.
void nested(runtime& home, int n) {
  std::atomic<int> stage{0};
  threads(home, 2, [&](int g) {
    if (g == 1)
      return region(home, n, [&](int i) {
        spin([&] { return stage.load() == i; });
        stage.fetch_add(1);
      });
    region(home, 2, [&](int i) {
      if (i == 0) {
        region(home, n, [&](int) { spin([&] { return stage.load() > n; }); });
      } else {
        spin([&] { return stage.load() == n; });
        stage.fetch_add(1);
      }
    });
  });
}

// One waits in the runtime from time to time.
void some_wait(runtime& home, int n) {
  mutex lock;
  std::atomic<int> left{2 * n};
  threads(home, 2, [&](int) {
    region(home, n, [&](int i) {
      if (i == 0) this_thread::sleep_for(1us);
      {
        std::lock_guard hold(lock);
        this_thread::yield();
      }
      left.fetch_sub(1);
      spin([&] { return left.load() == 0; });
    });
  });
}

struct scenario {
  const char* name;
  void (*run)(runtime& home, int n);
};

constexpr scenario scenarios[] = {
    {"as large as the workers", as_large_as_the_workers},
    {"larger than the workers", larger_than_the_workers},
    {"twice as large as the workers", twice_as_large},
    {"beside a thread", beside_a_thread},
    {"more gangs beside a thread", more_gangs_beside_a_thread},
    {"nested", nested},
    {"some wait", some_wait},
};

verdict explored(const scenario& s, int n, unsigned count, preemption how) {
  return explore(
      [&s, n, how] {
        runtime home(preemptive(n, how));
        s.run(home, n);
      },
      count, first_schedule());
}

#if !defined(HEDDLE_MUTANT)

TEST(gang_slices, each_region_ends) {
  for (const scenario& s : scenarios) {
    for (const preemption how : {preemption::signal_yield, preemption::klt_switching}) {
      for (const int n : {2, 3}) {
        const verdict v = explored(s, n, schedules() / (n == 2 ? 20 : 60), how);
        EXPECT_FALSE(v.failed) << s.name << ", " << n << " workers: schedule " << v.seed << " ended with status "
                               << v.status;
      }
    }
  }
}

#else

TEST(gang_slices, some_schedule_shows_the_mistake) {
  expect_found(scenarios, [](const scenario& s) { return explored(s, 2, schedules() / 10, preemption::signal_yield); });
}

#endif

}  // namespace
}  // namespace gang_turns_test
}  // namespace heddle::sim
