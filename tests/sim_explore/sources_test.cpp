// No worker sleeps beside announced work: one scenario, generated from the table of sources of work
// (src/worker/searching/sources.hpp), for each source and each place in which a worker may be while something is put
// there. The publisher keeps its own worker until the work has begun, so a worker that sleeps on ends in a stall. Then
// the same with one step of the protocol left out for one source, which a schedule has to show. Argument: [source:1] to
// [source:4] of src/sync/sleep.md.
#include <heddle/detail/gang.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include "platform/explored.hpp"
#include "tests/sim_explore/leaves.hpp"
#include "tests/support/asking_policy.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/sources.hpp"

namespace heddle::sim {
namespace sources_test {
namespace {

namespace sources = worker::sources;

// --- where a worker is ---------------------------------------------------------------------------------------------

enum class place { running, searching, settling, asleep, inactive, carried, held };
constexpr place places[] = {place::running,  place::searching, place::settling, place::asleep,
                            place::inactive, place::carried,   place::held};
constexpr const char* names[] = {"running", "searching", "settling", "asleep", "inactive", "carried", "held"};

bool is_at(place where, const worker::worker& w) {
  using state = worker::parker::state;
  const state now = w.parker.look();
  switch (where) {
    case place::running: return !w.idle.load();
    case place::searching: return w.idle.load() && now == state::awake;
    case place::settling: return now == state::settling;
    case place::asleep: return now == state::asleep;
    case place::inactive: return w.is_inactive();
    case place::carried: return worker::parker::is_with_caller(now);
    case place::held: return worker::parker::is_held(now);
  }
  return false;
}

// Brings one worker to a place, as far as this schedule lets it: the publisher goes on after a while in any case. The
// destructor ends what keeps the worker there.
class visit {
 public:
  visit(runtime& home, place where, unsigned rank) : home_(home), where_(where), watched_(home.core().at(rank)) {
    if (where == place::running) keep();
    if (where == place::inactive) home.set_active_workers(1);
    if (where == place::carried || where == place::held) {
      await(place::asleep);
      require(platform::start(caller_, call, this, "caller") == 0);
      calls_ = true;
      if (where == place::held) {
        await(place::carried);
        go_.store(true);
      }
    }
    await(where);
  }
  ~visit() {
    for (thread& t : kept_) t.join();
    if (calls_) platform::join(caller_);
  }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;

  // The work has been published.
  void end() {
    go_.store(true);
    if (where_ == place::inactive) home_.set_active_workers(home_.core().workers());
  }

 private:
  void keep() {
    kept_.emplace_back(in(home_), [this] {
      while (!go_.load()) this_thread::pause();
    });
  }
  static void call(void* data) {
    auto& self = *static_cast<visit*>(data);
    on(self.home_, [&] {
      while (!self.go_.load()) this_thread::pause();
    });
  }
  void await(place where) {
    for (int tries = 0; tries < 2; ++tries) {
      for (int i = 0; i < 50; ++i) {
        if (is_at(where, watched_)) return;
        this_thread::pause();
      }
      if (where == place::searching || where == place::settling) home_.core().sleepers().unpark(watched_.rank);
    }
  }

  runtime& home_;
  const place where_;
  worker::worker& watched_;
  std::atomic<bool> go_{false};
  std::vector<thread> kept_;
  platform::kernel_thread caller_{};
  bool calls_{false};
};

// --- how something comes into a source -----------------------------------------------------------------------------

// What is published sets this.
class piece {
 public:
  void operator()() { begun_.fetch_add(1); }
  void await(int times = 1) const {
    while (begun_.load() < times) this_thread::pause();
  }

