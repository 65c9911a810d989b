// Leaves that wait for each other, in all shapes in which work can lie about: they end only if as many workers come as
// there are leaves, so where one sleeps on beside work the schedule ends as a stall.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include <heddle/heddle.hpp>
#include <heddle/pause.hpp>

#include "platform/platform.hpp"
#include "tests/sim_explore/scenario.hpp"
#include "worker/worker.hpp"

namespace heddle::sim {

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

// The half that is forked first is taken last, or by the forking worker itself.
template <class Leaf>
void chain(int n, Leaf& leaf) {
  if (n == 1) return leaf();
  parallel_invoke([&] { chain(n - 1, leaf); }, [&] { leaf(); });
}

inline thread_options in(runtime& home) {
  thread_options o;
  o.where = &home;
  return o;
}

// Each makes n leaves wait for each other, so that they are entries of a
// fork queue, ready threads of a worker, in the inbox, or due by time.
inline void forks(runtime& home, int n) {
  on(home, [n] {
    meeting leaf(n);
    tree(n, leaf);
  });
  on(home, [n] {
    meeting leaf(n);
    chain(n, leaf);
  });
}

inline void groups(runtime& home, int n) {
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
inline void later(runtime& home, int n) {
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

inline void threads(runtime& home, int n) {
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

inline void woken(runtime& home, int n) {
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

inline void due(runtime& home, int n) {
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
inline void kept_leaves(int left, meeting& leaf) {
  worker::worker::current().lone.keep();
  if (left == 1) return leaf();
  thread next([=, &leaf] { kept_leaves(left - 1, leaf); });
  leaf();
  next.join();
}
inline void kept(runtime& home, int n) {
  on(home, [n] {
    meeting leaf(n);
    kept_leaves(n, leaf);
  });
}

// Foreign kernel threads carry workers meanwhile, for short calls:
// those are given back beside leaves that wait for somebody.
inline void beside(runtime& home, int n) {
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
inline constexpr shape shapes[] = {{"forks", forks}, {"groups", groups}, {"later", later}, {"threads", threads},
                                   {"kept", kept},   {"woken", woken},   {"due", due},     {"beside", beside}};

// As many leaves as workers, or one less: then somebody sleeps who is in nobody's way.
inline verdict explored(const shape& s, const std::string& policy, int workers_there, int leaves, unsigned count,
                        const std::string& machine = {}) {
  return explore(
      [=] {
        runtime_options o = workers(static_cast<std::size_t>(workers_there));
        o.policy = policy;
        if (!machine.empty()) o.machine = machine;
        runtime home(o);
        s.run(home, leaves);
      },
      count, first_schedule());
}

}  // namespace heddle::sim
