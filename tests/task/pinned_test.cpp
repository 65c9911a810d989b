// Threads that are pinned to a worker run there and nowhere else, whatever they wait for, whoever searches for work,
// and with whatever priority, preemption or number of active workers.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/fib.hpp"
#include "support/preemption.hpp"
#include "support/waiting.hpp"

namespace pinned_test {
namespace {

using heddle::thread;
using heddle::thread_options;
using heddle_test::in;
using heddle_test::options_for;
using namespace std::chrono_literals;

thread_options to(heddle::runtime& where, unsigned worker) {
  thread_options o;
  o.where = &where;
  o.worker = static_cast<std::uint16_t>(worker);
  return o;
}

class pinned : public heddle_test::waiting {
 protected:
  void expect_here(int worker) {
    if (runtime().worker_rank() != worker) wrong_.fetch_add(1);
  }
  void TearDown() override {
    EXPECT_EQ(wrong_.load(), 0);
    waiting::TearDown();
  }
  // All ways in which a thread waits or gives others a time slice.
  void wait_in_all_ways(int worker, heddle::barrier<>& step) {
    expect_here(worker);
    heddle::this_thread::yield();
    expect_here(worker);
    EXPECT_EQ(heddle_test::fib(12), 144);
    expect_here(worker);
    heddle::task_group group;
    std::array<char, 1000> large{};  // such a child is not queued: it would run first, and leave its spawner to thieves
    for (int i = 0; i < 20; ++i) {
      group.run([] { heddle_test::fib(5); });
      expect_here(worker);
      group.run([large] { heddle::this_thread::yield(), static_cast<void>(large); });
      expect_here(worker);
    }
    group.wait();
    expect_here(worker);
    for (int i = 0; i < 10; ++i) {
      thread t([&] { heddle::this_thread::yield(); });
      heddle::this_thread::yield();
      t.join();
      expect_here(worker);
    }
    step.arrive_and_wait();
    expect_here(worker);
    heddle::this_thread::sleep_for(1us);
    expect_here(worker);
    heddle::blocking([] {});
    expect_here(worker);
    {
      std::lock_guard hold(lock_);
      expect_here(worker);
      heddle::this_thread::yield();
      expect_here(worker);
    }
    expect_here(worker);
  }
  heddle::mutex lock_;
  std::atomic<int> wrong_{0};
};

TEST_P(pinned, wherever_they_are_made_they_run_on_their_worker) {
  constexpr int each = 2;
  const auto workers = static_cast<int>(runtime().workers());
  heddle::barrier step(each * workers);
  std::vector<thread> all;
  for (int i = 0; i < each * workers; ++i) {
    const int worker = i % workers;
    const auto body = [this, worker, &step] { wait_in_all_ways(worker, step); };
    if (i % 2 == 0) all.emplace_back(to(runtime(), static_cast<unsigned>(worker)), body);
    else all.push_back(run([&] { return thread(to(runtime(), static_cast<unsigned>(worker)), body); }));
  }
  for (thread& t : all) t.join();
  progress();
}

TEST_P(pinned, a_call_from_outside_waits_for_them) {
  const auto workers = static_cast<int>(runtime().workers());
  for (int i = 0; i < 50; ++i) {
    const int worker = i % workers;
    run([&] {
      thread made(to(runtime(), static_cast<unsigned>(worker)), [&] { expect_here(worker); });
      if (i % 3 == 0) heddle::this_thread::yield();
      made.join();
      // of the worker that runs this, which the caller has perhaps
      std::atomic<bool> ran{false};
      thread here(to(runtime(), static_cast<unsigned>(runtime().worker_rank())), [&] { ran.store(true); });
      while (!ran.load()) heddle::this_thread::yield();
      here.join();
    });
    heddle::run(to(runtime(), static_cast<unsigned>(worker)), [&] { expect_here(worker); });
    progress();
  }
}

TEST_P(pinned, who_ends_elsewhere_does_not_take_its_joiner_along) {
  const auto workers = static_cast<int>(runtime().workers());
  std::vector<thread> all;
  for (int worker = 0; worker < workers; ++worker) {
    all.emplace_back(to(runtime(), static_cast<unsigned>(worker)), [this, worker, workers] {
      for (int i = 0; i < 100; ++i) {
        thread(to(runtime(), static_cast<unsigned>((worker + i) % workers)), [] {}).join();
        expect_here(worker);
        thread([] { heddle::this_thread::sleep_for(1us); }).join();  // by a call, if it were not pinned
        expect_here(worker);
        auto value = heddle::async([] { return heddle_test::fib(3); });
        EXPECT_EQ(value.get(), 2);
        expect_here(worker);
      }
    });
  }
  for (thread& t : all) t.join();
}

// Others search and insist; what is pinned waits for its worker.
TEST_P(pinned, no_thief_takes_one) {
  if (runtime().workers() < 2) GTEST_SKIP() << "nobody else is there";
  std::atomic<bool> ran{false}, let_go{false};
  std::atomic<int> holds{0};
  thread holder(to(runtime(), 0), [&] {
    holds.store(1);
    while (!let_go.load()) std::this_thread::yield();
    expect_here(0);
  });
  while (holds.load() == 0) std::this_thread::yield();
  thread waits(to(runtime(), 0), [&] {
    ran.store(true);
    expect_here(0);
  });
  for (int i = 0; i < 200; ++i) {
    thread(to(runtime(), 1), [] {}).join();
    EXPECT_FALSE(ran.load());
  }
  let_go.store(true);
  holder.join();
  waits.join();
  EXPECT_TRUE(ran.load());
}

TEST_P(pinned, a_worker_that_is_not_there_is_named) {
  for (const unsigned worker : {runtime().workers(), 0xfffeu}) {
    try {
      thread(to(runtime(), worker), [] {}).join();
      ADD_FAILURE() << "there is no worker " << worker;
    } catch (const std::invalid_argument& e) {
      EXPECT_NE(std::string(e.what()).find("thread_options::worker " + std::to_string(worker)), std::string::npos)
          << e.what();
    }
  }
}

TEST_P(pinned, the_end_of_a_runtime_waits_for_them) {
  std::atomic<int> ended{0};
  const int workers = static_cast<int>(runtime().workers());
  {
    heddle::runtime_options options;
    options.workers = runtime().workers();
    options.policy = heddle_test::fitting(std::get<1>(GetParam()), runtime().workers());
    heddle::runtime other(options);
    for (int i = 0; i < workers; ++i) {
      thread(to(other, static_cast<unsigned>(i)), [&] {
        for (int k = 0; k < 5; ++k) heddle::this_thread::yield();
        ended.fetch_add(1);
      }).detach();
    }
  }
  EXPECT_EQ(ended.load(), workers);
}

HEDDLE_OVER_RUNTIMES(pinned);

// --- beside other mechanisms ---------------------------------------------------------------------------------------

// An inactive worker runs what is pinned to it, and nothing else.
TEST(pinned_threads, run_on_an_inactive_worker) {
  heddle_test::watchdog dog("pinned_threads.run_on_an_inactive_worker");
  heddle::runtime rt(options_for(4));
  std::atomic<int> wrong{0};
  heddle::barrier step(4);
  std::vector<thread> all;
  for (int worker = 0; worker < 4; ++worker) {
    all.emplace_back(to(rt, static_cast<unsigned>(worker)), [&, worker] {
      for (int i = 0; i < 300; ++i) {
        step.arrive_and_wait();
        if (rt.worker_rank() != worker) wrong.fetch_add(1);
        if (worker == 0) rt.set_active_workers(1 + static_cast<unsigned>(i) % 4);
        if (i % 7 == 0) heddle::this_thread::yield();
        if (heddle_test::fib(6) != 8 || rt.worker_rank() != worker) wrong.fetch_add(1);
      }
    });
  }
  for (thread& t : all) t.join();
  EXPECT_EQ(wrong.load(), 0);
  rt.set_active_workers(1);
  for (unsigned worker = 0; worker < 4; ++worker) {
    heddle::run(to(rt, worker), [&] { wrong.fetch_add(rt.worker_rank() != static_cast<int>(worker)); });
    rt.run([&] { wrong.fetch_add(rt.worker_rank() != 0); });
  }
  EXPECT_EQ(wrong.load(), 0);
}

// Those that are ready while one holds the worker: the highest first, pinned or not, and equals in turn.
TEST(pinned_threads, of_higher_levels_come_first) {
  heddle::runtime rt(options_for(1));
  std::vector<int> order;
  std::vector<thread> all;
  rt.run([&] {
    for (const int level : {-2, 0, 3, -1, 1}) {
      for (const bool is_pinned : {true, false}) {
        thread_options o = to(rt, is_pinned ? 0u : static_cast<unsigned>(heddle::any_worker));
        o.priority = heddle::priority{level};
        all.emplace_back(o, [&order, level, is_pinned] { order.push_back(2 * level + (is_pinned ? 1 : 0)); });
      }
    }
    for (thread& t : all) t.join();
  });
  ASSERT_EQ(order.size(), 10u);
  for (std::size_t i = 0; i + 1 < order.size(); ++i) EXPECT_GE(order[i] >> 1, order[i + 1] >> 1) << i;
}

// Two that yield to each other for ever leave time slices to what is not pinned, and the other way round.
TEST(pinned_threads, and_others_take_turns) {
  heddle_test::watchdog dog("pinned_threads.and_others_take_turns");
  heddle::runtime rt(options_for(1));
  for (const bool others : {false, true}) {
    std::atomic<bool> done{false};
    const auto yields = [&] {
      while (!done.load()) heddle::this_thread::yield();
    };
    std::vector<thread> all;
    for (int i = 0; i < 3; ++i) all.emplace_back(to(rt, others ? heddle::any_worker : 0u), yields);
    all.emplace_back(to(rt, others ? 0u : heddle::any_worker), [&] {
      heddle::this_thread::yield();
      done.store(true);
    });
    for (thread& t : all) t.join();
  }
}

class pinned_and_preemptive : public heddle_test::with_ticks<heddle::preemption> {};

TEST_P(pinned_and_preemptive, threads_share_their_worker_by_turns) {
  heddle_test::watchdog dog("pinned_and_preemptive.threads_share_their_worker_by_turns");
  heddle::runtime rt(options_for(2));
  for (const unsigned worker : {0u, 1u}) {
    thread_options kind = in(rt, GetParam());
    kind.worker = static_cast<std::uint16_t>(worker);
    std::atomic<int> wrong{0}, arrived{0}, phase{0};
    std::vector<thread> all;
    for (int i = 0; i < 3; ++i) {
      all.emplace_back(kind, [&] {
        for (int p = 0; p < 20; ++p) {
          if (arrived.fetch_add(1) == 2) {
            arrived.store(0);
            phase.fetch_add(1);
          }
          while (phase.load() <= p) {
          }
          wrong.fetch_add(rt.worker_rank() != static_cast<int>(worker));
        }
      });
    }
    for (thread& t : all) t.join();
    EXPECT_EQ(wrong.load(), 0);
  }
}

TEST_P(pinned_and_preemptive, a_higher_one_has_the_worker_of_a_lower_one) {
  heddle_test::watchdog dog("pinned_and_preemptive.a_higher_one_has_the_worker_of_a_lower_one");
  heddle::runtime rt(options_for(2));
  std::atomic<bool> spins{false}, done{false};
  thread_options low = to(rt, 1), high = to(rt, 1);
  low.preemption = GetParam();
  low.priority = heddle::priority::low;
  high.priority = heddle::priority::high;
  thread spinner(low, [&] {
    spins.store(true);
    heddle_test::wait_for(done);
  });
  heddle_test::wait_for(spins);
  thread(high, [&] { done.store(true); }).join();
  spinner.join();
}

INSTANTIATE_TEST_SUITE_P(kinds, pinned_and_preemptive,
                         testing::Values(heddle::preemption::signal_yield, heddle::preemption::klt_switching),
                         [](const auto& param_info) { return heddle_test::name_of(param_info.param); });

}  // namespace
}  // namespace pinned_test
