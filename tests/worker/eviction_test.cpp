// Priorities of preemptive threads: who is evicted for whom, by ticks and at once.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "support/preemption.hpp"

namespace eviction_test {
namespace {

using namespace std::chrono_literals;
using heddle::preemption;
using heddle::priority;
using heddle_test::in;
using heddle_test::options_for;
using heddle_test::wait_for;
using heddle_test::wait_for_ticks;

constexpr std::pair<int, int> levels[] = {{-1, 0}, {0, 1}, {-1, 1}, {-3, -2}, {2, 3}};

// --- ticks ---------------------------------------------------------------------------------------------------------

struct way {
  preemption how;
  heddle::tls storage;
  std::string policy;
};

class eviction_techniques : public heddle_test::with_ticks<way> {
 protected:
  void SetUp() override {
    with_ticks::SetUp();
    if (!IsSkipped() && heddle_test::sanitized && GetParam().storage == heddle::tls::own)
      GTEST_SKIP() << "no own thread-local storage under sanitizers";
  }
  heddle::runtime_options options(unsigned workers) const { return options_for(workers, GetParam().policy); }
  heddle::thread_options preemptive(heddle::runtime& rt, int level) const {
    return in(rt, priority{level}, GetParam().how, GetParam().storage);
  }
};

TEST_P(eviction_techniques, a_tick_evicts_a_thread_for_a_higher_one) {
  for (const auto& [lower, higher] : levels) {
    heddle::runtime rt(options(1));
    std::atomic<bool> begun{false}, done{false};
    heddle::thread spinner(preemptive(rt, lower), [&] {
      begun = true;
      wait_for(done);
    });
    wait_for(begun);
    heddle::thread t(in(rt, priority{higher}), [&] { done = true; });
    t.join();
    spinner.join();
  }
}

TEST_P(eviction_techniques, a_tick_evicts_no_thread_for_a_lower_one) {
  for (const auto& [lower, higher] : levels) {
    heddle::runtime rt(options(1));
    std::atomic<bool> begun{false}, lower_ran{false}, too_early{false};
    heddle::thread spinner(preemptive(rt, higher), [&] {
      begun = true;
      wait_for_ticks(rt, 20);
      too_early = lower_ran.load();
    });
    wait_for(begun);
    heddle::thread t(in(rt, priority{lower}), [&] { lower_ran = true; });
    t.join();
    spinner.join();
    EXPECT_FALSE(too_early.load()) << higher << " was evicted for " << lower;
  }
}

// Two threads are not preemptive and spin for each other: both threads that were there first must go, wherever they
// run.
TEST_P(eviction_techniques, every_worker_is_freed_of_lower_ones) {
  for (const auto& [lower, higher] : {std::pair{-1, 1}, std::pair{0, 2}, std::pair{-2, 0}}) {
    // Normal ones are the policy's: one that lies behind the other at
    // a busy worker may not be had for the second worker.
    if (higher == 0 && GetParam().policy != "random_ws") continue;
    heddle::runtime rt(options(2));
    std::atomic<int> begun{0}, met{0};
    std::atomic<bool> stop{false};
    std::vector<heddle::thread> spinners, pair;
    for (int i = 0; i < 4; ++i) {
      spinners.emplace_back(preemptive(rt, lower), [&] {
        begun.fetch_add(1);
        wait_for(stop);
      });
    }
    while (begun.load() < 2) {
    }
    for (int i = 0; i < 2; ++i) {
      pair.emplace_back(in(rt, priority{higher}), [&] {
        met.fetch_add(1);
        while (met.load() < 2) {
        }
      });
    }
    for (auto& t : pair) t.join();
    stop = true;
    for (auto& t : spinners) t.join();
  }
}

// A normal thread that another worker, busy for good, has made ready.
TEST_P(eviction_techniques, a_low_thread_gives_way_to_work_of_another_worker) {
  if (GetParam().policy != "random_ws") GTEST_SKIP() << "whose work may be taken is up to the policy";
  heddle::runtime rt(options(2));
  std::atomic<bool> begun{false}, done{false};
  heddle::thread low(preemptive(rt, -1), [&] {
    begun = true;
    wait_for(done);
  });
  wait_for(begun);
  rt.run([&] {
    heddle::thread t(in(rt, priority::normal), [&] { done = true; });
    wait_for(done);
    t.join();
  });
  low.join();
}

TEST_P(eviction_techniques, equal_levels_take_turns) {
  for (const int level : {-2, 0, 2}) {
    for (const unsigned workers : {1u, 2u}) {
      heddle::runtime rt(options(workers));
      heddle_test::spin_barrier(preemptive(rt, level), 6, 10);
    }
  }
}

TEST_P(eviction_techniques, an_evicted_low_thread_goes_on_before_its_equals) {
  heddle::runtime_options o = options(1);
  // who is resumed gets round to its look before its time slice ends,
  // however busy the machine; high ones do not wait for the timer
  o.preempt_interval = 10s;
  heddle::runtime rt(o);
  constexpr int rounds = 40;
  std::atomic<int> running{0}, evicted{0}, same{0}, other{0};
  std::atomic<bool> stop{false};
  std::vector<heddle::thread> lows;
  for (int id = 1; id <= 3; ++id) {
    lows.emplace_back(preemptive(rt, -1), [&, id] {
      while (!stop.load()) {
        running.store(id);
        if (const int who = evicted.exchange(0); who != 0) (who == id ? same : other).fetch_add(1);
      }
    });
  }
  for (int i = 0; i < rounds; ++i) {
    while (evicted.load() != 0 || running.load() == 0) {
    }
    heddle::thread high(in(rt, priority::high), [&] { evicted.store(running.load()); });
    high.join();
  }
  while (evicted.load() != 0) {
  }
  stop = true;
  for (auto& t : lows) t.join();
  EXPECT_EQ(same.load() + other.load(), rounds);
  EXPECT_GE(same.load(), rounds / 2);  // every 16th time it is the oldest; by turns it would be none
}

// A limit of strict levels: a thread that waits for a lower thread, but not for its mutex, waits for all threads that
// run before the lower one.
TEST_P(eviction_techniques, priorities_are_inherited_by_holders_of_mutexes_alone) {
  heddle::runtime rt(options(1));
  heddle::counting_semaphore<> permit(1);
  std::atomic<bool> held{false}, spins{false}, stop{false}, got{false}, got_early{false};
  heddle::thread low(preemptive(rt, -1), [&] {
    permit.acquire();
    held = true;
    wait_for(spins);
    permit.release();
  });
  wait_for(held);
  heddle::thread middle(preemptive(rt, 0), [&] {
    spins = true;
    wait_for(stop);
  });
  wait_for(spins);
  heddle::thread high(in(rt, priority::high), [&] {
    permit.acquire();
    got = true;
  });
  wait_for_ticks(rt, 20);
  got_early = got.load();
  stop = true;
  high.join();
  middle.join();
  low.join();
  EXPECT_FALSE(got_early.load());
  EXPECT_TRUE(got.load());
}

// The thread in the middle ends only when the high one has had what the low one holds.
TEST_P(eviction_techniques, the_holder_of_a_mutex_inherits_the_level_of_who_waits) {
  heddle::runtime rt(options(1));
  heddle::mutex m;
  std::atomic<bool> held{false}, spins{false}, got{false};
  heddle::thread low(preemptive(rt, -1), [&] {
    const std::lock_guard hold(m);
    held = true;
    wait_for(spins);
  });
  wait_for(held);
  heddle::thread middle(preemptive(rt, 0), [&] {
    spins = true;
    wait_for(got);
  });
  wait_for(spins);
  heddle::thread high(in(rt, priority::high), [&] {
    const std::lock_guard hold(m);
    got = true;
  });
  high.join();
  middle.join();
  low.join();
}

std::vector<way> all_ways() {
  std::vector<way> ways;
  for (const char* policy : {"random_ws", "adws", "work_sharing"}) {
    ways.push_back({preemption::signal_yield, heddle::tls::carrier, policy});
    ways.push_back({preemption::signal_yield, heddle::tls::own, policy});
    ways.push_back({preemption::klt_switching, heddle::tls::carrier, policy});
  }
  return ways;
}

INSTANTIATE_TEST_SUITE_P(eviction, eviction_techniques, testing::ValuesIn(all_ways()), [](const auto& info) {
  const way& w = info.param;
  return heddle_test::name_of(heddle_test::means{w.how, w.storage}) + "_" + w.policy;
});

// --- at once -------------------------------------------------------------------------------------------------------

struct at_once_way {
  preemption how;
  priority higher;
};
class at_once : public heddle_test::with_ticks<at_once_way> {};

// The timer alone would take ten seconds a round.
heddle::runtime_options without_ticks(unsigned workers) {
  heddle::runtime_options o = options_for(workers);
  o.preempt_interval = 10s;
  return o;
}

TEST_P(at_once, low_threads_on_all_workers_make_room) {
  heddle::runtime rt(without_ticks(2));
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> there{0};
    std::atomic<bool> higher_ran{false};
    std::vector<heddle::thread> low;
    for (int i = 0; i < 2; ++i) {
      low.emplace_back(in(rt, priority::low, GetParam().how), [&] {
        there.fetch_add(1);
        wait_for(higher_ran);
      });
    }
    while (there.load() < 2) {
    }
    heddle::thread(in(rt, GetParam().higher), [&] { higher_ran.store(true); }).join();
    for (auto& t : low) t.join();
  }
}

TEST_P(at_once, a_low_thread_makes_room_for_what_it_makes) {
  heddle::runtime rt(without_ticks(1));
  heddle::thread(in(rt, priority::low, GetParam().how), [&] {
    for (int round = 0; round < 20; ++round) {
      std::atomic<bool> higher_ran{false};
      heddle::thread higher(in(rt, GetParam().higher), [&] { higher_ran.store(true); });
      wait_for(higher_ran);
      higher.join();
    }
  }).join();
}

// A thread that is not evicted makes it: the worker of the low thread does not look at the ready threads of this worker
// by itself.
TEST_P(at_once, a_low_thread_makes_room_for_what_another_worker_makes) {
  heddle::runtime rt(without_ticks(2));
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> there{false}, higher_ran{false};
    heddle::thread low(in(rt, priority::low, GetParam().how), [&] {
      there.store(true);
      wait_for(higher_ran);
    });
    wait_for(there);
    heddle::thread(in(rt, priority::normal), [&] {
      heddle::thread higher(in(rt, GetParam().higher), [&] { higher_ran.store(true); });
      wait_for(higher_ran);
      higher.join();
    }).join();
    low.join();
  }
}

INSTANTIATE_TEST_SUITE_P(eviction, at_once,
                         testing::Values(at_once_way{preemption::signal_yield, priority::high},
                                         at_once_way{preemption::signal_yield, priority::normal},
                                         at_once_way{preemption::klt_switching, priority::high},
                                         at_once_way{preemption::klt_switching, priority::normal}),
                         [](const auto& info) {
                           return heddle_test::name_of(info.param.how) +
                                  (info.param.higher == priority::normal ? "_normal" : "_high");
                         });

}  // namespace
}  // namespace eviction_test
