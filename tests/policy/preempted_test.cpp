// Tasks whose turn is ended: a policy hears of it, and may snatch a running thread for another worker.
#include <heddle/policy.hpp>
#include <heddle/runtime.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "policy/task_list.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace preempted_test {
namespace {

using namespace heddle::policy;
using namespace std::chrono_literals;

// An idle worker interrupts the others, and takes what they had to give up.
class snatcher final : public policy {
 public:
  static std::atomic<bool> wanted;
  static std::atomic<int> moved;

  entry acquire(unsigned self, effort) noexcept override {
    if (self != from_) {
      if (task* t = given_up_.pop_front(); t != nullptr) return host_->entry_of(*t);
    }
    for (unsigned victim = 0; wanted && victim < host_->workers(); ++victim) {
      if (victim != self) host_->interrupt(victim);
    }
    return 0;
  }
  bool may_find(unsigned self) noexcept override { return wanted || (self != from_ && !given_up_.looks_empty()); }
  placement started(unsigned, const task_info& info) noexcept override {
    info.made.tag = this;
    return placement::stay;
  }
  placement preempted(unsigned self, task& t) noexcept override {
    if (!wanted.exchange(false)) return placement::stay;
    ++moved;
    return send_to(t, self);
  }
  void enqueue(unsigned self, task& t) noexcept override {
    EXPECT_EQ(t.to.target, self);
    from_ = self;
    given_up_.push_back(t);
    for (unsigned rank = 0; rank < host_->workers(); ++rank) {
      if (rank != self) host_->wake(rank);
    }
  }

 private:
  shared_task_list given_up_;
  std::atomic<unsigned> from_{nobody};  // who gave up the last one, and does not take it back
};
std::atomic<bool> snatcher::wanted{false};
std::atomic<int> snatcher::moved{0};

class preempted : public ::testing::TestWithParam<heddle::preemption> {
 protected:
  void SetUp() override {
    if (heddle_test::thread_sanitized) GTEST_SKIP() << "no preemption under ThreadSanitizer";
    static const bool added = [] {
      add({"snatcher", "of a test", [](parameters&) -> std::unique_ptr<policy> { return create<snatcher>(); }});
      return true;
    }();
    static_cast<void>(added);
    snatcher::wanted = false;
    snatcher::moved = 0;
  }
  // Turns that no timer ends: what happens is the policy's doing.
  heddle::runtime_options options(unsigned workers) const {
    heddle::runtime_options o;
    o.workers = workers;
    o.policy = "snatcher";
    o.preempt = GetParam();
    o.preempt_interval = 10s;
    return o;
  }
};

TEST_P(preempted, a_running_thread_is_snatched) {
  heddle_test::watchdog guard("snatched");
  heddle::runtime rt(options(2));
  for (int round = 0; round < 20; ++round) {
    snatcher::moved = 0;
    heddle::thread spinner(heddle::thread_options{.where = &rt}, [&] {
      const int before = rt.worker_rank();
      snatcher::wanted = true;
      heddle::thread other([] {});  // so that the other worker is awake
      while (snatcher::moved.load() == 0) {
      }
      EXPECT_NE(rt.worker_rank(), before);
      other.join();
    });
    spinner.join();
    EXPECT_EQ(snatcher::moved.load(), 1);
  }
}

TEST_P(preempted, several_spinners_change_places) {
  heddle_test::watchdog guard("spinners");
  heddle::runtime rt(options(4));
  std::vector<heddle::thread> spinners;
  for (int i = 0; i < 3; ++i) {
    spinners.emplace_back(heddle::thread_options{.where = &rt}, [] {
      while (snatcher::moved.load() < 50) snatcher::wanted = true;
    });
  }
  while (snatcher::moved.load() < 50) heddle::thread(heddle::thread_options{.where = &rt}, [] {}).join();  // wakes
  for (heddle::thread& t : spinners) t.join();
  snatcher::wanted = false;
  EXPECT_GE(snatcher::moved.load(), 50);
}

INSTANTIATE_TEST_SUITE_P(techniques, preempted,
                         testing::Values(heddle::preemption::signal_yield, heddle::preemption::klt_switching),
                         [](const auto& info) {
                           return info.param == heddle::preemption::signal_yield ? std::string("signal_yield")
                                                                                 : std::string("klt_switching");
                         });

TEST(speed, is_what_the_machine_declares) {
  class listener final : public policy {
   public:
    void start(scheduler& host) override {
      policy::start(host);
      for (unsigned w = 0; w < host.workers(); ++w) speeds().push_back(host.speed(w));
    }
    entry acquire(unsigned, effort) noexcept override { return 0; }
    static std::vector<double>& speeds() {
      static std::vector<double> all;
      return all;
    }
  };
  add({"listener", "of a test", [](parameters&) -> std::unique_ptr<policy> { return create<listener>(); }});
  const heddle::runtime rt({.workers = 3, .policy = "listener"});
  ASSERT_EQ(listener::speeds().size(), 3u);
  for (unsigned w = 0; w < 3; ++w) EXPECT_EQ(listener::speeds()[w], rt.machine().unit_of(w).speed);
}

}  // namespace
}  // namespace preempted_test
