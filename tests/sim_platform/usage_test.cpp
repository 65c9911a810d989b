// The resources of tasks in virtual time: the figures are the model's own, and none depends on which functions count.
#include <gtest/gtest.h>

#include <heddle/cost.hpp>
#include <heddle/heddle.hpp>
#include <heddle/policy.hpp>
#include <heddle/policy_victims.hpp>

#include <map>
#include <memory>
#include <vector>

#include "sim/session.hpp"

namespace heddle::sim {
namespace usage_test {
namespace {

using namespace heddle::policy;

class accountant final : public policy::policy {
 public:
  static std::map<const void*, task_usage> all;
  static std::vector<std::uint64_t> groups;
  static std::vector<double> speeds;
  static unsigned beats;

  explicit accountant(bool by_the_clock) {
    wants_.elapsed = true;
    by_the_clock_ = by_the_clock;
  }
  void start(scheduler& host) override {
    policy::start(host);
    wants_.changes = wants_.beats = by_the_clock_;
  }
  entry acquire(unsigned self, effort how) noexcept override { return others(self, *host_).rob_at_random(*host_, how); }
  placement spawn(unsigned, const heddle::policy::task_info& info) noexcept override {
    info.made.keep(info.label);
    info.made.tag = this;
    return placement::child_first;
  }
  placement group_end(unsigned, group_info& info) noexcept override {
    groups.push_back(info.elapsed);
    return placement::stay;
  }
  void used(unsigned, task& t, const task_usage& what) noexcept override { all[t.get<const void*>()] = what; }
  void beat() noexcept override {
    ++beats;
    for (unsigned w = 0; w < host_->workers(); ++w) {
      if (host_->speed_source(w) == source::simulated) speeds[w] = host_->speed(w);
    }
  }
  void workers_changed() noexcept override {}

