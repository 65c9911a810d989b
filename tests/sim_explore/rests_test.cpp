// Nobody sleeps beside work, under scenarios in which nobody waits for it: a strand that pauses in code of the user's
// rests there, in two schedules of three, until all others sleep or rest, too. At that moment nobody is on the way to
// anything, and the runtime has to keep what it promises ([conserving:1] of src/sync/sleep.md). So a wake-up that was
// left out is found where it was, and not only where all workers are needed at once.
#include <heddle/detail/crowd.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <vector>

#include "platform/platform.hpp"
#include "policy/registry.hpp"
#include "tests/sim_explore/leaves.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::sim {
namespace rests_test {
namespace {

void numbers(runtime& home) {
  long value = 0;
  on(home, [&] { value = fib(6); });
  require(value == 8);
}

// A root thread each, from outside, of which some take long.
void roots(runtime& home) {
  std::vector<thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(in(home), [] {
      for (int j = 0; j < 3; ++j) this_thread::pause();
    });
    this_thread::pause();
  }
  for (thread& t : all) t.join();
}

// The same from a kernel thread that has the processor of one of the workers ([wake:6]).
void roots_beside_a_worker(runtime& home) {
  require(home.core().at(1).processing_unit >= 0);
  require(platform::bind_self(home.core().at(1).processing_unit));
  roots(home);
  require(platform::bind_self(-1));
}

void threads_of_threads(runtime& home) {
  on(home, [] {
    std::vector<thread> all;
    for (int i = 0; i < 3; ++i) {
      all.emplace_back([] { this_thread::pause(); });
      this_thread::pause();
    }
    for (thread& t : all) t.join();
  });
}

void children(runtime& home) {
  on(home, [] {
    task_group group;
    for (int i = 0; i < 5; ++i) {
      group.run([] { this_thread::pause(); });
      if (i % 2 == 0) this_thread::pause();
    }
    group.wait();
  });
}

void wakers(runtime& home) {
  on(home, [] {
    latch gate(1);
    std::vector<thread> all;
    for (int i = 0; i < 3; ++i) {
      all.emplace_back([&] {
        gate.wait();
        this_thread::pause();
      });
    }
    this_thread::yield();
    gate.count_down();
    this_thread::pause();
    for (thread& t : all) t.join();
  });
}

// A thread leaves its worker for one that sleeps, and what comes meanwhile is found.
void leavers(runtime& home) {
  std::vector<thread> all;
  for (int i = 0; i < 3; ++i) {
    all.emplace_back(in(home), [] {
      this_thread::pause();
      static_cast<void>(detail::go_elsewhere());
      this_thread::pause();
    });
    this_thread::pause();
  }
  for (thread& t : all) t.join();
}

void messages(runtime& home) {
  on(home, [] {
    channel<int> c(1);
    std::atomic<int> sum{0};
    const auto receive = [&] {
      while (const auto value = c.receive()) {
        sum.fetch_add(*value);
        this_thread::pause();
      }
    };
    thread first(receive), second(receive);
    for (int i = 0; i < 4; ++i) {
      require(c.send(1));
      this_thread::pause();
    }
    c.close();
    first.join();
    second.join();
    require(sum.load() == 4);
  });
}

struct scenario {
  const char* name;
  void (*run)(runtime&);
};
constexpr scenario scenarios[] = {{"numbers", numbers},
                                  {"roots", roots},
                                  {"roots beside a worker", roots_beside_a_worker},
                                  {"threads of threads", threads_of_threads},
                                  {"children", children},
                                  {"wakers", wakers},
                                  {"leavers", leavers},
                                  {"messages", messages}};

verdict explored_with(const scenario& s, const char* policy, unsigned count) {
  return explore(
      [&] {
        runtime_options o = workers(3);
        o.bind = "on";  // a processor is one worker's
        o.policy = policy;
        runtime home(o);
        s.run(home);
      },
      count, first_schedule());
}

#if !defined(HEDDLE_MUTANT)

class rests : public testing::TestWithParam<scenario> {};

TEST_P(rests, find_nobody_asleep_beside_work) {
  for (const char* policy : {"random_ws", "adws", "ml-ws"}) {
    const bool often = policy[0] == 'r';
    const verdict v = explored_with(GetParam(), policy, often ? schedules() : schedules() / 10);
    EXPECT_FALSE(v.failed) << policy << ", schedule " << v.seed << " ended with status " << v.status;
  }
}

INSTANTIATE_TEST_SUITE_P(scenarios, rests, testing::ValuesIn(scenarios), named);

#else

TEST(rests, some_schedule_shows_the_mistake) {
  expect_found(scenarios, [](const scenario& s) { return explored_with(s, "random_ws", schedules()); });
}

#endif

}  // namespace
}  // namespace rests_test
}  // namespace heddle::sim
