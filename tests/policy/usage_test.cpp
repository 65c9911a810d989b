// The reports to a policy about the resources of tasks, the times of groups and forks, and by the clock.
#include <heddle/blocking.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/policy.hpp>
#include <heddle/policy_victims.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "support/preemption.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace usage_test {
namespace {

using namespace heddle::policy;

std::uint64_t clock_now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}
std::uint64_t used_here() { return clock_now(CLOCK_THREAD_CPUTIME_ID); }
std::uint64_t wall() { return clock_now(CLOCK_MONOTONIC); }

// Computes until the calling kernel thread has used so much; returns what it has used.
std::uint64_t burn(std::uint64_t ns) {
  const std::uint64_t start = used_here();
  std::uint64_t now = start;
  while (now - start < ns) now = used_here();
  return now - start;
}

// Every child, second half and root is a task; what each used is kept under its label.
class accountant final : public policy {
 public:
  struct told {
    const void* label;
    task_usage what;
    bool ended;  // task_end has come, after `used`
  };
  static std::vector<told> all;
  static std::vector<std::uint64_t> groups, forks;
  static std::mutex mutex;

  explicit accountant(unsigned most) : most_(most) {
    wants_.elapsed = true;
    wants_.running = true;
  }
  static scheduler* host;
  unsigned most_workers() const noexcept override { return most_; }
  void start(scheduler& by) override {
    policy::start(by);
    host = &by;
    all.clear(), groups.clear(), forks.clear();
    all.reserve(8192), groups.reserve(8192), forks.reserve(8192);  // for the calls below may not allocate
  }
  entry acquire(unsigned self, effort how) noexcept override { return others(self, *host_).rob_at_random(*host_, how); }
  placement started(unsigned, const task_info& info) noexcept override {
    static_cast<void>(begin(info));
    return placement::stay;
  }
  placement spawn(unsigned, const task_info& info) noexcept override { return begin(info); }
  bool fork_begin(unsigned, const fork_info&) noexcept override { return true; }
  placement fork(unsigned, const fork_info&, const task_info& half) noexcept override { return begin(half); }
  placement fork_end(unsigned, task&, std::uint64_t elapsed) noexcept override {
    const std::lock_guard hold(mutex);
    forks.push_back(elapsed);
    return placement::stay;
  }
  placement group_end(unsigned, group_info& info) noexcept override {
    const std::lock_guard hold(mutex);
    groups.push_back(info.elapsed);
    return placement::stay;
  }
  void used(unsigned, task& t, const task_usage& what) noexcept override {
    EXPECT_EQ(t.tag, this);
    const std::lock_guard hold(mutex);
    ASSERT_LT(all.size(), all.capacity());
    all.push_back({t.get<kept>().label, what, false});
    t.get<kept>().its = &all.back();
  }
  void task_end(unsigned, task& t) noexcept override {
    const std::lock_guard hold(mutex);
    ASSERT_NE(t.get<kept>().its, nullptr) << "used comes first";
    EXPECT_FALSE(t.get<kept>().its->ended);
    t.get<kept>().its->ended = true;
  }

 private:
  struct kept {
    const void* label;
    told* its;
  };
  placement begin(const task_info& info) noexcept {
    info.made.keep(kept{info.label, nullptr});
    info.made.tag = this;
    return placement::child_first;
  }
  const unsigned most_;
};
std::vector<accountant::told> accountant::all;
std::vector<std::uint64_t> accountant::groups, accountant::forks;
std::mutex accountant::mutex;
scheduler* accountant::host = nullptr;

class usage : public ::testing::Test {
 protected:
  void SetUp() override {
    static const bool added = [] {
      add({"accountant", "of a test",
           [](parameters&) -> std::unique_ptr<policy> { return create<accountant>(nobody); }});
      return true;
    }();
    static_cast<void>(added);
  }
  static std::size_t count_of(const void* label) {
    return static_cast<std::size_t>(std::count_if(accountant::all.begin(), accountant::all.end(),
                                                  [label](const accountant::told& one) { return one.label == label; }));
  }
  static task_usage only(const void* label) {
    EXPECT_EQ(count_of(label), 1u);
    for (const accountant::told& one : accountant::all) {
      if (one.label != label) continue;
      EXPECT_TRUE(one.ended);
      return one.what;
    }
    return {};
  }
};

TEST(usage_wants, follow_from_what_is_overridden) {
  struct plain : policy {
    entry acquire(unsigned, effort) noexcept override { return 0; }
  };
  struct eager : plain {
    void used(unsigned, task&, const task_usage&) noexcept override {}
    void workers_changed() noexcept override {}
    void beat() noexcept override {}
  };
  const policy_wants none = create<plain>()->wants();
  EXPECT_FALSE(none.usage || none.changes || none.beats || none.elapsed || none.running);
  const policy_wants all = create<eager>()->wants();
  EXPECT_TRUE(all.usage && all.changes && all.beats);
  EXPECT_FALSE(all.spawns || all.elapsed || all.running);
}

