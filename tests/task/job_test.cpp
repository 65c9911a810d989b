// Submitted jobs: from kernel threads, workers, preemptive threads and policies; each runs once, may wait, may be
// submitted again or destroyed by its own function, and is what the policy and the destructor of a runtime hear of.
#include <heddle/job.hpp>
#include <heddle/latch.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/policy.hpp>
#include <heddle/runtime.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/fib.hpp"
#include "support/preemption.hpp"
#include "support/waiting.hpp"

namespace job_test {
namespace {

// Counts how often it runs.
struct counted : heddle::job {
  explicit counted(heddle::latch& l) noexcept : job(run), done(l) {}
  static void run(heddle::job& self) noexcept {
    auto& me = static_cast<counted&>(self);
    me.runs.fetch_add(1);
    if (me.waits) heddle::this_thread::yield();
    me.done.count_down();  // the last look at it
  }
  std::atomic<int> runs{0};
  bool waits{false};
  heddle::latch& done;
};

class jobs : public heddle_test::waiting {
 protected:
  // `submitters` at a time, each with jobs of its own.
  void submit_from(int user, int kernel, int each) {
    const int all = (user + kernel) * each;
    heddle::latch done(all);
    std::vector<std::unique_ptr<counted>> made;
    for (int i = 0; i < all; ++i) {
      made.push_back(std::make_unique<counted>(done));
      made.back()->waits = i % 3 == 0;
    }
    together(user, kernel, [&](int who) {
      for (int i = 0; i < each; ++i) runtime().submit(*made[static_cast<std::size_t>(who * each + i)]);
    });
    done.wait();
    for (const auto& j : made) EXPECT_EQ(j->runs.load(), 1);
  }
};

TEST_P(jobs, from_kernel_threads_run_once) { submit_from(0, 3, 200 / heddle_test::fewer); }
TEST_P(jobs, from_user_level_threads_run_once) { submit_from(3, 0, 200 / heddle_test::fewer); }
TEST_P(jobs, from_both_run_once) { submit_from(2, 2, 100 / heddle_test::fewer); }

TEST_P(jobs, may_wait_for_each_other) {
  heddle::latch all(8), done(8);
  struct meets : heddle::job {
    meets(heddle::latch& a, heddle::latch& d) noexcept
        : job([](heddle::job& self) noexcept {
            auto& me = static_cast<meets&>(self);
            me.all.arrive_and_wait();  // so each has to become a thread
            me.done.count_down();
          }),
          all(a),
          done(d) {}
    heddle::latch &all, &done;
  };
  std::vector<std::unique_ptr<meets>> made;
  for (int i = 0; i < 8; ++i) made.push_back(std::make_unique<meets>(all, done));
  for (auto& j : made) runtime().submit(*j);
  done.wait();
}

TEST_P(jobs, fork_and_join) {
  heddle::latch done(1);
  struct forks : heddle::job {
    explicit forks(heddle::latch& d) noexcept
        : job([](heddle::job& self) noexcept {
            auto& me = static_cast<forks&>(self);
            me.result = heddle_test::fib(15);
            me.done.count_down();
          }),
          done(d) {}
    long result{0};
    heddle::latch& done;
  } it(done);
  runtime().submit(it, {.work = 987.0, .bytes = 4096});
  done.wait();
  EXPECT_EQ(it.result, 610);
}

// A chain in one piece of memory, which its last link frees.
TEST_P(jobs, may_be_submitted_again_and_destroyed_by_their_own_function) {
  struct chain : heddle::job {
    chain(int n, heddle::latch& d) noexcept : job(run), left(n), done(d) {}
    static void run(heddle::job& self) noexcept {
      auto& me = static_cast<chain&>(self);
      if (--me.left > 0) return heddle::submit(me);
      heddle::latch& done = me.done;
      delete &me;
      done.count_down();
    }
    int left;
    heddle::latch& done;
  };
  heddle::latch done(2);
  runtime().submit(*new chain(100, done));
  run([&] { heddle::submit(*new chain(100, done)); });
  done.wait();
}

// A job in the worker's queue lies above a fork or a group's children, which have to be found all the same.
TEST_P(jobs, beside_forks_and_children_of_the_same_thread) {
  const long sum = run([] {
    heddle::latch done(20);
    std::vector<std::unique_ptr<counted>> made;
    for (int i = 0; i < 20; ++i) made.push_back(std::make_unique<counted>(done));
    std::atomic<long> total{0};
    heddle::task_group g;
    for (int i = 0; i < 10; ++i) {
      g.run([&] { total += 1; });
      heddle::submit(*made[static_cast<std::size_t>(i)]);
    }
    for (int i = 10; i < 20; ++i) {
      heddle::parallel_invoke([&] { heddle::submit(*made[static_cast<std::size_t>(i)]); }, [&] { total += 1; });
    }
    g.wait();
    done.wait();
    return total.load();
  });
  EXPECT_EQ(sum, 20);
}

TEST_P(jobs, with_a_priority) {
  heddle::latch done(3);
  std::vector<std::unique_ptr<counted>> made;
  for (int i = 0; i < 3; ++i) made.push_back(std::make_unique<counted>(done));
  runtime().submit(*made[0], {.priority = heddle::priority::low});
  runtime().submit(*made[1], {.priority = heddle::priority::high});
  run([&] { runtime().submit(*made[2], {.priority = heddle::priority::high}); });
  done.wait();
  counted never(done);
  EXPECT_THROW(runtime().submit(never, {.priority = heddle::priority{99}}), std::invalid_argument);
  EXPECT_EQ(never.runs.load(), 0);
}

HEDDLE_OVER_RUNTIMES(jobs);

// Nobody waits for this job but the runtime itself.
TEST(jobs_of_a_runtime, are_waited_for_by_its_end) {
  for (int round = 0; round < 20; ++round) {
    static std::atomic<int> runs;
    runs = 0;
    struct slow : heddle::job {
      slow() noexcept
          : job([](heddle::job&) noexcept {
              for (int i = 0; i < 20; ++i) heddle::this_thread::yield();
              runs.fetch_add(1);
            }) {}
    };
    slow outside[10], inside[10];
    {
      heddle::runtime rt({.workers = 2});
      for (auto& j : outside) rt.submit(j);
      rt.run([&] {
        for (auto& j : inside) rt.submit(j);
      });
    }
    EXPECT_EQ(runs.load(), 20);
  }
}

TEST(jobs_of_a_runtime, from_preemptive_threads) {
  if (heddle_test::thread_sanitized) GTEST_SKIP() << "no preemption under ThreadSanitizer";
  heddle::runtime rt({.workers = 2, .preempt = heddle::preemption::signal_yield});
  heddle::latch done(400);
  std::vector<std::unique_ptr<counted>> made;
  for (int i = 0; i < 400; ++i) made.push_back(std::make_unique<counted>(done));
  std::vector<heddle::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back(heddle::thread_options{.where = &rt}, [&, t] {
      for (int i = 0; i < 100; ++i) heddle::submit(*made[static_cast<std::size_t>(t * 100 + i)]);
    });
  }
  for (auto& t : threads) t.join();
  done.wait();
  for (const auto& j : made) EXPECT_EQ(j->runs.load(), 1);
}

// --- what a policy hears
// ----------------------------------------------------------------------------------------------

struct told {
  const void* label;
  double work;
  std::size_t bytes;
  bool has_parent;
};

// Notes what it is told, and holds what it is shown in a list of its own.
class holder final : public heddle::policy::policy {
 public:
  static inline std::vector<told> roots, children;
  static inline int ends = 0;
  static inline heddle::policy::placement answer = heddle::policy::placement::send;
  static inline heddle::job* own = nullptr;  // which it submits itself

