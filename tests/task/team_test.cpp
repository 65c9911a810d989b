// team: gangs whose threads spin for each other, barriers with and without tasks, single; nested, from the main thread
// and from several, preemptive threads, exceptions.
#include <heddle/detail/gang.hpp>
#include <heddle/mutex.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/pause.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/sleep.hpp>
#include <heddle/team.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/preemption.hpp"
#include "support/runtimes.hpp"
#include "support/sanitized.hpp"
#include "support/spinning_barrier.hpp"
#include "worker/runtime.hpp"

namespace team_test {
namespace {

using namespace std::chrono_literals;

using heddle_test::spinning_barrier;

heddle::team_options in(heddle::runtime& where, unsigned threads = 0) {
  heddle::team_options o;
  o.where = &where;
  o.threads = threads;
  return o;
}

heddle::thread_options at(heddle::runtime& where) {
  heddle::thread_options o;
  o.where = &where;
  return o;
}

class teams : public heddle_test::over_runtimes {};

TEST_P(teams, members_spin_for_each_other) {
  heddle::team t(in(runtime()));
  ASSERT_EQ(t.size(), runtime().workers());
  for (int round = 0; round < 5; ++round) {
    spinning_barrier step(t.size());
    std::vector<int> calls(t.size());
    t.run([&](heddle::team_member& self) {
      EXPECT_EQ(self.size(), t.size());
      step();
      ++calls[self.number()];
      step();
    });
    for (const int n : calls) EXPECT_EQ(n, 1);
  }
}

TEST_P(teams, more_of_them_than_fit) {
  run([&] {
    std::vector<heddle::thread> all;
    for (int i = 0; i < 6; ++i) {
      all.emplace_back([&] {
        heddle::team t(in(runtime()));
        for (int round = 0; round < 3; ++round) {
          spinning_barrier step(t.size());
          t.run([&](heddle::team_member&) {
            step();
            step();
          });
        }
      });
    }
    for (heddle::thread& t : all) t.join();
  });
}

TEST_P(teams, nested) {
  heddle::team outer(in(runtime(), 3));
  std::atomic<int> inner_calls{0};
  outer.run([&](heddle::team_member& self) {
    for (int round = 0; round < 3; ++round) {
      heddle::team inner(in(runtime()));
      spinning_barrier step(inner.size());
      inner.run([&](heddle::team_member&) {
        step();
        inner_calls.fetch_add(1);
        step();
      });
      self.barrier();
    }
  });
  EXPECT_EQ(inner_calls.load(), static_cast<int>(9 * runtime().workers()));
}

TEST_P(teams, from_several_foreign_threads) {
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      heddle::team t(in(runtime()));
      for (int round = 0; round < 5; ++round) {
        spinning_barrier step(t.size());
        t.run([&](heddle::team_member& self) {
          step();
          self.barrier();
          step();
        });
      }
    });
  }
  for (std::thread& t : callers) t.join();
}

TEST_P(teams, barriers_execute_tasks) {
  heddle::team t(in(runtime(), 3));
  std::atomic<int> done{0}, seen{0};
  t.run([&](heddle::team_member& self) {
    for (int round = 1; round <= 4; ++round) {
      for (int i = 0; i < 5; ++i) {
        self.task([&] {
          done.fetch_add(1);
          self.task([&] { done.fetch_add(1); });
        });
      }
      self.barrier();
      if (done.load() == 30 * round) seen.fetch_add(1);
      self.meet();
    }
    self.task([&] { done.fetch_add(1); });
  });
  EXPECT_EQ(done.load(), 123);
  EXPECT_EQ(seen.load(), 12);
}

TEST_P(teams, single_is_one) {
  heddle::team t(in(runtime(), 4));
  std::atomic<int> calls{0}, mine{0};
  t.run([&](heddle::team_member& self) {
    for (int i = 0; i < 10; ++i) {
      if (self.single([&] { calls.fetch_add(1); })) mine.fetch_add(1);
    }
  });
  EXPECT_EQ(calls.load(), 10);
  EXPECT_EQ(mine.load(), 10);
}