TEST_F(usage, a_task_has_what_it_used_and_not_what_its_child_did) {
  static const char parent = 0, child = 0;
  constexpr std::uint64_t work = 20'000'000;
  std::uint64_t burnt = 0, took = 0;
  {
    heddle::runtime rt({.workers = 1, .policy = "accountant"});
    rt.run([&] {
      heddle::task_group outer;
      outer.run(
          [&] {
            const std::uint64_t start = wall();
            heddle::task_group inner;
            inner.run([&] { burnt = burn(work); }, {.label = &child});
            inner.wait();
            took = wall() - start;
          },
          {.label = &parent});
      outer.wait();
    });
  }
  const task_usage inner = only(&child), outer = only(&parent);
  EXPECT_EQ(inner.processor_time.from, source::clock);
  EXPECT_GE(inner.processor_time.value, burnt);
  EXPECT_LT(outer.processor_time.value, burnt / 2) << "that the child used it";
  EXPECT_EQ(outer.elapsed.from, source::clock);
  EXPECT_GE(outer.elapsed.value + outer.elapsed.value / 100, took) << "waits included; 1 % for the rate of the counter";
  EXPECT_GE(outer.elapsed.value, inner.elapsed.value);
  for (const figure& f : {inner.instructions, inner.private_misses, inner.shared_misses, inner.local_accesses}) {
    EXPECT_TRUE(f.from == source::none || f.from == source::counter);
    EXPECT_TRUE(f.is_known() || f.value == 0);
  }
}

