// Gangs under schedules that differ at every atomic operation: threads that spin for their siblings, in more gangs than
// there is room for, nested ones, such as wait besides. None is preemptive: a worker that has a spinning thread is lost
// for all others, so one wrong turn ends in a loop without end, which `spin` finds. Argument:
// src/worker/gangs/gangs.md. Compiled once more for each mistake of cmake/heddle_sim.cmake.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <heddle/detail/gang.hpp>
#include <heddle/heddle.hpp>

#include "policy/registry.hpp"
#include "tests/sim_explore/scenario.hpp"
#include "tests/sim_explore/spinning.hpp"
#include "worker/runtime.hpp"

namespace heddle::sim {
namespace gangs_test {
namespace {

using namespace std::chrono_literals;

// A barrier of the program's own, of which the runtime knows nothing.
class spin_barrier {
 public:
  explicit spin_barrier(int all) : all_(all) {}
  void operator()() {
    const int phase = phase_.load();
    if (here_.fetch_add(1) + 1 == all_) {
      here_.store(0);
      phase_.store(phase + 1);
    } else {
      spin([&] { return phase_.load() != phase; });
    }
  }

 private:
  std::atomic<int> here_{0};
  std::atomic<int> phase_{0};
  const int all_;
};

constexpr std::uint64_t always_late = std::numeric_limits<std::uint64_t>::max();
bool with_gangs = true;
bool taken_in = false;  // threads are in their gangs before they begin, and need no worker to enter them

struct forget {
  void operator()(detail::gang_handle* g) const noexcept { detail::free_gang(g); }
};

// n threads, in a gang. The caller makes and joins them, or is the first of them.
template <class F>
void region(runtime& home, int n, bool leads, F body) {
  const std::unique_ptr<detail::gang_handle, forget> g(with_gangs ? detail::make_gang(&home, static_cast<unsigned>(n))
                                                                  : nullptr);
  if (g != nullptr) detail::begin_gang(g.get(), static_cast<unsigned>(n));
  struct part {
    detail::gang_handle* in;
    bool enters;
    F& body;
    int number;

    void operator()() const {
      if (enters) detail::enter_gang(in, static_cast<unsigned>(number));
      body(number);
      if (in != nullptr) detail::leave_gang();
    }
  };
  const bool enter = g != nullptr && !taken_in;
  thread_options o;
  o.where = &home;
  std::vector<detail::thread_handle*> others;
  for (int i = leads ? 1 : 0; i < n; ++i) {
    const detail::made_thread made = detail::make_thread(
        o, sizeof(part), alignof(part), [](void* room) noexcept { (*static_cast<const part*>(room))(); });
    ::new (made.room) part{g.get(), enter, body, i};
    if (g != nullptr && taken_in) detail::take_into_gang(g.get(), static_cast<unsigned>(i), made.thread);
    detail::start_thread(made.thread);
    others.push_back(made.thread);
  }
  if (leads) part{g.get(), g != nullptr, body, 0}();
  for (detail::thread_handle* t : others) detail::join_thread(t);
}

void spinning_region(runtime& home, int n, bool leads) {
  spin_barrier step(n);
  region(home, n, leads, [&](int) {
    step();
    step();
  });
}

// --- scenarios -----------------------------------------------------------------------------------------------------

// Tasks, each of which has a region as large as there are workers.
void more_than_fit(runtime& home, int n) {
  threads(home, n + 1, [&](int) { spinning_region(home, n, false); });
}

void leaders_of_more(runtime& home, int n) {
  threads(home, n + 1, [&](int) { spinning_region(home, n, true); });
}

// A region in each thread of a region, whose own barrier is the runtime's.
void nested(runtime& home, int n) {
  barrier<> step(n);
  region(home, n, false, [&](int) {
    spinning_region(home, n, false);
    step.arrive_and_wait();
    spinning_region(home, n, true);
  });
}

// The oldest gang, of one thread, begins another one when the worker beside it may be kept by a younger one.
void one_begins_late(runtime& home, int n) {
  threads(home, 2, [&](int i) {
    if (i == 0) region(home, 1, false, [&](int) { spinning_region(home, n, false); });
    else spinning_region(home, n, false);
  });
}

// One sleeps in the runtime while its siblings spin for it; others would like its worker.
void one_sleeps(runtime& home, int n) {
  threads(home, 2, [&](int) {
    spin_barrier step(n);
    region(home, n, false, [&](int i) {
      if (i == 0) this_thread::sleep_for(1us);
      step();
    });
  });
}

// The same, and the worker of the one that sleeps is used by a nested region meanwhile.
void one_sleeps_below(runtime& home, int n) {
  spin_barrier step(n);
  region(home, n, false, [&](int i) {
    for (int k = 0; i < 2 && k < 2; ++k) {
      if (i == 0) this_thread::sleep_for(1us);
      else spinning_region(home, 1, false);
    }
    step();
  });
}

// Two gangs of different threads, and a mutex that all of them take.
void one_lock_for_all(runtime& home, int n) {
  mutex lock;
  threads(home, 2, [&](int) {
    spin_barrier step(n);
    region(home, n, false, [&](int) {
      {
        std::lock_guard hold(lock);
        this_thread::yield();
      }
      step();
    });
  });
}

// A gang that needs all workers may have to wait for a gang of one that is behind it in the order.
void nested_behind(runtime& home, int n) {
  if (n < 3) return;
  threads(home, 2, [&](int i) {
    if (i == 0) {
      region(home, 1, false, [&](int) { spinning_region(home, n, false); });
    } else {
      std::atomic<bool> done{false};
      region(home, 2, false, [&](int k) {
        if (k == 0) {
          spin([&] { return done.load(); });
        } else {
          region(home, 1, false, [](int) {});
          done.store(true);
        }
      });
    }
  });
}

// All members of a gang but one wait, and the last one spins until they have gone on. A gang that took their workers
// meanwhile, and also wants the last worker for an inner region, would keep them for ever.
void others_wait(runtime& home, int n) {
  if (n < 3) return;
  threads(home, 2, [&](int i) {
    if (i == 0) {
      std::atomic<int> gone_on{0};
      latch gate(1);
      region(home, n, false, [&](int k) {
        if (k != 0) {
          gate.wait();
          ++gone_on;
          return;
        }
        for (int looks = 0; looks < 20; ++looks) this_thread::pause();
        gate.count_down();
        spin([&] { return gone_on.load() == n - 1; });
      });
    } else {
      std::atomic<bool> done{false};
      region(home, n - 1, false, [&](int k) {
        if (k != 0) return spin([&] { return done.load(); });
        spinning_region(home, 2, false);
        done.store(true);
      });
    }
  });
}

// A thread of a gang becomes ready at a worker that is kept for as long as it has not run: an idle one takes it,
// which searches, or sleeps, or is on its way there.
void kept_worker(runtime& home, int n) {
  thread_options o;
  o.where = &home;
  for (int patience = 0; patience < 60; patience += 6) {
    std::atomic<int> seated{-1};
    std::atomic<bool> ran{false};
    latch gate(1);
    thread member(o, [&] {
      region(home, 1, true, [&](int) {
        seated.store(home.worker_rank());
        gate.wait();
        ran.store(true);
      });
    });
    thread keeper(o, [&] {
      for (int tries = 0; seated.load() != home.worker_rank() && tries < 3; ++tries) this_thread::yield();
      for (int i = 0; i < patience; ++i) this_thread::pause();
      gate.count_down();
      if (seated.load() >= 0 && n > 1) spin([&] { return ran.load(); });
    });
    member.join();
    keeper.join();
  }
}

void beside_others(runtime& home, int n) {
  thread_options o;
  o.where = &home;
  thread other(o, [&] { spinning_region(home, n, true); });
  on(home, [&] {
    fib(3);
    spinning_region(home, n, false);
  });
  on(home, [] { fib(2); });
  other.join();
}

void packed(runtime& home, int n) {
  home.set_active_workers(1);
  threads(home, 2, [&](int i) {
    spinning_region(home, n, i == 0);
    if (i == 0) home.set_active_workers(static_cast<unsigned>(n));
  });
}

void levels_and_pins(runtime& home, int n) {
  thread_options high, fixed;
  high.where = fixed.where = &home;
  high.priority = priority::high;
  fixed.worker = 0;
  thread a(high, [&] { spinning_region(home, n, false); });
  thread b(fixed, [&] {
    spinning_region(home, n, true);
    require(home.worker_rank() == 0);
  });
  thread c(high, [] { this_thread::yield(); });
  a.join();
  b.join();
  c.join();
}

// Workers are reminded, at any time, of what waits, and threads come from outside: whatever a worker chooses for that
// reason when a member waits, the gang hears of the wait ([gang:9]).
void reminded(runtime& home, int n) {
  thread_options o;
  o.where = &home;
  thread regions(o, [&] { nested(home, n); });
  for (int i = 0; i < 6; ++i) {
    thread from_outside(o, [] { this_thread::yield(); });
    for (int r = 0; r < n; ++r) home.core().at(static_cast<unsigned>(r)).remind(always_late);
    from_outside.join();
  }
  regions.join();
}

struct scenario {
  const char* name;
  void (*run)(runtime& home, int n);
  // A thread spins for a sibling that waits for threads which enter gangs by themselves: the policy has to let a worker
  // that is left have them ([gang:16]).
  bool wants_work_conservation = false;
};

constexpr scenario scenarios[] = {
    {"more regions than fit", more_than_fit},
    {"more regions than fit, with their leaders", leaders_of_more},
    {"nested regions", nested},
    {"one region begins late", one_begins_late},
    {"one thread sleeps", one_sleeps},
    {"one thread sleeps below another", one_sleeps_below, true},
    {"one lock for all", one_lock_for_all},
    {"a nested region behind a larger one", nested_behind, true},
    {"all but one wait", others_wait, true},
    {"a worker is kept", kept_worker},
    {"beside forks and calls", beside_others},
    {"inactive workers", packed},
    {"levels and pinned threads", levels_and_pins},
    {"workers are reminded", reminded},
};

verdict explored(const scenario& s, int n, unsigned count, const char* policy = "random_ws") {
  return explore(
      [&s, n, policy] {
        runtime_options o = workers(static_cast<std::size_t>(n));
        o.policy = policy;
        runtime home(o);
        s.run(home, n);
      },
      count, first_schedule());
}

#if !defined(HEDDLE_MUTANT)

TEST(gangs, each_region_ends) {
  for (const scenario& s : scenarios) {
    for (const int n : {2, 3, 4}) {
      const verdict v = explored(s, n, schedules() / (n == 2 ? 6 : n == 3 ? 10 : 30));
      EXPECT_FALSE(v.failed) << s.name << ", " << n << " workers: schedule " << v.seed << " ended with status "
                             << v.status;
    }
  }
}

// Policies that place threads, limit thieves, or choose first. A thread that is in no gang yet is in their hands: not
// all of them let an idle worker take it from where it stands, perhaps behind one that spins.
TEST(gangs, each_region_ends_under_every_policy) {
  for (const scenario& s : scenarios) {
    for (const char* policy : {"adws", "hws", "pdf", "work_sharing", "slaw"}) {
      if (s.run == packed) continue;  // not all of them pack
      taken_in = s.wants_work_conservation && !policy::make(policy)->wants().work_conserving;
      const verdict v = explored(s, 3, schedules() / 60, policy);
      EXPECT_FALSE(v.failed) << s.name << ", " << policy << ": schedule " << v.seed << " ended with status "
                             << v.status;
    }
  }
  taken_in = false;
}

TEST(gangs, each_region_ends_whose_threads_begin_in_it) {
  taken_in = true;
  for (const scenario& s : scenarios) {
    for (const int n : {2, 3}) {
      const verdict v = explored(s, n, schedules() / 30);
      EXPECT_FALSE(v.failed) << s.name << ", " << n << " workers: schedule " << v.seed << " ended with status "
                             << v.status;
    }
  }
  taken_in = false;
}

// The same threads as ordinary ones.
TEST(gangs, without_them_regions_hang) {
  with_gangs = false;
  for (const scenario& s : {scenarios[0], scenarios[2], scenarios[3]}) {
    const verdict v = explored(s, 2, schedules() / 10);
    EXPECT_TRUE(v.failed) << s.name;
  }
  with_gangs = true;
}

#else

TEST(gangs, some_schedule_shows_the_mistake) {
  expect_found(scenarios, [](const scenario& s) {
    const verdict v = explored(s, 2, schedules());
    return v.failed ? v : explored(s, 3, schedules() / 6);
  });
}

#endif

}  // namespace
}  // namespace gangs_test
}  // namespace heddle::sim
