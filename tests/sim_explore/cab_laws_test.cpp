// CAB and LAWS under schedules that differ at every atomic operation: one subtree a socket at a time, no deadlock among
// sockets that wait; and the deadlock of the book's rule, found.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include <heddle/heddle.hpp>

#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace cab_laws_test {
namespace {

runtime_options of(const std::string& policy, std::size_t n = 4) {
  runtime_options o = workers(n);
  o.policy = policy;
  return o;
}

// A tree of groups: inter-socket tasks that wait for inter-socket tasks.
void groups(int levels, std::atomic<int>& leaves) {
  if (levels == 0) return static_cast<void>(leaves.fetch_add(1));
  task_group group;
  for (int i = 0; i < 2; ++i) group.run([levels, &leaves] { groups(levels - 1, leaves); });
  group.wait();
}

verdict run_groups(const std::string& policy, unsigned count) {
  return explore(
      [&policy] {
        runtime home(of(policy));
        std::atomic<int> leaves{0};
        on(home, [&] { groups(3, leaves); });
        require(leaves.load() == 8);
      },
      count, first_schedule());
}

// The boundary level is 4, so the tasks of levels 2 and 3 wait for tasks that need a socket. As the book has it, each
// keeps its own meanwhile.
TEST(cab, sockets_that_wait_for_children_let_them_in) {
  const verdict ours = run_groups("cab-fto:sockets=2,level=4", schedules() / 6);
  EXPECT_FALSE(ours.failed) << "schedule " << ours.seed << " ended with status " << ours.status;
  const verdict literal = run_groups("cab-fto:sockets=2,level=4,literal=1", 50);
  EXPECT_TRUE(literal.failed) << "the book's rule does not hang?";
}

// Four leaf inter-socket tasks on two sockets of two workers: never two at once on one socket. (By the book's rule
// alone, for ours makes an exception where nobody seems to run anything.)
TEST(cab, a_socket_runs_one_subtree_at_a_time) {
  expect_right(
      [] {
        runtime home(of("cab-fto:sockets=2,level=3,literal=1"));
        std::atomic<int> active[2]{}, ran{0};
        const auto leaf = [&] {
          std::atomic<int>& mine = active[home.worker_rank() / 2];
          require(mine.fetch_add(1) == 0);
          parallel_invoke([&] { ran.fetch_add(1); }, [&] { ran.fetch_add(1); });
          mine.fetch_sub(1);
        };
        on(home, [&] { parallel_invoke([&] { parallel_invoke(leaf, leaf); }, [&] { parallel_invoke(leaf, leaf); }); });
        require(ran.load() == 8);
      },
      schedules() / 6);
}

// The second half of a fork above the cut is a task in every case. A thief that took it before would leave the first
// half at its maker's level, which is so cut one level lower.
TEST(cab, forks_are_cut_where_they_should_be) {
  for (const char* policy : {"cab-fto:sockets=2,level=3", "cab-gto:sockets=2,soid=branching,bytes=4096,cache=1024"}) {
    expect_right(
        [policy] {
          runtime home(of(policy));
          int socket[8];
          const auto halves = [&](const auto& self, int from, int count) -> void {
            if (count == 1) return static_cast<void>(socket[from] = home.worker_rank() / 2);
            parallel_invoke([&] { self(self, from, count / 2); }, [&] { self(self, from + count / 2, count / 2); });
          };
          on(home, [&] { halves(halves, 0, 8); });
          for (int leaf = 0; leaf < 8; leaf += 2) require(socket[leaf] == socket[leaf + 1]);
        },
        schedules() / 6);
  }
}

// A task waits for a task that its own socket holds back.
TEST(cab, tasks_that_wait_otherwise_than_by_groups_go_on) {
  for (const char* policy : {"cab-fto:sockets=2", "cab-gto:sockets=2,soid=declared", "laws:sockets=2"}) {
    expect_right(
        [policy] {
          runtime home(of(policy, 3));
          semaphore ready(0);
          std::atomic<int> done{0};
          on(home, [&] {
            for (int iteration = 0; iteration < 2; ++iteration) {
              task_group group;
              for (int i = 0; i < 3; ++i) {
                group.run([&, i] {
                  if (i == 2) return ready.release(2);
                  ready.acquire();
                  done.fetch_add(1);
                });
              }
              group.wait();
            }
          });
          require(done.load() == 4);
        },
        schedules() / 9);
  }
}

// Iterations that are measured, packed and tuned, of a shape that changes.
TEST(laws, programs_that_change_lose_nothing) {
  for (const char* policy :
       {"laws:sockets=2,repeats=1", "laws-nc:sockets=3,pieces=1", "cab-gto:sockets=2,soid=profile"}) {
    expect_right(
        [policy] {
          runtime home(of(policy, 3));
          std::atomic<int> done{0};
          on(home, [&] {
            for (int iteration = 0; iteration < 4; ++iteration) {
              task_group group;
              for (int k = 0; k < 2 + iteration % 2; ++k) {
                group.run([&] { parallel_invoke([&] { done.fetch_add(1); }, [&] { done.fetch_add(1); }); });
              }
              group.wait();
            }
          });
          require(done.load() == 2 * (2 + 3 + 2 + 3));
        },
        schedules() / 9);
  }
}

// The first iteration keeps to the sockets, under every schedule.
TEST(laws, first_iterations_of_forks_lie_where_the_data_is_to_lie) {
  expect_right(
      [] {
        runtime home(of("laws:sockets=2"));
        int socket[4] = {-1, -1, -1, -1};
        const auto leaf = [&](int i) { return [&, i] { socket[i] = home.worker_rank() / 2; }; };
        on(home, [&] {
          parallel_invoke([&] { parallel_invoke(leaf(0), leaf(1)); }, [&] { parallel_invoke(leaf(2), leaf(3)); });
        });
        require(socket[0] == 0 && socket[1] == 0 && socket[2] == 1 && socket[3] == 1);
      },
      schedules() / 6);
}

// The same by groups.
TEST(laws, first_iterations_lie_where_the_data_is_to_lie) {
  expect_right(
      [] {
        runtime home(of("laws:sockets=2"));
        int socket[4] = {-1, -1, -1, -1};
        on(home, [&] {
          task_group group;
          group.expect(2);
          for (int half = 0; half < 2; ++half) {
            group.run([&, half] {
              task_group quarters;
              quarters.expect(2);
              for (int i = 2 * half; i < 2 * half + 2; ++i) {
                quarters.run([&, i] { socket[i] = home.worker_rank() / 2; });
              }
              quarters.wait();
            });
          }
          group.wait();
        });
        require(socket[0] == 0 && socket[1] == 0 && socket[2] == 1 && socket[3] == 1);
      },
      schedules() / 6);
}

}  // namespace
}  // namespace cab_laws_test
}  // namespace heddle::sim