TEST_F(usage, what_a_task_does_elsewhere_and_later_counts_and_what_it_waits_for_does_not) {
  static const char label = 0;
  constexpr std::uint64_t work = 5'000'000;
  std::uint64_t burnt = 0;
  for (const unsigned workers : {1u, 3u}) {
    burnt = 0;
    {
      heddle::runtime rt({.workers = workers, .policy = "accountant"});
      rt.run([&] {
        heddle::task_group group;
        group.run(
            [&] {
              for (int i = 0; i < 4; ++i) {
                burnt += burn(work);
                heddle::thread([&] { burn(work); }).join();  // others run here meanwhile
                heddle::blocking([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
              }
            },
            {.label = &label});
        group.wait();
      });
    }
    const task_usage what = only(&label);
    EXPECT_GE(what.processor_time.value, burnt);
    EXPECT_LT(what.processor_time.value, burnt + 3 * work) << "what others did while it waited is not its own";
    EXPECT_GE(what.elapsed.value, what.processor_time.value);
  }
}

TEST_F(usage, every_task_is_told_once_whoever_runs_it) {
  heddle_test::watchdog guard("tasks");
  static const char label = 0;
  constexpr unsigned count = 500;
  for (const unsigned workers : {1u, 2u, 8u}) {
    for (int round = 0; round < 3 * heddle_test::stress(); ++round) {
      {
        heddle::runtime rt({.workers = workers, .policy = "accountant"});
        rt.run([&] {
          heddle::task_group group;
          for (unsigned i = 0; i < count; ++i) {
            group.run(
                [] {
                  heddle::this_thread::yield();
                  heddle::parallel_invoke([] {}, [] { heddle::this_thread::yield(); });
                },
                {.label = &label});
          }
          group.wait();
        });
      }
      EXPECT_EQ(count_of(&label), count);
      EXPECT_LE(accountant::all.size(), 2 * count + 1) << "children, second halves, and the call";
      EXPECT_GE(accountant::all.size(), workers == 1 ? 2 * count + 1 : count + 1) << "a thief may be quicker";
      for (const accountant::told& one : accountant::all) EXPECT_TRUE(one.ended && one.what.processor_time.is_known());
    }
  }
}

TEST_F(usage, preempted_threads_have_their_own_turns) {
  if (heddle_test::thread_sanitized) GTEST_SKIP() << "no preemption under ThreadSanitizer";
  for (const heddle::preemption how : {heddle::preemption::signal_yield, heddle::preemption::klt_switching}) {
    constexpr std::uint64_t work = 20'000'000;
    std::atomic<std::uint64_t> burnt{0};
    {
      heddle::runtime rt(
          {.workers = 1, .policy = "accountant", .preempt = how, .preempt_interval = std::chrono::milliseconds(1)});
      std::vector<heddle::thread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back(heddle::thread_options{.where = &rt}, [&] {
          // Time that others use on this kernel thread counts here, too, so this ends too early, if at all.
          burnt += burn(work) > 0 ? 1 : 0;
        });
      }
      for (heddle::thread& t : threads) t.join();
    }
    EXPECT_EQ(burnt, 3u);
    std::uint64_t sum = 0;
    for (const accountant::told& one : accountant::all) {
      EXPECT_TRUE(one.ended);
      sum += one.what.processor_time.value;
    }
    EXPECT_EQ(accountant::all.size(), 3u);
    EXPECT_GE(sum, work / 2) << "the kernel thread's time between two turns is nobody's";
    EXPECT_LE(sum, clock_now(CLOCK_PROCESS_CPUTIME_ID));
  }
}

TEST_F(usage, groups_and_forks_tell_how_long_they_took) {
  std::uint64_t group_took = 0, outer_took = 0, inner_took = 0;
  {
    // One worker: another could take the second half before it has become a task, and such a fork is not told.
    heddle::runtime rt({.workers = 1, .policy = "accountant"});
    rt.run([&] {
      {
        heddle::task_group group;
        const std::uint64_t start = wall();
        group.run([] { burn(2'000'000); });
        burn(1'000'000);
        group_took = wall() - start;
        group.wait();
      }
      heddle::parallel_invoke(
          [&] {
            const std::uint64_t start = wall();
            heddle::parallel_invoke(
                [&] {
                  const std::uint64_t inner = wall();
                  burn(1'000'000);
                  inner_took = wall() - inner;
                },
                [] {});
            outer_took = wall() - start;
          },
          [] {});
    });
  }
  const auto reaches = [](std::uint64_t told, std::uint64_t took) { return told + told / 100 >= took; };
  ASSERT_EQ(accountant::groups.size(), 1u);
  EXPECT_TRUE(reaches(accountant::groups[0], group_took));
  ASSERT_EQ(accountant::forks.size(), 2u) << "the inner one first";
  EXPECT_TRUE(reaches(accountant::forks[0], inner_took));
  EXPECT_TRUE(reaches(accountant::forks[1], outer_took));
  EXPECT_GE(accountant::forks[1], accountant::forks[0]);
}

TEST_F(usage, which_task_runs) {
  const task *in_call = nullptr, *in_child = nullptr, *again = nullptr;
  heddle::runtime rt({.workers = 1, .policy = "accountant"});
  rt.run([&] {
    in_call = accountant::host->running(0);
    heddle::task_group group;
    group.run([&] { in_child = accountant::host->running(0); });
    group.wait();
    again = accountant::host->running(0);
  });
  EXPECT_NE(in_call, nullptr);
  EXPECT_NE(in_child, nullptr);
  EXPECT_NE(in_call, in_child);
  EXPECT_EQ(again, in_call);
}

// --- by the clock ------------------------------------------------------------------------------------------------

class listener final : public policy {
 public:
  static std::atomic<unsigned> beats, changes;
  static std::atomic<int> lives;
  static scheduler* host;
  explicit listener() {
    wants_.beat_us = 200;
    ++lives;
  }
  ~listener() override { --lives; }
  void start(scheduler& by) override {
    policy::start(by);
    host = &by;
  }
  entry acquire(unsigned self, effort how) noexcept override { return others(self, *host_).rob_at_random(*host_, how); }
  void beat() noexcept override {
    EXPECT_EQ(lives, 1);
    beats.fetch_add(1);
  }
  void workers_changed() noexcept override { changes.fetch_add(1); }
};
std::atomic<unsigned> listener::beats{0}, listener::changes{0};
std::atomic<int> listener::lives{0};
scheduler* listener::host = nullptr;

heddle::runtime_options listening(std::size_t workers) {
  static const bool added = [] {
    add({"by_the_clock", "of a test", [](parameters&) -> std::unique_ptr<policy> { return create<listener>(); }});
    return true;
  }();
  static_cast<void>(added);
  listener::beats = listener::changes = 0;
  heddle::runtime_options o;
  o.workers = workers;
  o.policy = "by_the_clock";
  return o;
}

TEST(beat, comes_while_all_sleep_and_while_all_compute) {
  heddle_test::watchdog guard("beats");
  heddle::runtime rt(listening(2));
  while (listener::beats < 5) std::this_thread::yield();
  rt.run([] {
    const unsigned before = listener::beats;
    heddle::parallel_invoke(
        [&] {
          while (listener::beats < before + 5) {
          }
        },
        [&] {
          while (listener::beats < before + 5) {
          }
        });
  });
}

TEST(beat, ends_with_the_runtime) {
  for (int i = 0; i < 20; ++i) {
    heddle::runtime rt(listening(1));
    rt.run([] {});
  }
  EXPECT_EQ(listener::lives, 0);
}

TEST(workers_changed, when_some_are_inactive) {
  heddle_test::watchdog guard("changes");
  heddle::runtime rt(listening(3));
  ASSERT_GT(listener::host->speed(2), 0);
  for (const unsigned active : {1u, 3u, 2u}) {
    const unsigned before = listener::changes;
    rt.set_active_workers(active);
    while (listener::changes == before) std::this_thread::yield();
    for (unsigned w = 0; w < 3; ++w) EXPECT_EQ(listener::host->speed(w) == 0, w >= active);
  }
}

TEST(workers_changed, speeds_are_measured_while_workers_compute) {
  heddle_test::watchdog guard("speeds");
  heddle::runtime rt(listening(1));
  // Not by run: the calling kernel thread would carry the worker itself.
  heddle::thread({.where = &rt}, [] {
    while (listener::host->speed_source(0) != source::clock) {
    }
  }).join();
  EXPECT_GT(listener::host->speed(0), 0);
  EXPECT_LE(listener::host->speed(0), 1);
}

}  // namespace
}  // namespace usage_test