 private:
  std::atomic<int> begun_{0};
};

// By a thread of the runtime: publish(piece, published) puts the piece into the source, calls published(), which ends
// when the piece has begun, and ends.
template <class F>
void inside(runtime& home, place where, F publish) {
  on(home, [&] {
    const unsigned here = worker::worker::current().rank, last = home.core().workers() - 1;
    visit v(home, where, here == last ? 0 : last);
    piece work;
    publish(work, [&] {
      v.end();
      work.await();
    });
  });
}
// By a kernel thread that is no worker.
template <class F>
void outside(runtime& home, place where, F publish) {
  visit v(home, where, home.core().workers() - 1);
  piece work;
  publish(work, [&](int times = 1) {
    v.end();
    work.await(times);
  });
}

// One for each source. A source without one does not compile here.
template <class Source>
struct publishing;

struct on_two_workers {
  static runtime_options options() { return workers(2); }
};

template <>
struct publishing<sources::inbox_threads> : on_two_workers {
  static void run(runtime& home, place where) {
    outside(home, where, [&](piece& work, auto published) {
      thread t(in(home), [&] { work(); });
      published();
      t.join();
    });
  }
};

template <>
struct publishing<sources::submitted_jobs> : on_two_workers {
  static void run(runtime& home, place where) {
    outside(home, where, [&](piece& work, auto published) {
      struct calls : job {
        explicit calls(piece& w) noexcept : job([](job& self) noexcept { static_cast<calls&>(self).of(); }), of(w) {}
        piece& of;
      } it(work);
      home.submit(it);
      published();
    });
  }
};

// An arena's worker waits to be carried.
template <>
struct publishing<sources::arena_drivers> : on_two_workers {
  static void run(runtime& home, place where) {
    arena one(arena_options{.max_concurrency = 1, .where = &home});
    outside(home, where, [&](piece& work, auto published) {
      one.enqueue([&] { work(); });
      published();
    });
    one.wait();
  }
};

template <>
struct publishing<sources::level_threads> : on_two_workers {
  static void run(runtime& home, place where) {
    outside(home, where, [&](piece& work, auto published) {
      thread_options high = in(home), low = in(home);
      high.priority = priority::high;
      low.priority = priority::low;
      thread first(low, [&] { work(); });
      thread second(high, [&] { work(); });
      published(2);
      first.join();
      second.join();
    });
  }
};

template <>
struct publishing<sources::pinned_here> : on_two_workers {
  static void run(runtime& home, place where) {
    outside(home, where, [&](piece& work, auto published) {
      thread_options o = in(home);
      o.worker = 1;
      thread t(o, [&] { work(); });
      published();
      t.join();
    });
  }
};

// A gang of one, whose worker takes something else in that moment, in some schedules: then the third worker is to take
// the gang's thread over.
template <>
struct publishing<sources::gang_threads> {
  static runtime_options options() { return workers(3); }
  static void run(runtime& home, place where) {
    inside(home, where, [&](piece& work, auto published) {
      struct member {
        piece* work;
        void operator()() const {
          (*work)();
          heddle::detail::leave_gang();
        }
      };
      thread something_else([&] { work.await(); });
      heddle::detail::gang_handle* const g = heddle::detail::make_gang(&home, 1);
      heddle::detail::begin_gang(g, 1);
      const heddle::detail::made_thread made =
          heddle::detail::make_thread(in(home), sizeof(member), alignof(member),
                                      [](void* room) noexcept { (*static_cast<const member*>(room))(); });
      ::new (made.room) member{&work};
      heddle::detail::take_into_gang(g, 0, made.thread);
      heddle::detail::start_thread(made.thread);
      published();
      heddle::detail::join_thread(made.thread);
      heddle::detail::free_gang(g);
      something_else.join();
    });
  }
};

template <>
struct publishing<sources::own_queue> : on_two_workers {
  static void run(runtime& home, place where) {
    inside(home, where, [](piece& work, auto published) { parallel_invoke([&] { published(); }, [&] { work(); }); });
  }
};

template <>
struct publishing<sources::ready_threads> : on_two_workers {
  static void run(runtime& home, place where) {
    inside(home, where, [](piece& work, auto published) {
      thread t([&] { work(); });
      published();
      t.join();
    });
  }
};

// A third worker is inactive all the time, so threads are packed.
template <>
struct publishing<sources::pool_threads> {
  static runtime_options options() { return workers(3); }
  static void run(runtime& home, place where) {
    home.set_active_workers(2);
    publishing<sources::ready_threads>::run(home, where);
  }
};

// Others may rob worker 0 alone. Worker 1 takes what is public there, and worker 2 what it is given.
template <>
struct publishing<sources::own_mailbox> {
  static runtime_options options() {
    runtime_options o = workers(3);
    o.policy = "asking_one";
    return o;
  }
  static void run(runtime& home, place where) {
    if (where == place::inactive) return;  // this policy does not bear it
    for (int i = 0; i < 3; ++i) {
      on(home, [&] {
        if (worker::worker::current().rank != 0) return;
        visit v(home, where, 2);
        piece work;
        parallel_invoke(
            [&] {
              v.end();
              work.await();
            },
            [&] { work(); });
      });
    }
  }
};

template <>
struct publishing<sources::policy_work> {
  static runtime_options options() {
    runtime_options o = workers(2);
    o.policy = "work_sharing";
    return o;
  }
  static void run(runtime& home, place where) {
    if (where == place::inactive) return;  // this policy does not bear it
    inside(home, where, [](piece& work, auto published) {
      task_group group;
      group.run([&] { work(); });
      published();
      group.wait();
    });
  }
};

// --- the scenarios, from the table ---------------------------------------------------------------------------------

struct subject {
  const char* name;
  runtime_options (*options)();
  void (*run)(runtime&, place);
  bool by_itself;  // nobody else puts something there: a worker that is about to sleep has nothing
};

const std::vector<subject>& subjects() {
  static const std::vector<subject> all = [] {
    heddle_test::add_asking_policies();
    std::vector<subject> made;
    sources::all::until([&]<class Source>() {
      if constexpr (!sources::part<Source>) {
        using by = publishing<Source>;
        made.push_back({Source::name, by::options, by::run,
                        std::is_same_v<Source, sources::own_queue> || std::is_same_v<Source, sources::ready_threads>});
      }
      return false;
    });
    return made;
  }();
  return all;
}

verdict explored(const subject& s, place where, unsigned count, platform::omission without = {}) {
  return explore(
      [&s, where, without] {
        platform::left_out = without;
        runtime home(s.options());
        s.run(home, where);
      },
      count, first_schedule());
}

class sources_of_work : public testing::TestWithParam<subject> {};

TEST_P(sources_of_work, are_never_slept_beside) {
  for (const place where : places) {
    const verdict v = explored(GetParam(), where, schedules() / 10);
    EXPECT_FALSE(v.failed) << names[static_cast<int>(where)] << ": schedule " << v.seed << " ended with status "
                           << v.status;
  }
}

// Looks in the source's own scenarios first, because they are short. The others follow because the policy's last look
// includes entries that stand at other workers.
void expect_missed(const subject& of, platform::step what) {
  std::string found;
  const auto look_in = [&](const subject& s, unsigned many) {
    for (const place where : places) {
      if (!found.empty()) return;
      const verdict v = explored(s, where, many, {what, of.name});
      if (v.failed)
        found = std::string(s.name) + ", " + names[static_cast<int>(where)] + ", schedule " + std::to_string(v.seed) +
                ", status " + std::to_string(v.status);
    }
  };
  look_in(of, 4 * schedules());
  if (what == platform::step::last_look) {
    for (const subject& s : subjects()) look_in(s, schedules() / 4);
  }
  std::printf("%s: %s\n", of.name, found.empty() ? "not found" : found.c_str());
  EXPECT_FALSE(found.empty());
}

TEST_P(sources_of_work, are_missed_without_their_announcement) {
  expect_missed(GetParam(), platform::step::announcement);
}

TEST_P(sources_of_work, are_missed_without_the_last_look) {
  if (GetParam().by_itself) GTEST_SKIP() << "a worker that is about to sleep has nothing there";
  expect_missed(GetParam(), platform::step::last_look);
}

INSTANTIATE_TEST_SUITE_P(table, sources_of_work, testing::ValuesIn(subjects()), named);

}  // namespace
}  // namespace sources_test
}  // namespace heddle::sim
