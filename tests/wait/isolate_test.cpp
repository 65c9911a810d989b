// isolate, and the failures of other runtimes that it names: waits that run other work on the waiting stack, nested
// waits that hang. In heddle they cannot; these programs are the ones that went wrong elsewhere.
#include <heddle/barrier.hpp>
#include <heddle/isolate.hpp>
#include <heddle/latch.hpp>
#include <heddle/mutex.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/shared_mutex.hpp>
#include <heddle/task_group.hpp>

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>

#include "support/waiting.hpp"

namespace isolate_test {
namespace {

class waits : public heddle_test::waiting {};

// body(i) for first <= i < last, each end of the tree a fork of its own.
template <class Body>
void each(int first, int last, const Body& body) {
  if (last - first <= 1) {
    if (first < last) body(first);
    return;
  }
  const int middle = first + (last - first) / 2;
  heddle::parallel_invoke([&] { each(first, middle, body); }, [&] { each(middle, last, body); });
}

TEST_P(waits, isolate_returns_what_f_returns) {
  together(2, 1, [&](int i) {
    int target = 0;
    EXPECT_EQ(heddle::isolate([i] { return i; }), i);
    EXPECT_EQ(&heddle::isolate([&]() -> int& { return target; }), &target);
    heddle::isolate([&] { heddle::isolate([&] { heddle::this_thread::yield(); }); });
    EXPECT_THROW(heddle::isolate([] { throw std::runtime_error("x"); }), std::runtime_error);
  });
}

// The promise itself: between the start of a fork and its join, the stack of the forking thread runs its own two halves
// and nothing else. Each task notes on its thread what it is doing; whoever ran on top of it would find the note.
TEST_P(waits, no_other_work_runs_on_a_waiting_stack) {
  struct note {
    std::uint64_t thread = 0;
    std::atomic<bool> inside{false};
  };
  constexpr int tasks = 400 / heddle_test::fewer;
  std::vector<note> notes(tasks);
  std::atomic<int> intruders{0};
  run([&] {
    each(0, tasks, [&](int i) {
      const std::uint64_t me = heddle::this_thread::id();
      for (const note& other : notes) {
        if (other.inside.load() && other.thread == me) ++intruders;
      }
      notes[i].thread = me;
      notes[i].inside = true;
      heddle::isolate([&] {
        heddle::parallel_invoke([] { heddle::this_thread::yield(); }, [] { heddle::this_thread::yield(); });
        each(0, 4, [](int) { heddle::this_thread::yield(); });
      });
      notes[i].inside = false;
    });
  });
  EXPECT_EQ(intruders.load(), 0);
}

// "Using rayon under a Mutex can lead to deadlocks": a parallel loop whose body holds a lock around another one.
TEST_P(waits, rayon_592_a_loop_inside_a_lock_inside_a_loop) {
  heddle::mutex m;
  long sum = 0;
  run([&] {
    each(0, 200, [&](int) {
      std::lock_guard hold(m);
      std::atomic<int> parts{0};
      each(0, 16, [&](int k) {
        if (k % 4 == 0) heddle::this_thread::yield();
        ++parts;
      });
      sum += parts.load();
    });
  });
  EXPECT_EQ(sum, 200 * 16);
}

// "Deadlocking with rwlock": readers that work in parallel while they hold it, writers and more readers behind them.
TEST_P(waits, rayon_1205_parallel_work_under_a_read_lock_with_a_writer_waiting) {
  heddle::shared_mutex m;
  long written = 0;
  std::atomic<long> read{0};
  run([&] {
    each(0, 100, [&](int i) {
      if (i % 10 == 3) {
        std::lock_guard hold(m);
        each(0, 4, [](int) { heddle::this_thread::yield(); });
        ++written;
      } else {
        std::shared_lock hold(m);
        each(0, 8, [&](int) {
          heddle::this_thread::yield();
          ++read;
        });
      }
    });
  });
  EXPECT_EQ(written, 10);
  EXPECT_EQ(read.load(), 90 * 8);
}

// "Task Isolation like TBB": a nested wait in a task that holds a lock or has set a variable of its thread.
TEST_P(waits, taskflow_522_nested_tasks_in_isolation) {
  heddle::mutex m;
  int depth = 0;  // under m: what a task that ran on top of the holder would see at 1
  run([&] {
    heddle::task_group outer;
    for (int i = 0; i < 100; ++i) {
      outer.run([&] {
        heddle::isolate([&] {
          std::lock_guard hold(m);
          EXPECT_EQ(++depth, 1);
          heddle::task_group inner;
          for (int k = 0; k < 8; ++k) inner.run([] { heddle::this_thread::yield(); });
          inner.wait();
          EXPECT_EQ(depth--, 1);
        });
      });
    }
    outer.wait();
  });
  EXPECT_EQ(depth, 0);
}

// "Facing Deadlock issue with nested TBB": all jobs of an inner loop must be under way at the same time, because they
// wait for each other. More loops than workers are under way, too.
TEST_P(waits, onetbb_1316_inner_jobs_that_wait_for_each_other) {
  constexpr int outer_jobs = 6, inner_jobs = 8, steps = 5;
  std::atomic<int> done{0};
  run([&] {
    each(0, outer_jobs, [&](int) {
      heddle::barrier meeting(inner_jobs);
      heddle::task_group group;
      for (int k = 0; k < inner_jobs; ++k) {
        group.run([&] {
          for (int s = 0; s < steps; ++s) meeting.arrive_and_wait();
          ++done;
        });
      }
      group.wait();
      each(0, inner_jobs, [&](int) { meeting.arrive_and_wait(); });  // the same as forks
    });
  });
  EXPECT_EQ(done.load(), outer_jobs * inner_jobs);
}

// "Can using task_area and task_group create a deadlock ?": tasks go into other sets of workers. One of the sets ends
// only when the other tells it to. The group is waited for from inside one of the sets.
TEST_P(waits, onetbb_1684_a_group_over_several_runtimes) {
  heddle::runtime first({.workers = 2}), second({.workers = 2});
  for (int round = 0; round < 20 * heddle_test::stress(); ++round) {
    first.run([&] {
      std::atomic<bool> stop{false};
      heddle::task_group group;
      group.run([&] { stop = first.run([] { return true; }); });
      group.run([&] {
        second.run([&] {
          while (!stop.load()) heddle::this_thread::yield();
        });
      });
      group.wait();
      EXPECT_TRUE(stop.load());
    });
    progress();
  }
}

// Its other half: a thread that did not make the group waits for it beside the one that did.
TEST_P(waits, onetbb_1684_a_stranger_waits_for_a_group) {
  run([&] {
    heddle::task_group group;
    heddle::latch gate(1);
    std::atomic<bool> ended{false};
    group.run([&] {
      gate.wait();
      ended.store(true);
    });
    heddle::thread stranger([&] {
      group.wait();
      EXPECT_TRUE(ended.load());
    });
    gate.count_down();
    group.wait();
    EXPECT_TRUE(ended.load());
    stranger.join();
  });
}

// More threads waiting than any queue was made for, and each wait ends.
TEST_P(waits, ten_thousand_waiters) {
  run([] {
    constexpr int count = 10000 / heddle_test::fewer;
    heddle::latch gate(1), all(count);
    std::vector<heddle::thread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&] {
        gate.wait();
        all.count_down();
      });
    }
    gate.count_down();
    all.wait();
    for (auto& t : threads) t.join();
  });
}

HEDDLE_OVER_RUNTIMES(waits);

}  // namespace
}  // namespace isolate_test
