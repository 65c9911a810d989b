// Recording, relaxed and strict replay under schedules that differ at
// every atomic operation, with programs that change.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include <heddle/heddle.hpp>

#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace constrained_ws_test {
namespace {

runtime_options constrained(const char* parameters) {
  runtime_options o = workers(3);
  o.policy = std::string("constrained_ws:") + parameters;
  return o;
}

TEST(constrained_ws, strict_replay_repeats_the_map_of_the_record) {
  for (const char* parameters : {"relws=0", "replay=stuws,relws=1"}) {
    expect_right(
        [parameters] {
          runtime home(constrained(parameters));
          on(home, [&] {
            std::vector<int> recorded(4), now(4);
            for (int i = 0; i < 4; ++i) {
              task_group group;
              for (std::size_t k = 0; k < 4; ++k) group.run([&, k] { now[k] = home.worker_rank(); });
              group.wait();
              if (i == 2) recorded = now;
              // A record without pieces goes on being revised.
              if (i > 2 && recorded != std::vector<int>(4, recorded[0])) require(now == recorded);
            }
          });
        },
        schedules() / 6);
  }
}

TEST(constrained_ws, programs_that_change_lose_nothing) {
  expect_right(
      [] {
        runtime home(constrained("relws=0"));
        std::atomic<int> done{0};
        on(home, [&] {
          mutex lock;
          for (int i = 0; i < 4; ++i) {
            task_group group;
            for (int k = 0; k < 2 + i % 3; ++k) {
              group.run([&, k] {
                std::lock_guard hold(lock);
                parallel_invoke([&] { done.fetch_add(1); },
                                [&] {
                                  if (k % 2 == 0) this_thread::yield();
                                });
              });
            }
            group.wait();
          }
        });
        require(done.load() == 2 + 3 + 4 + 2);
      },
      schedules() / 6);
}

}  // namespace
}  // namespace constrained_ws_test
}  // namespace heddle::sim
