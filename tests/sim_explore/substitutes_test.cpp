// All workers sit in system calls that end only by work that waits (src/worker/carriers/substitutes.md), under
// schedules that differ at every atomic operation. A schedule in which no substitute comes, or in which one takes work
// along when it goes, ends in a stall. Compiled once more for each mistake of mutants/substitutes.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <vector>

#include "tests/sim_explore/clock.hpp"

namespace heddle::sim {
namespace substitutes_test {
namespace {

// The first half of each fork waits for the second one.
void forks(int depth) {
  if (depth == 0) return;
  system_call call;
  parallel_invoke([&] { call.wait(); },
                  [&] {
                    forks(depth - 1);
                    call.end();
                  });
}
template <std::size_t Workers>
void of_forks() {
  runtime home(clocked(Workers));
  on(home, [] { forks(3); });
}

// Each child waits for its own child.
template <std::size_t Workers>
void of_children() {
  runtime home(clocked(Workers));
  on(home, [] {
    std::atomic<int> ended{0};
    task_group outer;
    for (int i = 0; i < 3; ++i) {
      outer.run([&ended] {
        system_call call;
        task_group inner;
        inner.run([&call] { call.end(); });
        call.wait();
        inner.wait();
        ended.fetch_add(1);
      });
    }
    outer.wait();
    require(ended.load() == 3);
  });
}

// Each thread waits for the one that is made after it.
template <std::size_t Workers>
void of_threads() {
  runtime home(clocked(Workers));
  std::array<system_call, 4> calls;
  thread_options where;
  where.where = &home;
  std::vector<thread> all;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    all.emplace_back(where, [&calls, i] {
      if (i + 1 != calls.size()) calls[i + 1].wait();
      calls[i].end();
    });
  }
  for (thread& t : all) t.join();
}

// A time limit ends the call.
void of_timers() {
  runtime home(clocked(1));
  on(home, [] {
    system_call call;
    thread sleeps([&] {
      this_thread::sleep_for(std::chrono::microseconds(20));
      call.end();
    });
    call.wait();
    sleeps.join();
  });
}

// The substitute's thread frees the worker, and blocks itself beside what is queued at it: the worker does not see
// that.
void of_substitutes() {
  runtime home(clocked(1));
  on(home, [] {
    system_call first, second;
    parallel_invoke([&] { first.wait(); },
                    [&] {
                      parallel_invoke(
                          [&] {
                            first.end();
                            second.wait();
                          },
                          [&] { second.end(); });
                    });
  });
}

// The same with a thread that computes, and spins for what is queued at it.
void of_spinning() {
  runtime home(clocked(1));
  on(home, [] {
    system_call first;
    std::atomic<bool> done{false};
    parallel_invoke([&] { first.wait(); },
                    [&] {
                      parallel_invoke(
                          [&] {
                            first.end();
                            while (!done.load()) this_thread::pause();
                          },
                          [&] { done.store(true); });
                    });
  });
}

// The call ends while the substitute is in the middle of its work, some of which waits: all of it comes to an end.
template <std::size_t Workers>
void ends_early() {
  runtime home(clocked(Workers));
  system_call call;
  std::atomic<int> ended{0};
  thread_options where;
  where.where = &home;
  std::vector<thread> all;
  for (std::size_t i = 0; i < Workers; ++i) all.emplace_back(where, [&] { call.wait(); });
  for (int i = 0; i < 3; ++i) {
    all.emplace_back(where, [&] {
      thread other([&] {
        compute();
        ended.fetch_add(1);
      });
      require(fib(3) == 2);
      this_thread::yield();
      other.join();
    });
  }
  for (int i = 0; i < 20; ++i) compute();
  call.end();
  for (thread& t : all) t.join();
  require(ended.load() == 3);
}

constexpr scenario scenarios[] = {{"forks on one", of_forks<1>},
                                  {"forks on two", of_forks<2>},
                                  {"children on one", of_children<1>},
                                  {"children on two", of_children<2>},
                                  {"threads on one", of_threads<1>},
                                  {"threads on two", of_threads<2>},
                                  {"timers", of_timers},
                                  {"substitutes that block", of_substitutes},
                                  {"substitutes that spin", of_spinning},
                                  {"ends early on one", ends_early<1>},
                                  {"ends early on two", ends_early<2>}};

#if !defined(HEDDLE_MUTANT)

class substitutes : public testing::TestWithParam<scenario> {};

TEST_P(substitutes, end_what_all_wait_for) { expect_right(GetParam().run); }

INSTANTIATE_TEST_SUITE_P(scenarios, substitutes, testing::ValuesIn(scenarios), named);

#else

TEST(substitutes, some_schedule_shows_the_mistake) { expect_found(scenarios); }

#endif

}  // namespace
}  // namespace substitutes_test
}  // namespace heddle::sim