 private:
  bool by_the_clock_{false};
};
std::map<const void*, task_usage> accountant::all;
std::vector<std::uint64_t> accountant::groups;
std::vector<double> accountant::speeds;
unsigned accountant::beats = 0;

constexpr std::uint64_t microsecond = 2500;  // cycles

class usage_in_virtual_time : public ::testing::Test {
 protected:
  void SetUp() override {
    static const bool added = [] {
      add({"accountant", "of a test",
           [](parameters&) -> std::unique_ptr<policy> { return create<accountant>(false); }});
      add({"by_the_clock", "of a test",
           [](parameters&) -> std::unique_ptr<policy> { return create<accountant>(true); }});
      return true;
    }();
    static_cast<void>(added);
    accountant::all.clear(), accountant::groups.clear();
    accountant::speeds.assign(8, -1);
    accountant::beats = 0;
  }
  using policy = heddle::policy::policy;
  template <class F>
  static picoseconds run(const char* machine, unsigned workers, const char* name, F&& f, const char* bind = "on") {
    session_options o;
    o.machine = machine;
    o.charge = charging::annotations;
    const session simulation(o);
    runtime_options r;
    r.workers = workers;
    r.bind = bind;
    r.policy = name;
    runtime home(r);
    picoseconds took = 0;
    home.run([&] {
      const picoseconds start = active->now();
      f();
      took = active->now() - start;
    });
    return took;
  }
};

TEST_F(usage_in_virtual_time, time_and_cycles_are_what_the_task_was_charged) {
  static const char parent = 0, child = 0;
  run("nehalem-e5530", 1, "accountant", [] {
    task_group outer;
    outer.run(
        [] {
          cost::cycles(240'000);  // 100 us at 2.4 GHz
          task_group inner;
          inner.run([] { cost::cycles(480'000); }, {.label = &child});
          inner.wait();
        },
        {.label = &parent});
    outer.wait();
  });
  const task_usage in_parent = accountant::all[&parent], in_child = accountant::all[&child];
  EXPECT_EQ(in_parent.instructions.from, source::simulated);
  EXPECT_EQ(in_parent.instructions.value, 240'000u);
  EXPECT_EQ(in_child.instructions.value, 480'000u);
  EXPECT_EQ(in_child.processor_time.from, source::simulated);
  EXPECT_GE(in_child.processor_time.value, 200'000u);
  EXPECT_LT(in_child.processor_time.value, 201'000u) << "and what the scheduler took";
  EXPECT_GE(in_parent.processor_time.value, 100'000u);
  EXPECT_LT(in_parent.processor_time.value, 101'000u);
  EXPECT_GE(in_parent.elapsed.value, 300'000u);
  EXPECT_LT(in_parent.elapsed.value, 302'000u);
  ASSERT_EQ(accountant::groups.size(), 2u);
  EXPECT_GE(accountant::groups[0], 200'000u) << "the inner one";
  EXPECT_LT(accountant::groups[0], 201'000u);
}

TEST_F(usage_in_virtual_time, accesses_are_counted_by_how_far_they_went) {
  static const char first = 0, second = 0;
  constexpr std::size_t bytes = 1 << 20;  // 16384 lines: not in the 256 KB of a core, but in the 8 MB of all
  std::vector<char> data(bytes + 64);
  char* const begin = data.data() + (64 - reinterpret_cast<std::uintptr_t>(data.data()) % 64) % 64;
  run("nehalem-e5530", 1, "accountant", [&] {
    task_group group;
    group.run([&] { cost::read(begin, bytes); }, {.label = &first});
    group.run([&] { cost::read(begin, bytes); }, {.label = &second});
    group.wait();
  });
  const task_usage cold = accountant::all[&first], warm = accountant::all[&second];
  EXPECT_EQ(cold.private_misses.value, bytes / 64);
  EXPECT_EQ(cold.private_misses.from, source::simulated);
  EXPECT_EQ(cold.shared_misses.value, bytes / 64);
  EXPECT_EQ(cold.local_accesses.value, bytes / 64);
  EXPECT_EQ(cold.remote_accesses.value, 0u);
  EXPECT_EQ(warm.private_misses.value, bytes / 64) << "in turn through what does not fit";
  EXPECT_EQ(warm.shared_misses.value, 0u);
  EXPECT_EQ(warm.local_accesses.value, 0u);
}

TEST_F(usage_in_virtual_time, a_policy_that_counts_nothing_takes_as_long) {
  const auto program = [] {
    task_group group;
    for (int i = 0; i < 50; ++i) {
      group.run([] {
        cost::cycles(3 * microsecond);
        parallel_invoke([] { cost::cycles(microsecond); }, [] { cost::cycles(microsecond); });
      });
    }
    group.wait();
  };
  EXPECT_EQ(run("skylake-2x28", 8, "accountant", program), run("skylake-2x28", 8, "random_ws:spawn=child", program));
}

TEST_F(usage_in_virtual_time, the_beat_comes_every_millisecond) {
  run("skylake-2x28", 2, "by_the_clock", [] {
    for (int i = 0; i < 20; ++i) cost::cycles(1000 * microsecond);
  });
  EXPECT_GE(accountant::beats, 18u);
  EXPECT_LE(accountant::beats, 24u);
}

// Two workers on one processing unit have half of it each.
TEST_F(usage_in_virtual_time, a_speed_is_the_share_of_the_processor) {
  const auto busy = [] {
    const auto compute = [] {
      for (int i = 0; i < 300; ++i) cost::cycles(1000 * microsecond);
    };
    parallel_invoke(compute, compute);
  };
  run("synthetic:pu:2", 2, "by_the_clock", busy);
  EXPECT_GE(accountant::speeds[0], 0.9);
  EXPECT_GE(accountant::speeds[1], 0.9);
  accountant::speeds.assign(8, -1);
  run("synthetic:pu:1", 2, "by_the_clock", busy);
  for (unsigned w = 0; w < 2; ++w) {
    EXPECT_GE(accountant::speeds[w], 0.35);
    EXPECT_LE(accountant::speeds[w], 0.65);
  }
}

}  // namespace
}  // namespace usage_test
}  // namespace heddle::sim
