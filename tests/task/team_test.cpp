// team: gangs whose threads spin for each other, barriers with and without tasks, single; nested, from the main thread
// and from several, preemptive threads, exceptions; and the seats behind it.
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

namespace team_test {
namespace {

using namespace std::chrono_literals;

// A barrier of which the runtime knows nothing.
class spin_barrier {
 public:
  explicit spin_barrier(unsigned all) : all_(all) {}
  void operator()() {
    const unsigned phase = phase_.load();
    if (here_.fetch_add(1) + 1 == all_) {
      here_.store(0);
      phase_.store(phase + 1);
    } else {
      for (unsigned looks = 1; phase_.load() == phase; ++looks) {
        heddle::this_thread::pause();
        if (looks % 1000 == 0) std::this_thread::yield();  // the processor, in tests with more workers than there are
      }
    }
  }

 private:
  std::atomic<unsigned> here_{0};
  std::atomic<unsigned> phase_{0};
  const unsigned all_;
};

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
    spin_barrier step(t.size());
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
          spin_barrier step(t.size());
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
      spin_barrier step(inner.size());
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
        spin_barrier step(t.size());
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
    spin_barrier step(t.size());
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
    spin_barrier step(t.size());
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
    spin_barrier step(t.size());
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
      spin_barrier begin(outer.size());
      outer.run([&](heddle::team_member& self) {
        begin();
        heddle::team inner(in(home, inner_size));
        spin_barrier step(inner.size());
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
  spin_barrier step(t.size());
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
  spin_barrier step(t.size());
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
    spin_barrier step(t.size());
    t.run([&](heddle::team_member& self) {
      step();
      self.barrier();
      step();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(workers, teams_of_kinds, testing::Values(1u, 2u, 3u, 4u, 8u, 64u));

// A pinned thread's seat is where it is pinned to, and it is pinned there afterwards.
TEST(seats, of_pinned_threads) {
  heddle::runtime home(heddle_test::options_for(3));
  const std::unique_ptr<heddle::detail::gang_handle, void (*)(heddle::detail::gang_handle*)> g(
      heddle::detail::make_gang(&home, 3), [](heddle::detail::gang_handle* all) { heddle::detail::free_gang(all); });
  for (int round = 0; round < 20; ++round) {
    heddle::detail::begin_gang(g.get(), 3);
    spin_barrier step(3);
    std::atomic<unsigned> ranks{0};
    std::vector<heddle::thread> all;
    for (unsigned i = 0; i < 3; ++i) {
      heddle::thread_options o = at(home);
      if (i == 1) o.worker = 2;
      all.emplace_back(o, [&, i] {
        heddle::detail::enter_gang(g.get(), i);
        step();
        if (i == 1) {
          EXPECT_EQ(home.worker_rank(), 2);
        }
        ranks.fetch_or(1u << home.worker_rank());
        step();
        heddle::detail::leave_gang();
        heddle::this_thread::yield();
        if (i == 1) {
          EXPECT_EQ(home.worker_rank(), 2);
        }
      });
    }
    for (heddle::thread& t : all) t.join();
    EXPECT_EQ(ranks.load(), 7u);
  }
}

// The last one to come runs on the worker of one that is pinned there, and stands before it in the gang.
TEST(seats, who_enters_last_leaves_the_worker_to_who_is_pinned) {
  heddle::runtime home(heddle_test::options_for(2));
  const std::unique_ptr<heddle::detail::gang_handle, void (*)(heddle::detail::gang_handle*)> g(
      heddle::detail::make_gang(&home, 2), [](heddle::detail::gang_handle* all) { heddle::detail::free_gang(all); });
  heddle::detail::begin_gang(g.get(), 2);
  spin_barrier step(2);
  std::atomic<bool> kept{false}, begun{false}, here{false};
  const auto until = [](const std::atomic<bool>& flag) {
    while (!flag.load()) std::this_thread::yield();
  };
  heddle::thread_options to_0 = at(home), to_1 = at(home);
  to_0.worker = 0;
  to_1.worker = 1;
  heddle::thread keeper(to_0, [&] {
    kept.store(true);
    until(here);
  });
  until(kept);
  heddle::thread pinned(to_1, [&] {
    begun.store(true);
    heddle::detail::enter_gang(g.get(), 1);
    EXPECT_EQ(home.worker_rank(), 1);
    step();
    heddle::detail::leave_gang();
  });
  until(begun);
  heddle::thread last(at(home), [&] {
    EXPECT_EQ(home.worker_rank(), 1);  // the pinned one has given it away: it is in the gang, and waits
    here.store(true);
    heddle::detail::enter_gang(g.get(), 0);
    EXPECT_EQ(home.worker_rank(), 0);
    step();
    heddle::detail::leave_gang();
  });
  last.join();
  pinned.join();
  keeper.join();
}

// A thread that leads a nested gang, and goes back to its own.
TEST(seats, of_leaders) {
  for (const unsigned workers : {1u, 2u, 3u}) {
    heddle::runtime home(heddle_test::options_for(workers));
    heddle::team outer(in(home));
    spin_barrier last(outer.size());
    outer.run([&](heddle::team_member& self) {
      for (int round = 0; round < 5; ++round) {
        heddle::detail::gang_handle* const g = heddle::detail::make_gang(&home, workers);
        heddle::detail::begin_gang(g, workers);
        spin_barrier step(workers);
        std::vector<heddle::thread> others;
        for (unsigned i = 1; i < workers; ++i) {
          others.emplace_back(at(home), [&, i] {
            heddle::detail::enter_gang(g, i);
            step();
            heddle::detail::leave_gang();
          });
        }
        heddle::detail::enter_gang(g, 0);
        step();
        heddle::detail::leave_gang();
        for (heddle::thread& t : others) t.join();
        heddle::detail::free_gang(g);
      }
      self.meet();
      last();
    });
  }
}

TEST(teams_misuse, what_cannot_be_had_is_said) {
  heddle::team_options o;
  o.priority = static_cast<heddle::priority>(99);
  heddle::team t(o);
  EXPECT_THROW(t.run([](heddle::team_member&) {}), std::invalid_argument);
}

// [gang:8]: a thread of a gang becomes ready at a worker that something else keeps, and another worker sleeps.
class beside_a_sleeper : public ::testing::Test {
 protected:
  static void until(const std::atomic<bool>& flag) {
    while (!flag.load()) std::this_thread::yield();
  }
  static void until_known(const std::atomic<int>& number) {
    while (number.load() < 0) std::this_thread::yield();
  }
  static heddle::runtime_options four() {
    heddle::runtime_options o;
    o.workers = 4;
    o.bind = "off";
    return o;
  }
  // Keeps its worker, and no processor.
  void keep() {
    while (!over_.load()) usleep(1000);
  }
  // A team of two: member 0 waits for the semaphore.
  std::thread gang(heddle::semaphore& wait, std::atomic<int>& waiter_at, std::atomic<bool>& went_on,
                   const std::function<void()>& other) {
    return std::thread([this, &wait, &waiter_at, &went_on, other] {
      heddle::team_options o;
      o.threads = 2;
      o.where = &rt;
      heddle::team t(o);
      t.run([&](heddle::team_member& m) {
        if (m.number() != 0) return other();
        waiter_at.store(rt.worker_rank());
        wait.acquire();
        went_on.store(true);
      });
    });
  }
  heddle::thread pinned(int rank, std::function<void()> body) {
    heddle::thread_options o;
    o.worker = static_cast<unsigned>(rank);
    o.where = &rt;
    return heddle::thread(o, std::move(body));
  }

  heddle::runtime rt{four()};
  std::atomic<bool> over_{false};
};

// Both tests hang where they fail, until the watchdog of all tests ends them.
TEST_F(beside_a_sleeper, who_is_woken_and_finds_something_else_passes_it_on) {
  for (int round = 0; round < 20; ++round) {
    over_.store(false);
    heddle::semaphore wait(0), also(0);
    std::atomic<int> at{-1}, other_at{-1};
    std::atomic<bool> went_on{false}, kept{false}, pinned_there{false};
    std::thread g = gang(wait, at, went_on, [&] {
      other_at.store(rt.worker_rank());
      keep();
    });
    until_known(at);
    until_known(other_at);
    int free = 0;
    while (free == at.load() || free == other_at.load()) ++free;
    heddle::thread keeper = pinned(at.load(), [&] {
      kept.store(true);
      keep();
    });
    until(kept);
    heddle::thread found_instead = pinned(free, [&] {
      pinned_there.store(true);
      also.acquire();
      keep();
    });
    until(pinned_there);
    wait.release();
    also.release();
    until(went_on);  // on the one worker that has nothing
    over_.store(true);
    keeper.join();
    found_instead.join();
    g.join();
  }
}

TEST_F(beside_a_sleeper, who_gives_up_a_seat_looks_for_those_that_may_have_the_worker) {
  heddle::semaphore wait(0), wait_of_other(0), park(0);
  std::atomic<int> at{-1}, other_at{-1}, seat_at{-1}, leaver_at{-1};
  std::atomic<bool> went_on{false}, other_went_on{false}, kept{false}, leaves{false}, left{false};
  std::thread g = gang(wait, at, went_on, [&] {
    other_at.store(rt.worker_rank());
    keep();
  });
  until_known(at);
  until_known(other_at);
  // Of a second gang one waits, at the fourth worker, and one keeps the third.
  std::thread h = gang(wait_of_other, seat_at, other_went_on, [&] {
    leaver_at.store(rt.worker_rank());
    while (!leaves.load()) usleep(1000);
    heddle::thread instead = pinned(rt.worker_rank(), [&] {
      left.store(true);
      keep();
    });
    park.acquire();  // the gang is put off; what is pinned has the worker
    instead.join();
  });
  until_known(seat_at);
  until_known(leaver_at);
  heddle::thread keeper = pinned(at.load(), [&] {
    kept.store(true);
    keep();
  });
  until(kept);
  wait.release();
  leaves.store(true);
  until(left);
  until(went_on);
  over_.store(true);
  wait_of_other.release();
  park.release();
  keeper.join();
  g.join();
  h.join();
}

}  // namespace
}  // namespace team_test
