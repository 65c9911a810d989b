// task_group: which worker runs the children of an owner, with one worker, with two, and on a foreign kernel thread.
#include <heddle/latch.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

namespace group_owner_test {
namespace {

// With one worker, where children are sure to begin in wait(), on the owner's stack.
heddle::runtime_options alone() {
  heddle::runtime_options options;
  options.workers = 1;
  options.policy = "random_ws";
  return options;
}

TEST(owner_alone, a_child_does_not_wait_for_its_own_group) {
  heddle::runtime one(alone());
  one.run([] {
    bool refused = false;
    heddle::task_group g;
    g.run([&] {
      try {
        g.wait();
      } catch (const std::logic_error&) {
        refused = true;
      }
    });
    g.wait();
    EXPECT_TRUE(refused);
  });
}

// The owner waits for something else than its group: its worker begins the children.
TEST(owner_alone, children_begin_when_their_owner_waits_for_anything) {
  heddle::runtime one(alone());
  one.run([] {
    heddle::task_group g;
    heddle::latch done(2);
    g.run([&] { done.count_down(); });
    g.run([&] { done.count_down(); });
    done.wait();
    g.wait();
  });
}

heddle::runtime_options two() {
  heddle::runtime_options options = alone();
  options.workers = 2;
  return options;
}

// The owner makes as many children as are queued and never waits until another worker has taken them all. Further
// children are queued, too, and do not run in the owner's place.
TEST(owner_beside_another, children_that_were_taken_make_room) {
  heddle::runtime both(two());
  both.run([&] {
    constexpr int limit = 4096, more = 1000;
    std::atomic<int> done{0}, in_place{0};
    const int owner = both.worker_rank();
    heddle::task_group g;
    for (int i = 0; i < limit; ++i) g.run([&] { ++done; });
    while (done.load() < limit) std::this_thread::yield();
    ASSERT_EQ(both.worker_rank(), owner);
    for (int i = 0; i < more; ++i) {
      g.run([&] {
        if (both.worker_rank() == owner) ++in_place;
        ++done;
      });
    }
    while (done.load() < limit + more) std::this_thread::yield();
    EXPECT_EQ(in_place.load(), 0);
    g.wait();
  });
}

// The owner runs none of its children, so the other worker does, and has taken several when one of them waits.
TEST(owner_beside_another, a_child_that_waits_holds_up_none_that_was_taken_with_it) {
  heddle::runtime both(two());
  both.run([&] {
    constexpr int children = 600;
    std::atomic<int> done{0};
    heddle::task_group g;
    std::array<std::unique_ptr<heddle::latch>, children + 1> open;
    for (auto& each : open) each = std::make_unique<heddle::latch>(1);
    for (int i = 0; i < children; ++i) {
      g.run([&, i] {
        if (i % 200 > 150) open[static_cast<std::size_t>(i) + 1]->wait();  // for a younger one
        open[static_cast<std::size_t>(i)]->count_down();
        ++done;
      });
    }
    open[children]->count_down();
    while (done.load() < children) std::this_thread::yield();
    g.wait();
    EXPECT_EQ(done.load(), children);
  });
}

TEST(owner_outside, whole_life_on_a_foreign_thread) {
  std::atomic<int> done{0};
  heddle::task_group g;
  for (int i = 0; i < 100; ++i) g.run([&] { ++done; });
  g.wait();
  EXPECT_EQ(done.load(), 100);
}

}  // namespace
}  // namespace group_owner_test
