// Arenas: their workers rest, are woken, carried, and left, under schedules that differ at every atomic operation.
// src/worker/arenas/arenas.md.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include <heddle/heddle.hpp>

#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace arenas_test {
namespace {

arena_options of(runtime& home, unsigned most, std::optional<std::vector<unsigned>> where = {}) {
  return {.max_concurrency = most, .workers = std::move(where), .where = &home};
}

// A call comes while the last one's worker falls asleep.
void called_again() {
  runtime home(workers(2));
  arena a(of(home, 1));
  for (int i = 0; i < 3; ++i) require(a.execute([i] { return i; }) == i);
}

// Both places are needed, or this does not end.
void both_places() {
  runtime home(workers(2));
  arena a(of(home, 2));
  a.execute([] {
    std::atomic<bool> begun{false};
    parallel_invoke(
        [&] {
          while (!begun.load()) this_thread::pause();
        },
        [&] { begun.store(true); });
  });
}

// No more than one at once, whoever carries it.
void one_place() {
  runtime home(workers(2));
  arena a(of(home, 1));
  std::atomic<int> inside{0}, done{0};
  for (int i = 0; i < 4; ++i) {
    a.enqueue([&] {
      require(inside.fetch_add(1) == 0);
      done.fetch_add(1);
      inside.fetch_sub(1);
    });
  }
  a.wait();
  require(done.load() == 4);
}

void waits_inside() {
  runtime home(workers(2));
  arena a(of(home, 1));
  a.execute([] {
    latch met(2);
    thread other([&] { met.arrive_and_wait(); });
    met.arrive_and_wait();
    other.join();
  });
}

// Worker 0 spins: worker 1, which may carry the arena's worker, has to come, whatever it was about to do.
void of_one_worker() {
  runtime home(workers(3));
  arena a(of(home, 1, std::vector<unsigned>{1, 2}));
  std::atomic<bool> begun{false};
  thread_options first{.where = &home};
  first.worker = 1;
  thread busy(first, [&] {
    while (!begun.load()) this_thread::pause();
  });
  thread something_else(thread_options{.where = &home}, [] {});
  a.enqueue([&] { begun.store(true); });
  busy.join();
  something_else.join();
  a.wait();
}

// The worker goes back to its runtime, where something waits, though the arena has work without an end.
void comes_back() {
  runtime home(workers(1));
  arena a(of(home, 1));
  std::atomic<bool> stop{false};
  struct again : job {
    explicit again(std::atomic<bool>& s) noexcept
        : job([](job& self) noexcept {
            auto& me = static_cast<again&>(self);
            if (me.stop.load()) return;
            this_thread::pause();  // else it may run for ever before anything else does
            submit(me);
          }),
          stop(s) {}
    std::atomic<bool>& stop;
  } it(stop);
  a.submit(it);
  thread outside(thread_options{.where = &home}, [&] { stop.store(true); });
  outside.join();
  a.wait();
}

void nested() {
  runtime home(workers(2));
  arena outer(of(home, 2));
  outer.execute([] {
    arena inner(arena_options{.max_concurrency = 1});
    std::atomic<int> done{0};
    inner.enqueue([&] { done.fetch_add(1); });
    require(inner.execute([&] { return done.load() >= 0; }));
    inner.wait();
    require(done.load() == 1);
  });
}

// Its end comes while its workers fall asleep.
void ends_at_once() {
  runtime home(workers(2));
  std::atomic<int> done{0};
  {
    arena a(of(home, 2));
    a.enqueue([&] { done.fetch_add(1); });
    a.enqueue([&] { done.fetch_add(1); });
  }
  require(done.load() == 2);
}

class arenas : public testing::TestWithParam<scenario> {};

TEST_P(arenas, are_right_under_every_schedule) { expect_right(GetParam().run, schedules() / 3); }

INSTANTIATE_TEST_SUITE_P(all, arenas,
                         testing::Values(scenario{"called again", called_again}, scenario{"both places", both_places},
                                         scenario{"one place", one_place}, scenario{"waits inside", waits_inside},
                                         scenario{"of one worker", of_one_worker}, scenario{"comes back", comes_back},
                                         scenario{"nested", nested}, scenario{"ends at once", ends_at_once}),
                         named);

}  // namespace
}  // namespace arenas_test
}  // namespace heddle::sim