TEST_P(teams, more_threads_than_workers_wait_in_the_runtime) {
  heddle::team t(in(runtime(), 2 * runtime().workers() + 1));
  int sum = 0;
  heddle::mutex lock;
  t.run([&](heddle::team_member& self) {
    for (int round = 0; round < 3; ++round) {
      self.meet();
      std::lock_guard hold(lock);
      ++sum;
    }
  });
  EXPECT_EQ(sum, static_cast<int>(3 * t.size()));
}

TEST_P(teams, beside_other_work) {
  heddle::team t(in(runtime()));
  std::atomic<bool> stop{false};
  heddle::thread other(at(runtime()), [&] {
    while (!stop.load()) heddle::parallel_invoke([] {}, [] { heddle::this_thread::yield(); });
  });
  for (int round = 0; round < 5; ++round) {
    spinning_barrier step(t.size());
    t.run([&](heddle::team_member& self) {
      step();
      heddle::this_thread::sleep_for(100us);
      self.meet();
      heddle::parallel_invoke([] {}, [] {});
      heddle::this_thread::yield();
      step();
    });
  }
  stop.store(true);
  other.join();
}

TEST_P(teams, exceptions_come_to_the_caller) {
  heddle::team t(in(runtime(), 3));
  std::atomic<int> others{0};
  EXPECT_THROW(t.run([&](heddle::team_member& self) {
    if (self.number() == 1) throw std::runtime_error("one");
    self.barrier();
    self.barrier();
    others.fetch_add(1);
  }),
               std::runtime_error);
  EXPECT_EQ(others.load(), 2);
  EXPECT_THROW(t.run([&](heddle::team_member& self) {
    self.single([&] { self.task([] { throw std::logic_error("task"); }); });
  }),
               std::logic_error);
  t.run([](heddle::team_member& self) { self.barrier(); });
}

HEDDLE_OVER_RUNTIMES(teams);

class teams_of_kinds : public testing::TestWithParam<unsigned> {};

// Preemptive ones need no seats: more of them than workers may spin, too.
TEST_P(teams_of_kinds, preemptive_threads_spin) {
  if (heddle_test::sanitized) GTEST_SKIP();
  heddle::runtime home(heddle_test::options_for(GetParam()));
  heddle::team_options o = in(home, GetParam() + 2);
  o.preemption = heddle::preemption::signal_yield;
  heddle::team t(o);
  for (int round = 0; round < 3; ++round) {
    spinning_barrier step(t.size());
    t.run([&](heddle::team_member&) {
      step();
      step();
    });
  }
}

TEST_P(teams_of_kinds, gangs_beside_preemptive_threads) {
  if (heddle_test::sanitized) GTEST_SKIP();
  heddle::runtime home(heddle_test::options_for(GetParam()));
  std::atomic<bool> stop{false};
  std::vector<heddle::thread> spinners;
  for (unsigned i = 0; i < GetParam(); ++i) {
    spinners.emplace_back(heddle_test::in(home, heddle::preemption::signal_yield), [&] {
      while (!stop.load()) heddle::this_thread::pause();
    });
  }
  heddle::team t(in(home));
  for (int round = 0; round < 3; ++round) {
    spinning_barrier step(t.size());
    t.run([&](heddle::team_member&) {
      step();
      step();
    });
  }
  stop.store(true);
  for (heddle::thread& s : spinners) s.join();
}

