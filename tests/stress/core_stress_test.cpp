// A long random mix of everything the core does: forks, groups, threads, yields, joins,
// detaches, locks, loops, calls that block, foreign submitters, runtimes that come and
// go. Length: HEDDLE_STRESS. Every leaf is counted, so lost or repeated work shows.
#include <heddle/blocking.hpp>
#include <heddle/mutex.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/sleep.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace core_stress_test {
namespace {

using namespace std::chrono_literals;

// The sum of a tree. `plain` is written without synchronisation except the library's own, for ThreadSanitizer.
struct tree {
  heddle_test::watchdog& dog;
  heddle::mutex lock;
  long plain{0};  // under lock
  std::atomic<long> leaves{0};
  std::atomic<long> detached{0};  // detached threads that have not ended
  explicit tree(heddle_test::watchdog& d) : dog(d) {}

  // Number of leaves below a node, by the same random choices, without running anything.
  static long expected(std::uint64_t seed, int depth) {
    heddle::base::random_source random(seed);
    if (depth == 0) return 1;
    const unsigned what = random.below(9);
    const std::uint64_t left = random.next(), right = random.next();
    switch (what) {
      case 4: return 7 + expected(left, depth - 1);
      case 5: return 1 + expected(left, depth - 1);
      default: return expected(left, depth - 1) + expected(right, depth - 1);
    }
  }

  void leaf(std::uint64_t seed) {
    heddle::base::random_source random(seed);
    switch (random.below(8)) {
      case 0: heddle::this_thread::yield(); break;
      case 1: {
        std::lock_guard hold(lock);
        ++plain;
        if (random.below(4) == 0) heddle::this_thread::yield();  // with the lock held
        break;
      }
      case 2:
        if (random.below(16) == 0) heddle::blocking([] { std::this_thread::yield(); });
        break;
      case 3:
        if (random.below(16) == 0) heddle::this_thread::sleep_for(50us);
        break;
      default: break;
    }
    ++leaves;
    dog.progress();
  }

  void node(std::uint64_t seed, int depth) {
    heddle::base::random_source random(seed);
    if (depth == 0) return leaf(seed);
    const unsigned what = random.below(9);
    const std::uint64_t left = random.next(), right = random.next();
    const auto a = [this, left, depth] { node(left, depth - 1); };
    const auto b = [this, right, depth] { node(right, depth - 1); };
    int written = 0;  // by one side, read after the join
    switch (what) {
      case 0: {
        heddle::task_group group;
        group.run([&] {
          a();
          written = 1;
        });
        group.run(b);
        group.wait();
        ASSERT_EQ(written, 1);
        break;
      }
      case 1: {
        heddle::thread t([&] {
          a();
          written = 1;
        });
        b();
        t.join();
        ASSERT_EQ(written, 1);
        break;
      }
      case 2: {
        // Detached; joined by a semaphore that it releases with its last act.
        auto done = std::make_shared<heddle::counting_semaphore<>>(0);
        ++detached;
        heddle::thread([this, a, done] {
          a();
          --detached;
          done->release();
        }).detach();
        b();
        done->acquire();
        break;
      }
      case 3: {
        // Children of children, run from another thread than the owner.
        heddle::task_group group;
        group.run([&] {
          group.run(a);
          heddle::this_thread::yield();
          group.run(b);
        });
        group.wait();
        break;
      }
      case 4:
        heddle::parallel_for(0, 7, [&](int i) { leaf(right + static_cast<std::uint64_t>(i)); }, {.grain = 1});
        a();
        break;
      case 5: {
        // A child that waits for its sibling: needs a stack of its own.
        heddle::counting_semaphore<> ready(0);
        heddle::task_group group;
        group.run([&] {
          ready.acquire();
          leaf(right);
        });
        group.run([&] {
          a();
          ready.release();
        });
        group.wait();
        break;
      }
      default:
        heddle::parallel_invoke(
            [&] {
              a();
              written = 1;
            },
            b);
        ASSERT_EQ(written, 1);
    }
  }
};

class core_stress : public testing::TestWithParam<std::tuple<unsigned, std::string>> {
 protected:
  heddle::runtime_options options() const {
    heddle::runtime_options o;
    o.workers = std::get<0>(GetParam());
    o.policy = std::get<1>(GetParam());
    return o;
  }
};

TEST_P(core_stress, random_trees) {
  heddle_test::watchdog dog("core stress");
  heddle::runtime rt(options());
  for (int round = 0; round < 6 * heddle_test::stress(); ++round) {
    const auto seed = static_cast<std::uint64_t>(1000 + round);
    tree t(dog);
    rt.run([&] { t.node(seed, 9); });
    ASSERT_EQ(t.leaves.load(), tree::expected(seed, 9)) << "seed " << seed;
    ASSERT_EQ(t.detached.load(), 0) << "seed " << seed;
  }
}

TEST_P(core_stress, foreign_submitters) {
  heddle_test::watchdog dog("core stress");
  heddle::runtime rt(options());
  std::vector<std::thread> submitters;
  for (int k = 0; k < 4; ++k) {
    submitters.emplace_back([&, k] {
      for (int round = 0; round < 8 * heddle_test::stress(); ++round) {
        const auto seed = static_cast<std::uint64_t>(7000 + 100 * k + round);
        tree t(dog);
        if (round % 2 == 0) {
          rt.run([&] { t.node(seed, 5); });
        } else {
          heddle::thread apart({.where = &rt}, [&] { t.node(seed, 5); });
          apart.join();
        }
        ASSERT_EQ(t.leaves.load(), tree::expected(seed, 5)) << "seed " << seed;
      }
    });
  }
  for (auto& s : submitters) s.join();
}

TEST_P(core_stress, runtimes_come_and_go) {
  heddle_test::watchdog dog("core stress");
  heddle::runtime lasting(options());
  std::vector<std::thread> makers;
  for (int k = 0; k < 2; ++k) {
    makers.emplace_back([&, k] {
      for (int round = 0; round < 5 * heddle_test::stress(); ++round) {
        const auto seed = static_cast<std::uint64_t>(9000 + 100 * k + round);
        tree t(dog);
        std::atomic<long> late{0};
        {
          heddle::runtime own(options());
          own.run([&] {
            t.node(seed, 4);
            lasting.run([&] { t.node(seed + 1, 3); });  // from one runtime's thread into another's
          });
          for (int i = 0; i < 5; ++i) {
            heddle::thread({.where = &own}, [&] {
              heddle::this_thread::yield();
              ++late;
            }).detach();
          }
        }  // waits for the detached threads
        ASSERT_EQ(late.load(), 5);
        ASSERT_EQ(t.leaves.load(), tree::expected(seed, 4) + tree::expected(seed + 1, 3)) << "seed " << seed;
      }
    });
  }
  for (auto& m : makers) m.join();
}

std::vector<unsigned> worker_counts() {
  std::vector<unsigned> counts = {1, 2, 4, 8, 3 * std::max(1u, std::thread::hardware_concurrency())};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

INSTANTIATE_TEST_SUITE_P(workers, core_stress,
                         testing::Combine(testing::ValuesIn(worker_counts()),
                                          testing::Values("random_ws", "random_ws:spawn=child",
                                                          "random_ws:spawn=parent", "serial")),
                         heddle_test::runtime_name);

}  // namespace
}  // namespace core_stress_test
