// Tasks of all kinds in teams of 1 to 8: each runs once, waits end when they should and not before, and who waits runs
// descendants only.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "omp/core/tasks/detach.hpp"
#include "omp/core/tasks/task_block.hpp"
#include "omp/core/tasks/taskloop.hpp"
#include "omp/task_support.hpp"
#include "support/runtimes.hpp"

namespace tasks_test {
namespace {

using namespace heddle_test;
using heddle::omp::task;
using heddle::omp::taskwait;

// Before anything reads the environment.
[[maybe_unused]] const bool is_set = [] {
  setenv("HEDDLE_WORKERS", "2", 1);
  setenv("OMP_MAX_TASK_PRIORITY", "10", 1);
  return true;
}();

class tasks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(teams, tasks, testing::Values(1, 2, 4, 8));

long fib(thread& self, int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  spawn(self, [&a, n](thread& on) { a = fib(on, n - 1); });
  spawn(self, [&b, n](thread& on) { b = fib(on, n - 2); });
  taskwait(self);
  return a + b;
}

TEST_P(tasks, recursion_with_waits) {
  for (int round = 0; round < 5 * stress(); ++round) {
    long result = 0;
    single_in_team(GetParam(), [&](thread& self) { result = fib(self, 18); });
    EXPECT_EQ(result, 2584);
  }
}

TEST_P(tasks, each_of_many_runs_once_by_the_regions_end) {
  constexpr int count = 20000;  // more than a queue holds
  const std::unique_ptr<std::atomic<int>[]> runs(new std::atomic<int>[count] {});
  for (int round = 0; round < stress(); ++round) {
    single_in_team(GetParam(), [&](thread& self) {
      for (int i = 0; i < count; ++i) spawn(self, [&runs, i](thread&) { runs[i].fetch_add(1); });
    });
    for (int i = 0; i < count; ++i) ASSERT_EQ(runs[i].load(), round + 1) << i;
  }
}

// A tree whose inner nodes do not wait: its members outlive their parents.
void grow(thread& self, int depth, std::atomic<int>& leaves) {
  if (depth == 0) {
    leaves.fetch_add(1);
    return;
  }
  for (int i = 0; i < 3; ++i) spawn(self, [depth, &leaves](thread& on) { grow(on, depth - 1, leaves); });
}

TEST_P(tasks, barriers_and_groups_wait_for_orphans) {
  for (int round = 0; round < 20 * stress(); ++round) {
    std::atomic<int> by_barrier{0}, by_group{0};
    bool waited = true;
    in_team(GetParam(), [&](thread& self) {
      grow(self, 5, by_barrier);
      heddle::omp::wait_at_barrier(self);
      if (by_barrier.load() != 243 * GetParam()) waited = false;
      heddle::omp::begin_group(self);
      std::atomic<int> mine{0};
      grow(self, 5, mine);
      heddle::omp::end_group(self);
      by_group.fetch_add(mine.load());
    });
    EXPECT_TRUE(waited);
    EXPECT_EQ(by_group.load(), 243 * GetParam());
  }
}

// The tasks that each thread is in the middle of, by the thread's number.
struct stacks {
  std::vector<std::vector<const task*>> of = std::vector<std::vector<const task*>>(8);
};

void nest(thread& self, int depth, stacks& s, std::atomic<int>& wrong) {
  auto& mine = s.of[self.number];
  const task* const me = self.running;
  if (!mine.empty() && !heddle::omp::descends(*me, *mine.back())) wrong.fetch_add(1);
  mine.push_back(me);
  if (depth > 0) {
    for (int i = 0; i < 3; ++i) spawn(self, [depth, &s, &wrong](thread& on) { nest(on, depth - 1, s, wrong); });
    taskwait(self);
  }
  if (mine.back() != me) wrong.fetch_add(1);
  mine.pop_back();
}

TEST_P(tasks, who_waits_runs_descendants_only) {
  for (int round = 0; round < 5 * stress(); ++round) {
    stacks s;
    std::atomic<int> wrong{0};
    in_team(GetParam(), [&](thread& self) {
      for (int i = 0; i < 4; ++i) spawn(self, [&](thread& on) { nest(on, 4, s, wrong); });
      // The implicit task, too, is a tied task that waits.
      s.of[self.number].push_back(self.running);
      taskwait(self);
      s.of[self.number].pop_back();
    });
    EXPECT_EQ(wrong.load(), 0);
  }
}

TEST_P(tasks, final_tasks_have_none_that_are_deferred) {
  single_in_team(GetParam(), [&](thread& self) {
    int order = 0;
    explicit_task& it = make(self, [&](thread& on) {
      spawn(on, [&](thread& in) {
        EXPECT_TRUE(in.running->is_final);
        order = 1;
      });
      EXPECT_EQ(order, 1);
    });
    it.is_final = true;
    heddle::omp::submit(self, it);
    taskwait(self);
    EXPECT_EQ(order, 1);
  });
}

TEST_P(tasks, control_variables_are_those_at_the_tasks_making) {
  single_in_team(GetParam(), [&](thread& self) {
    self.running->own_variables().default_device = 3;
    std::atomic<int> seen{0};
    spawn(self, [&](thread& on) {
      seen.store(on.running->variables->default_device);
      on.running->own_variables().default_device = 5;
    });
    self.running->own_variables().default_device = 4;
    taskwait(self);
    EXPECT_EQ(seen.load(), 3);
    EXPECT_EQ(self.running->variables->default_device, 4);
  });
}

TEST_P(tasks, a_cancelled_group_begins_no_task_more) {
  single_in_team(GetParam(), [&](thread& self) {
    std::atomic<int> ran{0};
    heddle::omp::begin_group(self);
    heddle::omp::cancel_group(self);
    for (int i = 0; i < 100; ++i) spawn(self, [&](thread&) { ran.fetch_add(1); });
    heddle::omp::end_group(self);
    EXPECT_EQ(ran.load(), 0);
    spawn(self, [&](thread&) { ran.fetch_add(1); });
    taskwait(self);
    EXPECT_EQ(ran.load(), 1);
  });
}

TEST(tasks_of_one, the_greater_priority_runs_first) {
  std::vector<int> order;
  single_in_team(1, [&](thread& self) {
    for (int i : {1, 5, 3, 4, 2}) {
      explicit_task& it = make(self, [&order, i](thread&) { order.push_back(i); });
      it.priority = i;
      heddle::omp::submit(self, it);
    }
    taskwait(self);
  });
  EXPECT_EQ(order, (std::vector<int>{5, 4, 3, 2, 1}));
}

TEST_P(tasks, a_detached_task_ends_with_its_event) {
  for (int round = 0; round < 20 * stress(); ++round) {
    std::atomic<explicit_task*> event{nullptr};
    std::atomic<bool> fulfilled{false};
    bool right = true;
    std::thread outside([&] {
      while (event.load() == nullptr) std::this_thread::yield();
      fulfilled.store(true);
      heddle::omp::fulfil(*event.load());
    });
    single_in_team(GetParam(), [&](thread& self) {
      int x = 0, successor = 0;
      explicit_task& it = make(self, [](thread&) {});
      it.detachable = true;
      const std::vector<depend_item> out{{&x, depend_kind::out}};
      heddle::omp::submit(self, it, list_of(out));
      spawn(self, {{&x, depend_kind::in}}, [&](thread&) { successor = fulfilled.load() ? 1 : 2; });
      event.store(&it);
      taskwait(self);
      right = successor == 1 && fulfilled.load();
    });
    outside.join();
    ASSERT_TRUE(right);
  }
}

TEST_P(tasks, the_regions_end_waits_for_an_event) {
  for (int round = 0; round < 20 * stress(); ++round) {
    std::atomic<explicit_task*> event{nullptr};
    std::atomic<bool> fulfilled{false};
    std::thread outside([&] {
      while (event.load() == nullptr) std::this_thread::yield();
      std::this_thread::yield();
      fulfilled.store(true);
      heddle::omp::fulfil(*event.load());
    });
    single_in_team(GetParam(), [&](thread& self) {
      explicit_task& it = make(self, [](thread&) {});
      it.detachable = true;
      heddle::omp::submit(self, it);
      event.store(&it);
    });
    EXPECT_TRUE(fulfilled.load());
    outside.join();
  }
}

TEST_P(tasks, an_included_task_leaves_its_event_to_who_waits_for_tasks) {
  for (int round = 0; round < 20 * stress(); ++round) {
    explicit_task* own = nullptr;
    std::atomic<explicit_task*> event{nullptr};
    std::atomic<bool> fulfilled{false};
    std::thread outside([&] {
      while (event.load() == nullptr) std::this_thread::yield();
      fulfilled.store(true);
      heddle::omp::fulfil(*event.load());
    });
    single_in_team(GetParam(), [&](thread& self) {
      std::atomic<bool> child{false};
      const auto included = [&](explicit_task*& it, const auto& body) {
        it = &make(self, body);
        it->detachable = true;
        it->plain = false;
        heddle::omp::run_included(self, *it);
      };
      included(own, [&](thread& s) { spawn(s, [&](thread&) { child.store(true); }); });
      heddle::omp::fulfil(*own);
      taskwait(self);
      explicit_task* others = nullptr;
      heddle::omp::begin_group(self);
      included(others, [](thread&) {});
      event.store(others);
      heddle::omp::end_group(self);
      EXPECT_TRUE(fulfilled.load());
      while (!child.load()) heddle::omp::taskyield(self);
    });
    outside.join();
  }
}

// A task that is cancelled before it begins ends without its event, whose fulfilment comes at any later time: to a
// block that nobody else has got meanwhile.
TEST_P(tasks, a_discarded_task_ends_without_its_event) {
  for (int round = 0; round < 10 * stress(); ++round) {
    std::vector<explicit_task*> events;
    single_in_team(GetParam(), [&](thread& self) {
      int x = 0;
      bool successor = false;
      heddle::omp::begin_group(self);
      heddle::omp::cancel_group(self);
      for (int i = 0; i < 20; ++i) {
        explicit_task& it = make(self, [](thread&) { ADD_FAILURE() << "it was cancelled"; });
        it.detachable = true;
        it.plain = false;
        events.push_back(&it);
        const std::vector<depend_item> out{{&x, depend_kind::out}};
        if (i % 2 == 0) heddle::omp::submit(self, it, list_of(out));
        else heddle::omp::submit(self, it);
      }
      heddle::omp::end_group(self);
      spawn(self, {{&x, depend_kind::in}}, [&](thread&) { successor = true; });
      taskwait(self);
      EXPECT_TRUE(successor);
      // Others use blocks over and over, before and after some of the events come.
      for (int i = 0; i < 10; ++i) heddle::omp::fulfil(*events[i]);
      std::atomic<int> ran{0};
      for (int i = 0; i < 300; ++i) {
        explicit_task& it = make(self, [&](thread&) { ran.fetch_add(1); });
        for (std::size_t k = 10; k < events.size(); ++k) ASSERT_NE(&it, events[k]);
        heddle::omp::submit(self, it);
      }
      taskwait(self);
      EXPECT_EQ(ran.load(), 300);
    });
    std::thread outside([&] {
      for (std::size_t k = 10; k < events.size(); ++k) heddle::omp::fulfil(*events[k]);
    });
    outside.join();
  }
}

TEST(tasks_of_one, an_events_task_begins_where_it_is_made) {
  single_in_team(1, [&](thread& self) {
    bool began = false;
    explicit_task& it = make(self, [&](thread&) { began = true; });
    it.detachable = true;
    it.plain = false;
    heddle::omp::submit(self, it);
    EXPECT_TRUE(began);
    heddle::omp::fulfil(it);
    taskwait(self);
  });
}

// Tasks that run where they are made use the same few blocks, whatever they leave behind.
TEST(tasks_of_one, in_place_one_after_the_other_and_inside_each_other) {
  std::set<const task*> seen;
  int ran = 0, late = 0;
  const auto deeper = [&](auto& again, thread& self, int depth) -> void {
    seen.insert(self.running);
    EXPECT_EQ(self.running->depth.load(), static_cast<std::uint32_t>(depth));
    ++ran;
    if (depth == 20) return;
    for (int i = 0; i < 2 && (i == 0 || depth % 5 == 0); ++i)
      spawn(self, [&again, depth](thread& on) { again(again, on, depth + 1); });
    if (depth % 7 == 3) {  // a child that outlives it
      explicit_task& it = make(self, [&](thread&) { ++late; });
      it.priority = 1;
      it.plain = false;
      heddle::omp::submit(self, it);
    }
  };
  for (int round = 0; round < 50 * stress(); ++round) {
    ran = late = 0;
    single_in_team(1, [&](thread& self) {
      spawn(self, [&](thread& on) { deeper(deeper, on, 1); });
      self.running->own_variables().threads = 3;
      spawn(self, [&](thread& on) {
        EXPECT_EQ(on.running->variables->threads, 3);
        deeper(deeper, on, 1);
      });
      EXPECT_GT(late, -1);
      taskwait(self);
    });
    EXPECT_GT(ran, 40);
    EXPECT_GT(late, 0);
  }
  EXPECT_LE(seen.size(), 2000u) << "blocks come back";
}

// Above some hundred that nobody has begun, a maker runs the next ones itself; none is lost.
TEST_P(tasks, a_maker_runs_some_of_many_itself) {
  for (int round = 0; round < stress(); ++round) {
    std::atomic<int> ran{0}, own{0};
    single_in_team(GetParam(), [&](thread& self) {
      heddle::omp::begin_group(self);
      for (int i = 0; i < 3000; ++i) {
        spawn(self, [&](thread& on) {
          ran.fetch_add(1);
          if (&on == &self) own.fetch_add(1);
        });
      }
      heddle::omp::end_group(self);
      EXPECT_EQ(ran.load(), 3000);
    });
    EXPECT_GT(own.load(), 0);
  }
}

TEST(blocks, sizes_and_places) {
  heddle::omp::task_blocks blocks;
  std::set<explicit_task*> seen;
  std::vector<explicit_task*> held;
  for (const std::size_t size : {0, 1, 128, 129, 384, 385, 1920, 1921, 100000}) {
    for (int i = 0; i < 200; ++i) {
      explicit_task& it = blocks.take(size);
      EXPECT_TRUE(seen.insert(&it).second);
      EXPECT_EQ(&heddle::omp::for_payload(it.payload), &it);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(it.payload) % 64, 0u);
      std::memset(it.payload, 0x5a, size);
      held.push_back(&it);
    }
  }
  for (explicit_task* it : held) blocks.put(*it);
}

TEST(blocks, go_round_between_a_maker_and_an_ender) {
  std::atomic<explicit_task*> hand{nullptr};
  std::set<explicit_task*> seen;
  constexpr int count = 4000;
  std::thread ender([&] {
    heddle::omp::task_blocks blocks;
    for (int i = 0; i < count; ++i) {
      explicit_task* it;
      while ((it = hand.exchange(nullptr)) == nullptr) std::this_thread::yield();
      blocks.put(*it);
    }
  });
  heddle::omp::task_blocks blocks;
  for (int i = 0; i < count; ++i) {
    explicit_task& it = blocks.take(16);
    seen.insert(&it);
    while (hand.load() != nullptr) std::this_thread::yield();
    hand.store(&it);
  }
  ender.join();
  EXPECT_LE(seen.size(), 10u * heddle::omp::magazine_size) << "blocks come back";
}

TEST(taskloop, pieces_cover_the_loop) {
  using heddle::omp::cut_by;
  for (std::uint64_t n : {1, 2, 7, 100, 1001}) {
    for (std::uint64_t amount : {0, 1, 3, 7, 2000}) {
      for (const cut_by how : {cut_by::nothing, cut_by::grainsize, cut_by::num_tasks}) {
        for (const bool strict : {false, true}) {
          const heddle::omp::loop_cut cut = heddle::omp::cut_loop(n, how, amount, strict, 3);
          std::uint64_t sum = 0;
          for (std::uint64_t i = 0; i < cut.tasks; ++i) {
            const std::uint64_t size = cut.size(i);
            EXPECT_GE(size, 1u);
            if (how == cut_by::grainsize && amount != 0 && strict) {
              EXPECT_TRUE(size == amount || (i + 1 == cut.tasks && size <= amount));
            } else if (how == cut_by::grainsize && amount != 0) {
              EXPECT_GE(size, std::min(amount, n));
              EXPECT_LT(size, 2 * amount);
            }
            sum += size;
          }
          EXPECT_EQ(sum, n);
          EXPECT_TRUE(how != cut_by::num_tasks || amount == 0 || cut.tasks == std::min(amount, n));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tasks_test
