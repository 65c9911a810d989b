// Preemptive threads on simulated processors: what waits for itself by spinning ends, runs repeat themselves, and
// preemption costs what the machine's file says.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <heddle/cost.hpp>
#include <heddle/heddle.hpp>

#include "platform/platform.hpp"
#include "sim/session.hpp"

namespace heddle::sim {
namespace preempt_test {
namespace {

struct run_options {
  std::string machine{"skylake-2x28"};
  unsigned workers{4};
  unsigned threads{10};  // a worker
  preemption how{preemption::signal_yield};
  std::string timer{"aligned"};
  std::string klt{"direct"};
  std::optional<std::chrono::nanoseconds> interval{1'000'000};
};

struct ran {
  picoseconds time;  // from the first thread's beginning to the last one's end
  std::uint64_t ticks, preemptions;
  bool operator==(const ran&) const = default;
};

// body(number of the thread) on as many threads of that kind, in a simulated process of its own.
template <class F>
ran simulated(const run_options& how, F&& body) {
  session_options o;
  o.machine = how.machine;
  o.charge = charging::annotations;
  const session simulation(o);
  ran result{};
  {
    runtime_options r;
    r.workers = how.workers;
    r.bind = "on";
    r.preempt_interval = how.interval;
    r.preempt_timer = how.timer;
    r.preempt_klt = how.klt;
    runtime home(r);
    const picoseconds begin = active->now();
    home.run([&] {
      std::vector<thread> all;
      thread_options t;
      t.where = &home;
      t.preemption = how.how;
      for (unsigned i = 0; i < how.workers * how.threads; ++i) all.emplace_back(t, [&body, i] { body(i); });
      for (thread& one : all) one.join();
    });
    result = {active->now() - begin, home.statistics().ticks, home.statistics().preemptions};
  }
  return result;
}

// A barrier that spins.
struct spinning {
  explicit spinning(unsigned n) : count(n) {}
  void meet() {
    const unsigned now = phase.load();
    if (arrived.fetch_add(1) == count - 1) {
      arrived.store(0);
      phase.fetch_add(1);
      return;
    }
    while (phase.load() == now) cost::cycles(2500);
  }
  const unsigned count;
  std::atomic<unsigned> arrived{0}, phase{0};
};

// The same, in a loop that tells the processor that it waits.
struct pausing : spinning {
  using spinning::spinning;
  void meet() {
    const unsigned now = phase.load();
    if (arrived.fetch_add(1) == count - 1) {
      arrived.store(0);
      phase.fetch_add(1);
      return;
    }
    while (phase.load() == now) this_thread::pause();
  }
};

class techniques : public ::testing::TestWithParam<std::tuple<preemption, const char*, const char*>> {
 protected:
  run_options options() const {
    run_options o;
    o.how = std::get<0>(GetParam());
    o.timer = std::get<1>(GetParam());
    o.klt = std::get<2>(GetParam());
    return o;
  }
};

TEST_P(techniques, a_spinning_barrier_ends) {
  spinning barrier(40);
  std::atomic<int> ended{0};
  const ran r = simulated(options(), [&](unsigned) {
    for (int i = 0; i < 5; ++i) barrier.meet();
    ended.fetch_add(1);
  });
  EXPECT_EQ(ended.load(), 40);
  EXPECT_GT(r.preemptions, 5u * 4 * 9 / 2);
}

TEST_P(techniques, runs_repeat_themselves) {
  const auto once = [&] {
    spinning barrier(40);
    return simulated(options(), [&](unsigned i) {
      cost::cycles(1000.0 * i);
      barrier.meet();
    });
  };
  const ran first = once();
  EXPECT_EQ(once(), first);
}

// [slice:4]: while threads are found in pauses, unless time slices of a certain length are asked for.
TEST_P(techniques, slices_are_short_while_threads_spin) {
  run_options o = options();
  o.threads = 3;
  const auto once = [&o] {
    pausing barrier(12);
    return simulated(o, [&](unsigned) {
      for (int i = 0; i < 20; ++i) barrier.meet();
    });
  };
  const ran asked = once();
  o.interval.reset();
  const ran shortened = once();
  EXPECT_EQ(once(), shortened);
  EXPECT_LT(shortened.time * 4, asked.time);
}

TEST_P(techniques, slices_stay_as_they_are_where_nobody_pauses) {
  run_options o = options();
  const auto once = [&o] {
    spinning barrier(40);
    return simulated(o, [&](unsigned) {
      for (int i = 0; i < 3; ++i) barrier.meet();
    });
  };
  const ran asked = once();
  o.interval.reset();
  EXPECT_EQ(once(), asked);
}

// Short time slices end when nobody has been found spinning for a while.
TEST_P(techniques, the_usual_slices_come_back) {
  run_options o = options();
  o.threads = 3;
  const auto once = [&o] {
    pausing barrier(12);
    return simulated(o, [&](unsigned) {
      for (int i = 0; i < 2; ++i) barrier.meet();
      cost::cycles(500e6);
    });
  };
  const ran asked = once();
  o.interval.reset();
  const ran shortened = once();
  // of the 16 ms after the last pause, at 60 us each
  EXPECT_LT(shortened.ticks, asked.ticks + o.workers * 2 * (16'000 / 60));
}

INSTANTIATE_TEST_SUITE_P(all, techniques,
                         ::testing::Values(std::tuple{preemption::signal_yield, "aligned", "direct"},
                                           std::tuple{preemption::signal_yield, "creation", "direct"},
                                           std::tuple{preemption::signal_yield, "one-to-all", "direct"},
                                           std::tuple{preemption::signal_yield, "chain", "direct"},
                                           std::tuple{preemption::signal_yield, "hybrid:2", "direct"},
                                           std::tuple{preemption::klt_switching, "aligned", "naive"},
                                           std::tuple{preemption::klt_switching, "aligned", "futex"},
                                           std::tuple{preemption::klt_switching, "aligned", "local"},
                                           std::tuple{preemption::klt_switching, "aligned", "direct"},
                                           std::tuple{preemption::klt_switching, "chain", "direct"}),
                         [](const auto& p) {
                           std::string name =
                               std::string(std::get<0>(p.param) == preemption::signal_yield ? "signal_yield_"
                                                                                            : "klt_") +
                               std::get<1>(p.param) + "_" + std::get<2>(p.param);
                           std::replace_if(name.begin(), name.end(), [](char c) { return c == '-' || c == ':'; }, '_');
                           return name;
                         });

// Two threads that compute: time beyond their work, for each preemption, in us.
double cost_of_preemption(preemption how, const char* klt, const char* machine) {
  run_options o;
  o.machine = machine;
  o.workers = 1;
  o.threads = 2;
  o.how = how;
  o.klt = klt;
  const auto work = [&](unsigned) { cost::cycles(250e6); };
  const ran with = simulated(o, work);
  o.how = preemption::none;
  const ran without = simulated(o, work);
  EXPECT_EQ(without.preemptions, 0u);
  EXPECT_GT(with.preemptions, 150u);
  return static_cast<double>(with.time - without.time) / 1e6 / static_cast<double>(with.preemptions);
}

// Table 3.1 of the thesis.
TEST(preempt, costs_what_the_machines_file_says) {
  const double yields = cost_of_preemption(preemption::signal_yield, "direct", "skylake-2x28");
  EXPECT_NEAR(yields, 3.5, 0.3);
  const double local = cost_of_preemption(preemption::klt_switching, "local", "skylake-2x28");
  EXPECT_NEAR(local, 9.9, 1.5);
  const double direct = cost_of_preemption(preemption::klt_switching, "direct", "skylake-2x28");
  EXPECT_LT(direct, local);
  EXPECT_GT(direct, yields);
  const double naive = cost_of_preemption(preemption::klt_switching, "naive", "skylake-2x28");
  EXPECT_GT(naive, local + 2);
}

TEST(preempt, who_is_not_preemptive_gets_no_ticks) {
  run_options o;
  o.how = preemption::none;
  const ran r = simulated(o, [](unsigned) { cost::cycles(25e6); });
  EXPECT_EQ(r.ticks, 0u);
}

TEST(preempt, storage_of_its_own_is_refused_with_a_reason) {
  session_options o;
  o.machine = "skylake-2x28";
  const session simulation(o);
  runtime_options r;
  r.workers = 2;
  runtime home(r);
  home.run([&] {
    thread_options t;
    t.where = &home;
    t.preemption = preemption::signal_yield;
    t.tls = tls::own;
    try {
      thread refused(t, [] {});
      refused.join();
      FAIL() << "it was made";
    } catch (const std::system_error& e) {
      EXPECT_NE(std::string(e.what()).find("simulated kernel threads share one block"), std::string::npos) << e.what();
    }
  });
}

TEST(preempt, packed_threads_share_the_workers_that_are_left) {
  const auto time = [](unsigned active, preemption how) {
    session_options o;
    o.machine = "skylake-2x28";
    o.charge = charging::annotations;
    const session simulation(o);
    runtime_options r;
    r.workers = 8;
    r.bind = "on";
    runtime home(r);
    home.set_active_workers(active);
    const picoseconds begin = sim::active->now();
    home.run([&] {
      std::vector<thread> all;
      thread_options t;
      t.where = &home;
      t.preemption = how;
      for (unsigned i = 0; i < 8; ++i) all.emplace_back(t, [] { cost::cycles(250e6); });
      for (thread& one : all) one.join();
    });
    return static_cast<double>(sim::active->now() - begin) / 1e11;  // in times of one thread's work
  };
  EXPECT_NEAR(time(8, preemption::signal_yield), 1, 0.05);
  EXPECT_NEAR(time(6, preemption::signal_yield), 8.0 / 6, 0.1);
  EXPECT_NEAR(time(4, preemption::klt_switching), 2, 0.1);
  EXPECT_GT(time(6, preemption::none), 1.9) << "or the test says little";
}

}  // namespace
}  // namespace preempt_test
}  // namespace heddle::sim
