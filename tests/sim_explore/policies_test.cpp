// Every policy, under schedules that differ at every atomic operation: on a flat
// machine, and on one of two packages, where groups that know their bytes are laid
// out over levels, tasks are tied to a cache, and leaders rob other packages.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include <heddle/heddle.hpp>

#include "policy/registry.hpp"
#include "tests/sim_explore/scenario.hpp"
#include "tests/support/runtimes.hpp"

namespace heddle::sim {
namespace policies_test {
namespace {

// Those of the registry, and the variants that the other tests run; whoever is in one list only is explored, too.
std::vector<std::string> names() {
  std::vector<std::string> all = heddle_test::all_policies;
  for (const policy::registration& line : policy::all()) {
    if (std::find(all.begin(), all.end(), line.name) == all.end()) all.emplace_back(line.name);
  }
  return all;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) { return heddle_test::test_name(info.param); }

class every_policy : public testing::TestWithParam<std::string> {
 protected:
  runtime_options of(std::size_t n) const {
    runtime_options o = workers(n);
    o.policy = GetParam();
    return o;
  }
};

// Loops, forks and groups inside each other, and threads that wait for each other.
TEST_P(every_policy, ends_what_it_is_given) {
  expect_right(
      [this] {
        runtime home(of(3));
        std::atomic<int> done{0};
        on(home, [&] {
          task_group group(3, 1 << 16);
          group.run([&] { done.fetch_add(static_cast<int>(fib(4))); }, 1);
          group.run([&] { parallel_for(0, 4, [&](int) { done.fetch_add(1); }); }, 2);
          group.wait();
          semaphore ready(0);
          thread waker([&] { ready.release(); });
          ready.acquire();
          waker.join();
        });
        require(done.load() == 7);
      },
      schedules() / 6);
}

// A group that fills the machine, of groups that fill a package, of
// groups that fit into a worker's own cache; leaves count.
void fill(std::atomic<int>& done, std::size_t bytes, mutex& lock) {
  task_group group(2, bytes);
  for (int i = 0; i < 2; ++i) {
    group.run(
        [&done, bytes, &lock] {
          if (bytes > 1024) return fill(done, bytes / 8, lock);
          std::lock_guard hold(lock);
          if (done.fetch_add(1) % 3 == 0) this_thread::yield();
        },
        1 + i);
  }
  group.wait();
}

TEST_P(every_policy, ends_two_programs_on_two_packages) {
  expect_right(
      [this] {
        runtime_options o = of(4);
        o.machine = "synthetic:pack:2 l3:1(size=65536) l2:2(size=4096) core:1 pu:1";
        runtime home(o);
        std::atomic<int> done{0};
        mutex lock;
        thread_options where;
        where.where = &home;
        // The second program finds no place in a tree that belongs to the first.
        thread second(where, [&] {
          parallel_invoke(
              work_hint{1, 2, 1 << 15}, [&] { fill(done, 1 << 10, lock); },
              [&] { done.fetch_add(static_cast<int>(fib(3))); });
        });
        on(home, [&] { fill(done, 1 << 16, lock); });
        second.join();
        require(done.load() == 8 + 2 + 2);
      },
      schedules() / 12);
}

INSTANTIATE_TEST_SUITE_P(policies, every_policy, testing::ValuesIn(names()), test_name);

}  // namespace
}  // namespace policies_test
}  // namespace heddle::sim
