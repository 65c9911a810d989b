// Children of groups: queued, taken by thieves, begun by their owner,
// counted. Under schedules that differ at every atomic operation.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>

#include <heddle/heddle.hpp>

#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace groups_test {
namespace {

void nested() {
  std::atomic<int> done{0};
  task_group outer;
  for (int i = 0; i < 3; ++i) {
    outer.run([&] {
      task_group inner;
      inner.run([&] { done.fetch_add(1); });
      inner.run([&] { done.fetch_add(1); });
      inner.wait();
    });
  }
  outer.wait();
  require(done.load() == 6);
}

// The newest entry in the queue is another group's child, and none of the remaining children is there.
void two_in_a_queue() {
  std::atomic<int> first{0}, second{0};
  task_group a, b;
  a.run([&] { first.fetch_add(1); });
  b.run([&] { second.fetch_add(1); });
  a.run([&] { first.fetch_add(1); });
  b.wait();
  require(second.load() == 1);
  b.run([&] { second.fetch_add(1); });
  a.wait();
  require(first.load() == 2);
  b.wait();
  require(second.load() == 2);
}

// Thieves empty the queue, which begins at its base again: where a group's last child lay, another group's lies now.
void a_position_used_again() {
  std::atomic<int> first{0}, second{0};
  task_group a, b;
  b.run([&] { second.fetch_add(1); });
  while (second.load() == 0) this_thread::pause();
  a.run([&] { first.fetch_add(1); });
  while (first.load() == 0) this_thread::pause();
  a.wait();
  a.run([&] { first.fetch_add(1); });
  b.wait();
  a.wait();
  require(first.load() == 2 && second.load() == 1);
}

// Children that were taken add children, which their group counts
// from the start; the owner runs some itself, some wait for others.
void children_of_children() {
  std::atomic<int> done{0};
  latch open(1);
  task_group group;
  for (int i = 0; i < 2; ++i) {
    group.run([&, i] {
      group.run([&] { done.fetch_add(1); });
      if (i == 0) open.count_down();
      else open.wait();
      done.fetch_add(1);
    });
  }
  group.wait();
  require(done.load() == 4);
  group.run([&] { done.fetch_add(1); });
  group.wait();
  require(done.load() == 5);
}

// A child that the owner began parks on the owner's stack; who wakes it lies below it in the queue.
void parked_on_the_owners_stack() {
  std::atomic<int> done{0};
  latch open(1);
  task_group group;
  group.run([&] {
    open.count_down();
    done.fetch_add(1);
  });
  group.run([&] {
    open.wait();
    done.fetch_add(1);
  });
  group.wait();
  require(done.load() == 2);
}

// The owner begins no child, so thieves take them, several at a time. One waits for another, which may have been taken
// with it.
void taken_several_at_once() {
  std::atomic<int> done{0};
  latch open(1);
  task_group group;
  for (int i = 0; i < 6; ++i) {
    group.run([&, i] {
      if (i == 2) open.wait();
      if (i == 4) open.count_down();
      done.fetch_add(1);
    });
  }
  while (done.load() < 6) this_thread::pause();
  group.wait();
  require(done.load() == 6);
}

void a_child_throws() {
  task_group group;
  std::atomic<int> ran{0};
  bool caught = false;
  group.run([] { throw std::runtime_error("child"); });
  for (int i = 0; i < 3; ++i) group.run([&] { ran.fetch_add(1); });
  try {
    group.wait();
  } catch (const std::runtime_error&) {
    caught = true;
  }
  require(caught && ran.load() <= 3);
}

// Threads wait that do not own the group, while its owner makes children, runs some, and waits, too.
void others_wait() {
  std::atomic<int> done{0};
  task_group group;
  group.run([&] { done.fetch_add(1); });
  const auto wait = [&] {
    group.wait();
    require(done.load() >= 1);
  };
  thread a(wait), b(wait);
  group.run([&] { done.fetch_add(1); });
  group.wait();
  require(done.load() == 2);
  a.join();
  b.join();
}

// The owner makes the children at the time when another thread begins to wait, and does not wait itself.
void another_waits_alone() {
  std::atomic<int> done{0};
  latch begun(1), over(1);
  task_group group;
  group.run([&] {
    begun.wait();
    done.fetch_add(1);
  });
  thread waits([&] {
    begun.count_down();
    group.wait();
    require(done.load() >= 1);
    over.count_down();
  });
  group.run([&] { done.fetch_add(1); });
  over.wait();
  waits.join();
  group.wait();
  require(done.load() == 2);
}

struct scene {
  const char* name;
  void (*play)();
};
constexpr scene scenes[] = {{"nested", nested},
                            {"two_in_a_queue", two_in_a_queue},
                            {"a_position_used_again", a_position_used_again},
                            {"children_of_children", children_of_children},
                            {"parked_on_the_owners_stack", parked_on_the_owners_stack},
                            {"taken_several_at_once", taken_several_at_once},
                            {"a_child_throws", a_child_throws},
                            {"others_wait", others_wait},
                            {"another_waits_alone", another_waits_alone}};

verdict explored(const scene& s) {
  return explore(
      [&s] {
        runtime home(workers(3));
        on(home, s.play);
      },
      schedules(), first_schedule());
}

#if !defined(HEDDLE_MUTANT)

TEST(groups, end_with_all_their_children) {
  for (const scene& s : scenes) {
    const verdict v = explored(s);
    EXPECT_FALSE(v.failed) << s.name << ": schedule " << v.seed << " ended with status " << v.status;
  }
}

#else

TEST(groups, some_schedule_shows_the_mistake) {
  expect_found(scenes, [](const scene& s) { return explored(s); });
}

#endif

}  // namespace
}  // namespace groups_test
}  // namespace heddle::sim
