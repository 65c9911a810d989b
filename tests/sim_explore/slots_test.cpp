// Thread slots under schedules that differ at every atomic operation: whichever thread a task comes to run on, it finds
// what is bound by who waits for it, or nothing ([slot:3], [slot:4] of src/worker/carriers/slots.md).
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include <heddle/heddle.hpp>

#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace slots_test {
namespace {

struct mark {
  const mark* parent;
};

constexpr thread_slot<const mark> mine(detail::slot_of_openmp);

void tree(int depth, const mark* parent) {
  require(mine.get() == nullptr || mine.get() == parent);
  const mark me{parent};
  const thread_slot<const mark>::scope bound(mine, &me);
  if (depth == 0) return this_thread::yield();
  parallel_invoke([&] { tree(depth - 1, &me); }, [&] { tree(depth - 1, &me); });
  require(mine.get() == &me);
  task_group group;
  group.run([&] { tree(depth - 1, &me); });
  tree(depth - 1, &me);
  require(mine.get() == &me);
  group.wait();
  require(mine.get() == &me);
}

TEST(slots, no_task_sees_what_another_has_bound) {
  expect_right(
      [] {
        runtime home(workers(2));
        const mark outside{nullptr};
        require(mine.get() == nullptr && mine.keep(&outside));
        on(home, [] {
          require(mine.get() == nullptr);
          tree(2, nullptr);
          require(mine.get() == nullptr);
        });
        require(mine.get() == &outside && mine.keep(nullptr));
      },
      schedules() / 3);
}

TEST(slots, threads_take_theirs_along) {
  expect_right(
      [] {
        runtime home(workers(2));
        mutex lock;
        std::vector<thread> all;
        for (int i = 0; i < 3; ++i) {
          thread_options o;
          o.where = &home;
          if (i == 2) o.worker = 1;
          all.emplace_back(o, [&] {
            require(mine.get() == nullptr);
            const mark me{nullptr};
            const thread_slot<const mark>::scope bound(mine, &me);
            {
              std::lock_guard hold(lock);
              this_thread::yield();
              require(mine.get() == &me);
            }
            blocking([&] { require(mine.get() == &me && !mine.keep(nullptr)); });
            require(mine.get() == &me);
          });
        }
        for (thread& t : all) t.join();
      },
      schedules() / 3);
}

}  // namespace
}  // namespace slots_test
}  // namespace heddle::sim
