// Greed, under schedules that differ at every atomic operation: no worker sleeps while there is something that it may
// take. n leaves that wait for each other on n workers end only if every worker comes to take one: where one sleeps on,
// the schedule ends as a stall. Liveness (everything ends) is the case of one leaf. Policies that promise it:
// src/policy/README.md; argument: src/sync/sleep.md, [greed:1].
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <heddle/heddle.hpp>
#include <heddle/pause.hpp>

#include "platform/platform.hpp"
#include "policy/registry.hpp"
#include "tests/sim_explore/scenario.hpp"
#include "tests/support/runtimes.hpp"
#include "worker/worker.hpp"

namespace heddle::sim {
namespace {

using namespace std::chrono_literals;

// Ends when `all` of them have begun.
class meeting {
 public:
  explicit meeting(int all) : all_(all) {}
  void operator()() {
    here_.fetch_add(1);
    while (here_.load() < all_) this_thread::pause();
  }

 private:
  std::atomic<int> here_{0};
  const int all_;
};

template <class Leaf>
void tree(int n, Leaf& leaf) {
  if (n == 1) return leaf();
  parallel_invoke([&] { tree(n / 2, leaf); }, [&] { tree(n - n / 2, leaf); });
}

// What is forked first is taken last, or by the forking worker itself.
template <class Leaf>
void chain(int n, Leaf& leaf) {
  if (n == 1) return leaf();
  parallel_invoke([&] { chain(n - 1, leaf); }, [&] { leaf(); });
}

thread_options in(runtime& home) {
  thread_options o;
  o.where = &home;
  return o;
}

// Each makes n leaves wait for each other, so that they are entries of a
// fork queue, ready threads of a worker, in the inbox, or due by time.
void forks(runtime& home, int n) {
  on(home, [n] {
    meeting leaf(n);
    tree(n, leaf);
  });
  on(home, [n] {
    meeting leaf(n);
    chain(n, leaf);
  });
}

void groups(runtime& home, int n) {
  on(home, [n] {
    meeting leaf(n);
    task_group group;
    for (int i = 1; i < n; ++i) group.run([&] { leaf(); });
    leaf();
    group.wait();
  });
  on(home, [n] {  // a child that forks, and is taken
    meeting leaf(n);
    task_group group;
    group.run([&] { tree(n - 1, leaf); });
    leaf();
    group.wait();
  });
}

// One leaf runs, and waits, while the others have perhaps fallen asleep already.
void later(runtime& home, int n) {
  on(home, [n] {
    meeting leaf(n), first(2);
    parallel_invoke(
        [&] {
          first();
          leaf();
        },
        [&] {
          first();
          for (int i = 0; i < 100; ++i) this_thread::pause();
          tree(n - 1, leaf);
        });
  });
}

void threads(runtime& home, int n) {
  on(home, [n] {
    meeting leaf(n);
    std::vector<thread> all;
    for (int i = 1; i < n; ++i) all.emplace_back([&] { leaf(); });
    leaf();
    for (thread& t : all) t.join();
  });
  meeting leaf(n);
  std::vector<thread> all;
  for (int i = 0; i < n; ++i) all.emplace_back(in(home), [&] { leaf(); });  // from outside
  for (thread& t : all) t.join();
}

void woken(runtime& home, int n) {
  meeting leaf(n);
  latch gate(1);
  std::vector<thread> all;
  for (int i = 1; i < n; ++i)
    all.emplace_back(in(home), [&] {
      gate.wait();
      leaf();
    });
  all.emplace_back(in(home), [&] {
    this_thread::yield();
    gate.count_down();
    leaf();
  });
  for (thread& t : all) t.join();
}

void due(runtime& home, int n) {
  meeting leaf(n);
  std::vector<thread> all;
  for (int i = 0; i < n; ++i)
    all.emplace_back(in(home), [&, i] {
      this_thread::sleep_for(i == 0 ? 2us : 1us);
      leaf();
    });
  for (thread& t : all) t.join();
}

// Each leaf but the last makes a lone thread of the next and does not join it before all have met, on workers that have
// learnt to leave such threads to their makers.
void kept_leaves(int left, meeting& leaf) {
  worker::worker::current().lone.keep();
  if (left == 1) return leaf();
  thread next([=, &leaf] { kept_leaves(left - 1, leaf); });
  leaf();
  next.join();
}
void kept(runtime& home, int n) {
  on(home, [n] {
    meeting leaf(n);
    kept_leaves(n, leaf);
  });
}

// Foreign kernel threads carry workers meanwhile, for short calls:
// those are given back beside leaves that wait for somebody.
void beside(runtime& home, int n) {
  const auto call = [](void* where) {
    for (int i = 0; i < 2; ++i) on(*static_cast<runtime*>(where), [] { this_thread::yield(); });
  };
  platform::kernel_thread other;
  require(platform::start(other, call, &home, "other") == 0);
  on(home, [n] {
    meeting leaf(n);
    tree(n, leaf);
  });
  call(&home);
  on(home, [n] {
    meeting leaf(n);
    chain(n, leaf);
  });
  platform::join(other);
}

struct shape {
  const char* name;
  void (*run)(runtime&, int);
};
constexpr shape shapes[] = {{"forks", forks}, {"groups", groups}, {"later", later}, {"threads", threads},
                            {"kept", kept},   {"woken", woken},   {"due", due},     {"beside", beside}};

// As many leaves as workers, or one less: then somebody sleeps who is in nobody's way.
verdict explored(const shape& s, const std::string& policy, int workers_there, int leaves, unsigned count) {
  return explore(
      [=] {
        runtime_options o = workers(static_cast<std::size_t>(workers_there));
        o.policy = policy;
        runtime home(o);
        s.run(home, leaves);
      },
      count, first_schedule());
}

#if !defined(HEDDLE_MUTANT)

// Those of heddle_test::all_policies; without those whose rules leave workers idle, or that have one.
std::vector<std::string> greedy_policies() {
  std::vector<std::string> all = heddle_test::all_policies;
  all.emplace_back("constrained_ws:replay=relws");
  std::erase_if(all, [](const std::string& name) {
    const auto made = policy::make(name);
    return !made->wants().greedy || made->most_workers() < 4;
  });
  return all;
}

class greed : public testing::TestWithParam<std::string> {};

TEST_P(greed, as_many_leaves_as_workers_meet) {
  const bool often = GetParam() == "random_ws";  // what most programs run under
  const unsigned count = often ? schedules() / 3 : schedules() / 30;
  for (const shape& s : shapes) {
    for (const auto& [there, leaves] : {std::pair{3, 3}, {4, 4}, {4, 3}}) {
      const verdict v = explored(s, GetParam(), there, leaves, count);
      EXPECT_FALSE(v.failed) << s.name << ", " << leaves << " leaves on " << there << " workers: schedule " << v.seed
                             << " ended with status " << v.status;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(policies, greed, testing::ValuesIn(greedy_policies()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param;
                           for (char& c : name) {
                             if (std::string(":=,-").find(c) != std::string::npos) c = '_';
                           }
                           return name;
                         });

#else

TEST(greed, some_schedule_shows_the_mistake) {
  expect_found(shapes, [](const shape& s) { return explored(s, "random_ws", 4, 4, schedules() / 3); });
}

#endif

}  // namespace
}  // namespace heddle::sim
