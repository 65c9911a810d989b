// Locality-guided work stealing: the lists and affinities over a host of eight workers, and programs in a runtime.
#include <heddle/iteration.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "policy/iterations/affinity_memory.hpp"
#include "policy/registry.hpp"
#include "support/cluster_host.hpp"
#include "support/watchdog.hpp"

namespace locality_ws_test {
namespace {

using namespace heddle::policy;
using testing::ElementsAre;
using testing::HasSubstr;

// --- where tasks ran ---------------------------------------------------------------------------------------------

TEST(affinity_memory, knows_the_last_worker_of_a_task) {
  affinity_memory memory;
  memory.start(4);
  constexpr std::uint64_t one = 0x123456789abc0000, other = one + (4ull << 16);  // the same entry
  EXPECT_EQ(memory.worker_of(one), nobody);
  EXPECT_EQ(memory.worker_of(0), nobody) << "an entry that nobody wrote";
  memory.note(one, 0);
  EXPECT_EQ(memory.worker_of(one), 0u);
  memory.note(one, 65000);
  EXPECT_EQ(memory.worker_of(one), 65000u);
  EXPECT_EQ(memory.worker_of(other), nobody);
  memory.note(other, 3);
  EXPECT_EQ(memory.worker_of(other), 3u);
  EXPECT_EQ(memory.worker_of(one), nobody) << "the last one is known";
}

// --- the policy alone --------------------------------------------------------------------------------------------

// A root on worker 0 that makes a group of children in each iteration.
class locality_alone : public testing::Test {
 protected:
  void begin(const std::string& text) {
    made_ = make(text);
    made_->start(host_);
    start_root();
  }
  void start_root() {
    root_ = task{};
    EXPECT_EQ(made_->started(0, {root_, nullptr, &label_, not_given, not_given, 0, 0, 0, nullptr}), placement::stay);
  }
  void open(task& owner) {
    groups_.push_back({not_given, 0, 0, 0, owner, nullptr});
    made_->group_begin(0, groups_.back());
  }
  void close() {
    made_->group_wait(0, groups_.back());
    EXPECT_EQ(made_->group_end(0, groups_.back()), placement::stay);
    groups_.pop_back();
  }
  // Children of `parent`, which worker `self` runs.
  void children(unsigned count, task* parent = nullptr, unsigned self = 0) {
    tasks_.clear();
    for (unsigned i = 0; i < count; ++i) {
      tasks_.emplace_back();
      const task_info info{tasks_.back(), parent != nullptr ? parent : &root_, &label_, not_given, not_given, 0, i, 0,
                           nullptr};
      ASSERT_EQ(made_->spawn(self, info), placement::send) << i;
      made_->enqueue(self, tasks_.back());
    }
  }
  // The number of the child that the worker takes, or -1.
  int take(unsigned self, effort how = effort::insist) {
    entry found = made_->pick(self, true);
    if (found == 0) found = made_->acquire(self, how);
    if (found == 0) return -1;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (found != reinterpret_cast<entry>(&tasks_[i])) continue;
      made_->task_end(self, tasks_[i]);
      return static_cast<int>(i);
    }
    return -2;
  }
  std::vector<int> taken_by(const std::vector<unsigned>& workers) {
    std::vector<int> all;
    for (const unsigned w : workers) all.push_back(take(w));
    return all;
  }
  // An iteration in which worker w takes child w, as the oldest one that is left.
  void first_iteration() {
    open(root_);
    children(8);
    EXPECT_EQ(taken_by({7, 6, 5, 4, 3, 2, 1, 0}), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
    close();
  }

  heddle_test::cluster_host host_;
  std::unique_ptr<policy> made_;
  task root_{};
  std::deque<task> tasks_;

 private:
  std::deque<group_info> groups_;
  const int label_{0};
};

TEST_F(locality_alone, steals_at_random_at_first_and_then_looks_into_its_list) {
  begin("locality_ws");
  first_iteration();
  host_.woken.clear();
  open(root_);
  children(8);
  EXPECT_EQ(host_.woken, (std::vector<unsigned>{7, 6, 5, 4, 3, 2, 1})) << "each its own, and nobody for worker 0's";
  // Child i ran on worker 7 - i, whatever the order in which they come now.
  EXPECT_EQ(taken_by({3, 6, 1, 7, 2, 4}), (std::vector<int>{4, 1, 6, 0, 5, 3}));
  EXPECT_EQ(taken_by({0, 5, 0}), (std::vector<int>{7, 2, -1}));
  close();
}

TEST_F(locality_alone, a_task_goes_to_who_comes_first) {
  begin("locality_ws");
  first_iteration();
  open(root_);
  children(8);
  EXPECT_EQ(take(0), 7) << "its own newest";
  EXPECT_EQ(take(0), 6) << "whomever it wants";
  EXPECT_EQ(take(1), 0) << "what it wants is gone, so it steals the oldest";
  EXPECT_EQ(take(7), 1) << "and so on";
  EXPECT_EQ(taken_by({5, 4, 3, 2, 6}), (std::vector<int>{2, 3, 4, 5, -1}));
  close();
  // The affinities are those of the last iteration.
  open(root_);
  children(8);
  EXPECT_EQ(taken_by({1, 7, 5, 0, 0}), (std::vector<int>{0, 1, 2, 7, 6}));
  EXPECT_EQ(taken_by({4, 3, 2}), (std::vector<int>{3, 4, 5}));
  close();
}

TEST_F(locality_alone, a_list_is_first_in_first_out) {
  begin("locality_ws");
  open(root_);
  children(4);
  EXPECT_EQ(taken_by({5, 5, 5, 5}), (std::vector<int>{0, 1, 2, 3}));
  close();
  open(root_);
  children(4);
  EXPECT_EQ(take(0), 3) << "of a worker's own the newest";
  EXPECT_EQ(take(5), 0);
  EXPECT_EQ(taken_by({5, 5, 5}), (std::vector<int>{1, 2, -1}));
  close();
}

// The children of a child are known by its path.
TEST_F(locality_alone, a_task_is_known_by_its_path) {
  begin("locality_ws");
  std::deque<task> parents;
  for (int iteration = 0; iteration < 2; ++iteration) {
    open(root_);
    children(2);
    parents.swap(tasks_);
    for (unsigned i = 0; i < 2; ++i) {
      const entry found = made_->acquire(1 + i, effort::insist);
      ASSERT_EQ(found, reinterpret_cast<entry>(&parents[i]));
    }
    for (unsigned i = 0; i < 2; ++i) {
      open(parents[i]);
      children(2, &parents[i], 1 + i);
      // those of the first go to workers 3 and 4, those of the second to 5 and 6
      if (iteration == 0) EXPECT_EQ(taken_by({3 + 2 * i, 4 + 2 * i}), (std::vector<int>{0, 1}));
      else EXPECT_EQ(taken_by({4 + 2 * i, 3 + 2 * i}), (std::vector<int>{1, 0}));
      close();
    }
    close();
  }
}

TEST_F(locality_alone, finer_tasks_stay_in_fork_queues) {
  begin("locality_ws:depth=1");
  EXPECT_TRUE(made_->fork_begin(0, {1, 1, 0, root_}));
  task half{};
  const task_info info{half, &root_, nullptr, not_given, not_given, 0, 1, 0, nullptr};
  ASSERT_EQ(made_->fork(0, {1, 1, 0, root_}, info), placement::send);
  made_->enqueue(0, half);
  EXPECT_FALSE(made_->fork_begin(0, {1, 1, 0, root_})) << "the first half is as deep as the second";
  host_.unwatched.clear();
  ASSERT_EQ(made_->acquire(2, effort::insist), reinterpret_cast<entry>(&half));
  EXPECT_THAT(host_.unwatched, ElementsAre(2u));
  EXPECT_FALSE(made_->fork_begin(2, {1, 1, 0, half}));
  EXPECT_EQ(made_->fork_end(0, root_, 0), placement::stay);
  EXPECT_TRUE(made_->fork_begin(0, {1, 1, 0, root_}));
}

TEST_F(locality_alone, patience_delays_steals_and_nothing_else) {
  begin("locality_ws:patience=2");
  open(root_);
  children(2);
  EXPECT_EQ(take(3, effort::glance), -1);
  EXPECT_EQ(take(3), -1);
  EXPECT_EQ(take(3), -1);
  EXPECT_EQ(take(3), 0);
  EXPECT_EQ(take(3), -1) << "it has found something, so it waits again";
  EXPECT_EQ(take(0), 1);
  close();
  open(root_);
  children(2);
  EXPECT_EQ(take(3, effort::glance), 0) << "what wants it is there at once";
  close();
}

// Iterations inside one outermost group.
TEST_F(locality_alone, marks_tell_iterations_inside_a_group) {
  for (const bool marked : {false, true}) {
    begin("locality_ws");
    open(root_);
    for (int iteration = 0; iteration < 2; ++iteration) {
      if (marked) {
        EXPECT_EQ(made_->next_iteration(0, root_, this), placement::stay);
      }
      open(root_);
      children(3);
      if (iteration == 0) EXPECT_EQ(taken_by({1, 2, 3}), (std::vector<int>{0, 1, 2}));
      else EXPECT_EQ(take(3), marked ? 2 : 0);
      while (take(0) >= 0) {
      }
      close();
    }
    close();
  }
}

// Two loops over the same data, whose children run other code.
TEST_F(locality_alone, what_the_tasks_run_is_all_one) {
  begin("locality_ws");
  first_iteration();
  open(root_);
  task other{};
  const int code = 0;
  ASSERT_EQ(made_->spawn(0, {other, &root_, &code, not_given, not_given, 0, 0, 0, nullptr}), placement::send);
  made_->enqueue(0, other);
  EXPECT_EQ(made_->pick(7, true), reinterpret_cast<entry>(&other)) << "as child 0 of the loop before";
  close();
}

// A root that ends, and the next one: they are the same program.
TEST_F(locality_alone, the_next_root_finds_what_the_last_one_left) {
  begin("locality_ws");
  first_iteration();
  start_root();
  open(root_);
  children(8);
  EXPECT_EQ(take(3), 4);
  while (take(0) >= 0) {
  }
  close();
}

TEST_F(locality_alone, children_of_a_full_list_run_at_once) {
  begin("locality_ws");
  open(root_);
  children(1024);
  task one_more{};
  EXPECT_EQ(made_->spawn(0, {one_more, &root_, nullptr, not_given, not_given, 0, 1024, 0, nullptr}),
            placement::child_first);
  EXPECT_TRUE(made_->may_find(4));
  for (int i = 0; i < 1024; ++i) ASSERT_GE(take(static_cast<unsigned>(i) % 8), 0);
  EXPECT_FALSE(made_->may_find(4));
  close();
}

TEST(locality_ws, bad_parameters_are_named) {
  for (const auto& [text, what] : {std::pair{"locality_ws:tasks=0", "tasks"},
                                   {"locality_ws:depth=65", "depth"},
                                   {"locality_ws:patience=-1", "patience"},
                                   {"locality_ws:tasks=1.5", "whole number"},
                                   {"locality_ws:affinity=1", "no parameter 'affinity'"}}) {
    try {
      static_cast<void>(make(text));
      ADD_FAILURE() << text << " was taken";
    } catch (const std::invalid_argument& wrong) {
      EXPECT_THAT(wrong.what(), HasSubstr(what)) << text;
    }
  }
}

// --- programs ------------------------------------------------------------------------------------------------------

// Iterations that change their shape, from one root or several: each part of each runs once.
TEST(locality_ws, programs_that_change_lose_nothing) {
  heddle_test::watchdog guard("locality_ws");
  for (const char* policy : {"locality_ws", "locality_ws:tasks=1", "locality_ws:depth=2,patience=3"}) {
    for (const unsigned workers : {1u, 2u, 4u}) {
      heddle::runtime rt({.workers = workers, .policy = policy});
      for (const bool one_root : {true, false}) {
        std::atomic<long> ran{0};
        long due = 0;
        const auto iterate = [&](int i) {
          const int n = 1 + i % 7;
          heddle::next_iteration();
          heddle::task_group group;
          for (int k = 0; k < n; ++k) {
            group.run([&] {
              heddle::parallel_for(0, 16, [&](int) { ran.fetch_add(1); }, {.grain = 1});
              heddle::parallel_invoke([&] { ran.fetch_add(1); }, [&] { ran.fetch_add(1); });
            });
          }
          group.wait();
          due += n * 18;
        };
        if (one_root) {
          rt.run([&] {
            for (int i = 0; i < 40; ++i) iterate(i);
          });
        } else {
          for (int i = 0; i < 40; ++i) rt.run([&] { iterate(i); });
        }
        EXPECT_EQ(ran.load(), due) << policy << ", " << workers << " workers, one root: " << one_root;
        guard.progress();
      }
    }
  }
}

}  // namespace
}  // namespace locality_ws_test
