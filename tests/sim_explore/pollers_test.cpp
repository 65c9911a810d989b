// Pollers under schedules that differ at every atomic operation: no ask is lost, none comes twice at a time or after
// the end. Compiled once more for each mistake of cmake/heddle_sim.cmake.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>

#include <heddle/heddle.hpp>
#include <heddle/pause.hpp>

#include "platform/platform.hpp"
#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace pollers_test {
namespace {

using namespace std::chrono_literals;

// An ask completes what was posted.
struct device {
  std::atomic<int> posted{0}, completed{0};
  std::atomic<bool> asks{false};
  event_count changed;

  int ask() {
    require(!asks.exchange(true));
    const int all = posted.load();
    const int found = all - completed.load();
    completed.store(all);
    if (found != 0) changed.notify_all();
    require(asks.exchange(false));
    return found;
  }
  void use(poller& p) {
    const poller::interest waits(p);
    const int mine = posted.fetch_add(1) + 1;
    changed.await([&] { return completed.load() >= mine; });
  }
};

// Threads of the runtime wait, now and then with nobody else awake.
void requests() {
  runtime home(workers(2));
  device d;
  poller p(home, {.bound = 5us, .gap = 0us}, [&d] { return d.ask(); });
  on(home, [&] {
    thread other([&] { d.use(p); });
    d.use(p);
    other.join();
    d.use(p);
  });
  while (p.found() != 3) this_thread::pause();  // the last ask returns
}

// A foreign kernel thread waits; all workers sleep, or compute.
void from_outside() {
  runtime home(workers(1));
  device d;
  std::atomic<bool> had{false};
  poller p(home, {.bound = 5us, .gap = 1us}, [&d] { return d.ask(); });
  d.use(p);
  thread_options o;
  o.where = &home;
  thread computes(o, [&] {
    while (!had.load()) this_thread::pause();
  });
  d.use(p);
  had = true;
  computes.join();
}

// A poller ends while it is asked, by whomever.
void ends() {
  runtime home(workers(2));
  on(home, [&] {
    std::atomic<bool> exists{true};
    std::atomic<int> calls{0};
    {
      poller p(home, {.bound = 1us, .gap = 0us}, [&] {
        require(exists.load());
        calls.fetch_add(1);
        require(exists.load());
        return 0;
      });
      p.want();
      while (calls.load() == 0) {
        this_thread::yield();
        this_thread::pause();
      }
    }
    exists = false;
    this_thread::yield();
  });
}

// It is ended by its own function.
void ends_itself() {
  runtime home(workers(1));
  std::atomic<bool> may{false}, over{false};
  std::optional<poller> p;
  p.emplace(home, poller_options{.bound = 1us, .gap = 0us}, [&] {
    if (!may.load()) return 0;
    require(!over.load());
    p.reset();
    over = true;
    return 1;
  });
  p->want();
  may = true;
  while (!over.load()) this_thread::pause();
}

constexpr scenario scenarios[] = {
    {"requests", requests}, {"from_outside", from_outside}, {"ends", ends}, {"ends_itself", ends_itself}};

#if defined(HEDDLE_MUTANT)
TEST(pollers, a_mistake_shows) { expect_found(scenarios); }
#else
TEST(pollers, no_ask_is_lost_twice_at_a_time_or_too_late) {
  for (const scenario& s : scenarios) {
    SCOPED_TRACE(s.name);
    expect_right(s.run);
  }
}
#endif

}  // namespace
}  // namespace pollers_test
}  // namespace heddle::sim