  heddle::policy::entry acquire(unsigned, heddle::policy::effort) noexcept override { return take(); }
  bool may_find(unsigned) noexcept override { return first_ != nullptr; }
  unsigned most_workers() const noexcept override { return 1; }
  heddle::policy::placement started(unsigned, const heddle::policy::task_info& info) noexcept override {
    roots.push_back({info.label, info.work, info.bytes, info.parent != nullptr});
    return heddle::policy::placement::stay;
  }
  heddle::policy::placement spawn(unsigned, const heddle::policy::task_info& info) noexcept override {
    children.push_back({info.label, info.work, info.bytes, info.parent != nullptr});
    info.made.tag = this;
    return answer == heddle::policy::placement::send ? send_to(info.made, 3) : answer;
  }
  void enqueue(unsigned, heddle::policy::task& t) noexcept override {
    EXPECT_EQ(t.to.target, 3u);
    t.next = std::exchange(first_, &t);
  }
  void task_end(unsigned, heddle::policy::task&) noexcept override {
    ++ends;
    if (own != nullptr) heddle::submit(*std::exchange(own, nullptr));
  }

 private:
  heddle::policy::entry take() noexcept {
    if (first_ == nullptr) return 0;
    return host_->entry_of(*std::exchange(first_, first_->next));
  }
  heddle::policy::task* first_{nullptr};
};

class what_a_policy_hears : public testing::TestWithParam<heddle::policy::placement> {
 protected:
  void SetUp() override {
    static const bool added = [] {
      heddle::policy::add(
          {"holder", "of a test", [](heddle::policy::parameters&) -> std::unique_ptr<heddle::policy::policy> {
             return heddle::policy::create<holder>();
           }});
      return true;
    }();
    static_cast<void>(added);
    holder::roots.clear();
    holder::children.clear();
    holder::ends = 0;
    holder::answer = GetParam();
  }
};

TEST_P(what_a_policy_hears, of_jobs) {
  int label = 0;
  heddle::latch done(4);
  counted outside(done), inside(done), last(done), its(done);
  inside.waits = true;
  holder::own = &its;
  {
    heddle::runtime rt({.policy = "holder"});
    rt.submit(outside, {.label = &label, .work = 7.0, .bytes = 99});
    rt.run([&] {
      heddle::submit(inside, {.label = &label, .work = 5.0, .bytes = 64});
      heddle::submit(last);
    });
    done.wait();
  }
  ASSERT_EQ(holder::children.size(), 2u + (holder::roots.size() == 2 ? 1u : 0u));
  EXPECT_EQ(holder::children[0].label, &label);
  EXPECT_EQ(holder::children[0].work, 5.0);
  EXPECT_EQ(holder::children[0].bytes, 64u);
  EXPECT_TRUE(holder::children[0].has_parent);
  EXPECT_EQ(holder::children[1].label, reinterpret_cast<const void*>(counted::run));
  EXPECT_TRUE(std::isnan(holder::children[1].work));
  EXPECT_EQ(holder::ends, static_cast<int>(holder::children.size()));
  ASSERT_GE(holder::roots.size(), 2u);  // the job, and the thread of run
  EXPECT_EQ(holder::roots[0].label, &label);
  EXPECT_EQ(holder::roots[0].work, 7.0);
  EXPECT_EQ(holder::roots[0].bytes, 99u);
  EXPECT_FALSE(holder::roots[0].has_parent);
  for (const counted* j : {&outside, &inside, &last, &its}) EXPECT_EQ(j->runs.load(), 1);
}

INSTANTIATE_TEST_SUITE_P(answers, what_a_policy_hears,
                         testing::Values(heddle::policy::placement::child_first,
                                         heddle::policy::placement::parent_first, heddle::policy::placement::send));

}  // namespace
}  // namespace job_test
