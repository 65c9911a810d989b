// Locality-guided work stealing under schedules that differ at every atomic operation: tasks that wait in two lists are
// taken once, and neither list holds a task that has ended. First the lists alone, then a program of several
// iterations. Argument: src/policy/iterations/locality_ws.md, [affine:1] to [affine:3].
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string>

#include <heddle/heddle.hpp>

#include "policy/iterations/affine_lists.hpp"
#include "tests/sim_explore/leaves.hpp"
#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace locality_ws_test {
namespace {

// --- the lists alone ---------------------------------------------------------------------------------------------

// Worker 0 makes the tasks. Whoever takes one runs and ends it: from then on its memory is somebody else's.
struct office {
  static constexpr unsigned workers = 4;
  static constexpr unsigned most = 6;
  policy::affine_lists lists;
  std::array<policy::task, most> tasks{};
  std::array<std::atomic<int>, most> had{};

  office() { lists.start(workers); }
  void make(unsigned i, unsigned wanted) {
    tasks[i].keep(policy::affine_task{});
    lists.put(tasks[i], 0, wanted);
  }
  bool run(policy::task* t) {
    if (t == nullptr) return false;
    require(had[static_cast<std::size_t>(t - tasks.data())].fetch_add(1) == 0);
    std::memset(static_cast<void*>(t), 0xa5, sizeof *t);
    return true;
  }
  void end(unsigned made) {
    while (run(lists.take_oldest(0))) {
    }
    for (unsigned w = 0; w < workers; ++w) {
      require(lists.take_affine(w) == nullptr);
      require(!lists.has_own(w));
    }
    for (unsigned i = 0; i < made; ++i) require(had[i].load() == 1);
  }
};

struct visitor {
  office* at;
  unsigned rank;
};
void look_into_its_list(void* data) {
  const auto& [at, rank] = *static_cast<visitor*>(data);
  for (int i = 0; i < 3; ++i) at->run(at->lists.take_affine(rank));
}
void steal(void* data) {
  const auto& [at, rank] = *static_cast<visitor*>(data);
  for (int i = 0; i < 3; ++i) at->run(at->lists.take_oldest(0));
}
void look_and_steal(void* data) {
  const auto& [at, rank] = *static_cast<visitor*>(data);
  for (int i = 0; i < 2; ++i) {
    if (!at->run(at->lists.take_affine(rank))) at->run(at->lists.take_oldest(0));
  }
}

using visit = void (*)(void*);
void with_visitors(std::array<visit, 3> visits, void (*own)(office&), unsigned made) {
  office at;
  std::array<visitor, 3> who{{{&at, 1}, {&at, 2}, {&at, 3}}};
  std::array<platform::kernel_thread, 3> threads;
  for (unsigned i = 0; i < 3; ++i) require(platform::start(threads[i], visits[i], &who[i], "visitor") == 0);
  own(at);
  for (auto& t : threads) platform::join(t);
  at.end(made);
}

// The maker, the worker of the affinity and a thief come upon the same task.
void one_task_and_three_who_come() {
  with_visitors(
      {look_into_its_list, steal, look_and_steal},
      [](office& o) {
        o.make(0, 1);
        o.run(o.lists.take_newest(0));
      },
      1);
}
void tasks_for_several() {
  with_visitors(
      {look_and_steal, look_and_steal, look_and_steal},
      [](office& o) {
        for (unsigned i = 0; i < 6; ++i) o.make(i, i % 4 == 0 ? policy::nobody : i % 4);
        for (int i = 0; i < 3; ++i) o.run(o.lists.take_newest(0));
      },
      6);
}
// Tasks for one worker, which others take from the middle of its list.
void a_list_that_others_empty() {
  with_visitors(
      {look_into_its_list, steal, steal},
      [](office& o) {
        for (unsigned i = 0; i < 4; ++i) o.make(i, 1);
        for (int i = 0; i < 2; ++i) o.run(o.lists.take_newest(0));
      },
      4);
}

// --- in a runtime --------------------------------------------------------------------------------------------------

void iterations(const char* policy) {
  runtime_options o = workers(3);
  o.policy = policy;
  runtime home(o);
  std::atomic<int> forked{0}, grouped{0};
  on(home, [&] {
    mutex lock;
    for (int i = 0; i < 3; ++i) {
      forked.fetch_add(static_cast<int>(fib(4)));
      task_group group;
      for (int k = 0; k < 2 + i % 2; ++k) {
        group.run([&] {
          std::lock_guard hold(lock);
          parallel_invoke([&] { grouped.fetch_add(1); }, [&] { grouped.fetch_add(1); });
        });
      }
      group.wait();
    }
  });
  require(forked.load() == 9 && grouped.load() == 14);
}
void programs_in_turn() { iterations("locality_ws"); }
void programs_with_patience() { iterations("locality_ws:patience=1,depth=2"); }

constexpr scenario scenarios[] = {{"one task and three who come", one_task_and_three_who_come},
                                  {"tasks for several", tasks_for_several},
                                  {"a list that others empty", a_list_that_others_empty},
                                  {"programs in turn", programs_in_turn},
                                  {"programs with patience", programs_with_patience}};

#if !defined(HEDDLE_MUTANT)

class affine : public testing::TestWithParam<scenario> {};

TEST_P(affine, tasks_are_taken_once) { expect_right(GetParam().run, schedules() / 2); }

INSTANTIATE_TEST_SUITE_P(scenarios, affine, testing::ValuesIn(scenarios), named);

// Leaves that wait for each other, a second time: each has an affinity then, and its worker may be busy or asleep.
TEST(affine, as_many_leaves_as_workers_meet_again) {
  for (const shape& s : {shape{"forks", forks}, shape{"groups", groups}, shape{"later", later}}) {
    for (const char* policy : {"locality_ws", "locality_ws:patience=2"}) {
      const verdict v = explore(
          [&] {
            runtime_options o = workers(3);
            o.policy = policy;
            runtime home(o);
            for (int i = 0; i < 2; ++i) s.run(home, 3);
          },
          schedules() / 20, first_schedule());
      EXPECT_FALSE(v.failed) << policy << ", " << s.name << ": schedule " << v.seed << " ended with status "
                             << v.status;
    }
  }
}

#else

TEST(affine, some_schedule_shows_the_mistake) { expect_found(scenarios); }

#endif

}  // namespace
}  // namespace locality_ws_test
}  // namespace heddle::sim
