// Exceptions in nested groups reach the join, cancel the rest, and
// never hang: Taskflow #131. Random trees of them: kill_test.cpp.
#include <heddle/mutex.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "support/runtimes.hpp"
#include "support/waiting.hpp"

namespace exceptions_test {
namespace {

struct failure : std::runtime_error {
  explicit failure(int depth) : std::runtime_error("failure"), depth(depth) {}
  int depth;
};

class taskflow_131_exceptions : public heddle_test::waiting {};

// Each level has a group of its own with a sibling; the innermost child throws.
void down(int depth, int level, std::atomic<int>& alive) {
  struct scope {
    std::atomic<int>& alive;
    explicit scope(std::atomic<int>& a) : alive(a) { ++alive; }
    ~scope() { --alive; }
  } here(alive);
  if (level == depth) throw failure(level);
  heddle::task_group group;
  group.run([] { heddle::this_thread::yield(); });
  group.run([&, level] { down(depth, level + 1, alive); });
  group.run([] { heddle::this_thread::yield(); });
  group.wait();
}

TEST_P(taskflow_131_exceptions, group_in_group) {
  for (int depth : {0, 1, 2, 10, 100}) {
    std::atomic<int> alive{0};
    run([&] {
      try {
        down(depth, 0, alive);
        ADD_FAILURE() << "nothing was thrown at depth " << depth;
      } catch (const failure& f) {
        EXPECT_EQ(f.depth, depth);
      }
    });
    EXPECT_EQ(alive.load(), 0);
    progress();
  }
}

// The thrower's siblings wait for something that comes only after the throw: the join waits for them, then throws.
TEST_P(taskflow_131_exceptions, while_siblings_block) {
  for (int round = 0; round < 50 * heddle_test::stress(); ++round) {
    heddle::counting_semaphore<> blocked(0), release(0), thrown(0);
    std::atomic<int> ended{0};
    run([&] {
      heddle::thread releaser([&] {
        thrown.acquire();
        for (int i = 0; i < 4; ++i) heddle::this_thread::yield();  // now the exception is on its way, or arrived
        release.release(3);
      });
      try {
        heddle::task_group outer;
        for (int i = 0; i < 3; ++i) {
          outer.run([&] {
            heddle::task_group inner;
            inner.run([&] {
              blocked.release();
              release.acquire();
              ++ended;
            });
            inner.wait();
          });
        }
        outer.run([&] {
          heddle::task_group inner;
          inner.run([&] {
            for (int i = 0; i < 3; ++i) blocked.acquire();  // what has not begun would be dropped
            thrown.release();
            throw failure(1);
          });
          inner.wait();
          ADD_FAILURE() << "the inner wait returned";
        });
        outer.wait();
        ADD_FAILURE() << "the outer wait returned";
      } catch (const failure&) {
        EXPECT_EQ(ended.load(), 3);  // nobody is left behind in a frame that is gone
      }
      releaser.join();
    });
    progress();
  }
}

// The owner itself throws between run and wait; the destructor waits for children that need the owner's guard first.
TEST_P(taskflow_131_exceptions, the_owner_throws_under_a_lock) {
  for (int round = 0; round < 50 * heddle_test::stress(); ++round) {
    heddle::mutex m;
    int under_lock = 0;
    run([&] {
      try {
        heddle::task_group group;
        {
          std::lock_guard hold(m);
          for (int i = 0; i < 4; ++i) {
            group.run([&] {
              std::lock_guard inner(m);
              ++under_lock;
            });
          }
          if (round % 2 == 0) throw failure(0);
        }
        throw failure(1);
      } catch (const failure&) {
      }
      EXPECT_EQ(under_lock, 4);
    });
    progress();
  }
}

TEST_P(taskflow_131_exceptions, many_at_a_time_one_arrives) {
  for (int round = 0; round < 20 * heddle_test::stress(); ++round) {
    std::atomic<int> threw{0}, caught{0};
    run([&] {
      heddle::task_group outer;
      for (int i = 0; i < 8; ++i) {
        outer.run([&] {
          try {
            heddle::task_group inner;
            for (int k = 0; k < 8; ++k) {
              inner.run([&] {
                heddle::this_thread::yield();
                ++threw;
                throw failure(2);
              });
            }
            inner.wait();
          } catch (const failure&) {
            ++caught;
          }
        });
      }
      outer.wait();
    });
    EXPECT_EQ(caught.load(), 8);
    EXPECT_GE(threw.load(), 8);
    progress();
  }
}

TEST_P(taskflow_131_exceptions, a_group_can_be_used_again) {
  run([] {
    heddle::task_group group;
    for (int round = 0; round < 20; ++round) {
      group.run([] { throw failure(0); });
      EXPECT_THROW(group.wait(), failure);
      int ran = 0;
      group.run([&] { ++ran; });
      group.wait();
      EXPECT_EQ(ran, 1);
    }
  });
}

TEST_P(taskflow_131_exceptions, forks_loops_and_groups_mixed) {
  for (int where = 0; where < 64; ++where) {
    run([&] {
      std::atomic<int> reached{0};
      const auto leaf = [&](int i) {
        ++reached;
        if (i == where) throw failure(where);
      };
      try {
        heddle::parallel_invoke(
            [&] {
              heddle::task_group group;
              group.run([&] { heddle::parallel_for(0, 16, leaf, {.grain = 1}); });
              group.run([&] { heddle::parallel_for(16, 32, leaf, {.grain = 3}); });
              group.wait();
            },
            [&] {
              heddle::parallel_for(2, 4,
                                   [&](int k) {
                                     heddle::parallel_invoke(
                                         [&] {
                                           for (int i = 0; i < 8; ++i) leaf(16 * k + i);
                                         },
                                         [&] {
                                           for (int i = 8; i < 16; ++i) leaf(16 * k + i);
                                         });
                                   },
                                   {.grain = 1});
            });
        ADD_FAILURE() << "nothing was thrown at " << where;
      } catch (const failure& f) {
        EXPECT_EQ(f.depth, where);
      }
      EXPECT_LE(reached.load(), 64);
    });
    progress();
  }
}

// The payload of the exception is destroyed once, after the join.
TEST_P(taskflow_131_exceptions, payload_is_destroyed) {
  struct heavy {
    std::shared_ptr<int> count;
  };
  const auto count = std::make_shared<int>(7);
  for (int round = 0; round < 50; ++round) {
    run([&] {
      try {
        heddle::task_group group;
        for (int i = 0; i < 4; ++i) group.run([&] { throw heavy{count}; });
        group.wait();
      } catch (const heavy& h) {
        EXPECT_EQ(*h.count, 7);
      }
    });
    ASSERT_EQ(count.use_count(), 1) << round;
  }
}

HEDDLE_OVER_RUNTIMES(taskflow_131_exceptions);

}  // namespace
}  // namespace exceptions_test