// Regions as large as the runtime, in more tasks than fit, and a smaller one in each of their threads.
TEST_P(teams_of_kinds, nested_in_more_than_fit) {
  heddle::runtime home(heddle_test::options_for(GetParam()));
  const unsigned inner_size = std::min(GetParam(), 3u);
  std::atomic<unsigned> calls{0};
  std::vector<heddle::thread> all;
  for (int i = 0; i < 3; ++i) {
    all.emplace_back(at(home), [&] {
      heddle::team outer(in(home));
      spinning_barrier begin(outer.size());
      outer.run([&](heddle::team_member& self) {
        begin();
        heddle::team inner(in(home, inner_size));
        spinning_barrier step(inner.size());
        inner.run([&](heddle::team_member&) {
          step();
          calls.fetch_add(1);
          step();
        });
        self.barrier();
      });
    });
  }
  for (heddle::thread& t : all) t.join();
  EXPECT_EQ(calls.load(), 3 * GetParam() * inner_size);
}

TEST_P(teams_of_kinds, storage_of_their_own) {
  if (heddle_test::sanitized) GTEST_SKIP();
  heddle::runtime home(heddle_test::options_for(GetParam()));
  heddle::team_options o = in(home);
  o.tls = heddle::tls::own;
  heddle::team t(o);
  spinning_barrier step(t.size());
  t.run([&](heddle::team_member& self) {
    static thread_local unsigned mine = 0;
    mine = self.number();
    step();
    self.barrier();
    EXPECT_EQ(mine, self.number());
  });
}

TEST_P(teams_of_kinds, stealing_ones_need_no_order) {
  heddle::runtime home(heddle_test::options_for(GetParam()));
  heddle::team_options o = in(home, 3 * GetParam());
  o.mode = heddle::team_mode::stealing;
  heddle::team t(o);
  std::atomic<unsigned> here{0};
  t.run([&](heddle::team_member& self) {
    here.fetch_add(1);
    self.barrier();
    EXPECT_EQ(here.load(), t.size());
  });
}

TEST_P(teams_of_kinds, on_fewer_active_workers) {
  heddle::runtime home(heddle_test::options_for(GetParam()));
  home.set_active_workers(1);
  heddle::team t(in(home));
  spinning_barrier step(t.size());
  t.run([&](heddle::team_member& self) {
    step();
    self.barrier();
    self.single([&] { home.set_active_workers(home.workers()); });
    step();
  });
}

TEST_P(teams_of_kinds, levels) {
  heddle::runtime home(heddle_test::options_for(GetParam()));
  for (const heddle::priority level : {heddle::priority::low, heddle::priority::high}) {
    heddle::team_options o = in(home);
    o.priority = level;
    heddle::team t(o);
    spinning_barrier step(t.size());
    t.run([&](heddle::team_member& self) {
      step();
      self.barrier();
      step();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(workers, teams_of_kinds, testing::Values(1u, 2u, 3u, 4u, 8u, 64u));

TEST(teams_misuse, what_cannot_be_had_is_said) {
  heddle::team_options o;
  o.priority = static_cast<heddle::priority>(99);
  heddle::team t(o);
  EXPECT_THROW(t.run([](heddle::team_member&) {}), std::invalid_argument);
}

// Whether a team with these options, in a runtime that has had none, is a gang.
bool becomes_gang(heddle::team_mode mode) {
  heddle::runtime home({.workers = 2});
  heddle::team_options options = in(home);
  options.mode = mode;
  heddle::team(options).run([](heddle::team_member&) {});
  return home.core().gangs().are_used();
}

TEST(team_modes, are_what_the_options_say_or_what_was_set_last) {
  EXPECT_TRUE(becomes_gang(heddle::team_options{}.mode)) << "at the start";
  heddle::reset_gang_sched();
  EXPECT_FALSE(becomes_gang(heddle::team_options{}.mode));
  EXPECT_TRUE(becomes_gang(heddle::team_mode::gang));
  heddle::set_gang_sched();
  EXPECT_TRUE(becomes_gang(heddle::team_options{}.mode));
  EXPECT_FALSE(becomes_gang(heddle::team_mode::stealing));
}

}  // namespace
}  // namespace team_test
