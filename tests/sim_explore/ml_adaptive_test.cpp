// ml-adaptive, under schedules that differ at every atomic operation: forks of unlike halves that fit into no cache,
// whose tasks are tied to caches, and what lies around and inside them: groups, even forks, threads that wait.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include <heddle/heddle.hpp>

#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace ml_adaptive_test {
namespace {

runtime_options two_packages() {
  runtime_options o = workers(4);
  o.policy = "ml-adaptive";
  o.machine = "synthetic:pack:2 l3:1(size=65536) l2:2(size=4096) core:1 pu:1";
  return o;
}

// 1 to 3, down to what fits into a second level; leaves count.
void cut(std::atomic<int>& done, std::size_t bytes, mutex& lock) {
  if (bytes < 40000) {
    std::lock_guard hold(lock);
    if (done.fetch_add(1) % 3 == 0) this_thread::yield();
    return;
  }
  parallel_invoke(
      work_hint{1, 3, bytes}, [&done, bytes, &lock] { cut(done, bytes / 4, lock); },
      [&done, bytes, &lock] { cut(done, bytes / 4 * 3, lock); });
}

int leaves(std::size_t bytes) { return bytes < 40000 ? 1 : leaves(bytes / 4) + leaves(bytes / 4 * 3); }

TEST(ml_adaptive, ends_unlike_halves_larger_than_the_caches) {
  expect_right(
      [] {
        runtime home(two_packages());
        std::atomic<int> done{0};
        mutex lock;
        on(home, [&] {
          cut(done, 1 << 18, lock);
          task_group group(2, 1 << 18);  // laid out again
          group.run([&] { cut(done, 1 << 17, lock); }, 1);
          group.run([&] { cut(done, 1 << 17, lock); }, 1);
          group.wait();
        });
        require(done.load() == leaves(1 << 18) + 2 * leaves(1 << 17));
      },
      schedules() / 3);
}

TEST(ml_adaptive, ends_what_lies_inside_and_throws) {
  expect_right(
      [] {
        runtime home(two_packages());
        std::atomic<int> done{0};
        on(home, [&] {
          for (int round = 0; round < 2; ++round) {
            try {
              parallel_invoke(
                  work_hint{1, 4, 1 << 18},
                  [&] {
                    task_group inside(2, 1 << 12);
                    inside.run([&] { done.fetch_add(1); });
                    inside.run([&] { parallel_for(0, 4, [&](int) { done.fetch_add(1); }); });
                    inside.wait();
                  },
                  [&] {
                    done.fetch_add(1);
                    throw std::runtime_error("second half");
                  });
            } catch (const std::runtime_error&) {
              done.fetch_add(1);
            }
          }
        });
        require(done.load() == 2 * (1 + 4 + 1 + 1));
      },
      schedules() / 3);
}

}  // namespace
}  // namespace ml_adaptive_test
}  // namespace heddle::sim
