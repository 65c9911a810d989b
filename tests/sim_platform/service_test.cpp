// How long something waits while all workers compute, in virtual time: [service:1] of
// src/worker/searching/service.md. With the mistake that no boundary serves, the same bounds are missed.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <heddle/cost.hpp>
#include <heddle/heddle.hpp>

#include "platform/explored.hpp"
#include "platform/platform.hpp"
#include "sim/session.hpp"
#include "support/runtimes.hpp"

namespace heddle::sim {
namespace service_test {
namespace {

using namespace std::chrono_literals;

constexpr double microsecond = 2500;  // cycles
constexpr int pieces = 2000;
constexpr double piece = 100;  // microseconds

void one_piece() { cost::cycles(piece * microsecond); }

using work = void (*)(unsigned workers);

void loop(unsigned) {
  parallel_for(0, pieces, [](int) { one_piece(); });
}
void loop_with_grain(unsigned) {
  parallel_for(0, pieces, [](int) { one_piece(); }, {.grain = 1});
}
void reduction(unsigned) {
  const auto body = [](int) {
    one_piece();
    return 1;
  };
  EXPECT_EQ(parallel_reduce(0, pieces, 0, body, std::plus<>()), pieces);
}
void scan(unsigned) {
  std::vector<int> values(pieces, 1);
  parallel_scan(values, [](int a, int b) {
    one_piece();
    return a + b;
  });
  EXPECT_EQ(values.back(), pieces);
}
// Each iteration is short, and yields.
void yielding_loop(unsigned) {
  constexpr int factor = 25;
  parallel_for(0, factor * pieces, [](int) {
    cost::cycles(piece / factor * microsecond);
    this_thread::yield();
  });
}
void seldom_yielding_loop(unsigned) {
  parallel_for(0, 10 * pieces, [](int i) {
    cost::cycles(piece / 10 * microsecond);
    if (i % 400 == 0) this_thread::yield();
  });
}
void fixed_loop(unsigned) {
  parallel_for(0, pieces, [](int) { one_piece(); }, {.schedule = schedule::fixed()});
}
void guided_loop(unsigned) {
  parallel_for(0, pieces, [](int) { one_piece(); }, {.schedule = schedule::guided()});
}
void dynamic_loop(unsigned) {
  parallel_for(0, pieces, [](int) { one_piece(); }, {.schedule = schedule::dynamic(1)});
}
void fork(int n) {
  if (n == 1) return one_piece();
  parallel_invoke([n] { fork(n / 2); }, [n] { fork(n - n / 2); });
}
void forks(unsigned) { fork(pieces); }
void children(unsigned) {
  task_group group;
  for (int i = 0; i < pieces; ++i) group.run([] { one_piece(); });
  group.wait();
}
void yields(unsigned workers) {
  std::vector<jthread> all;
  for (unsigned w = 0; w < workers; ++w) {
    all.emplace_back([workers] {
      for (unsigned i = 0; i < pieces / workers; ++i) {
        one_piece();
        this_thread::yield();
      }
    });
  }
}
void threads(unsigned) {
  std::vector<jthread> all;
  for (int i = 0; i < pieces; ++i) all.emplace_back([] { one_piece(); });
}

struct row {
  const char* name;
  work run;
};

// Microseconds for which a thread is late that sleeps for 20 ms beside the work, for which a thread waits that is made
// before it, and for which a thread waits at most that is woken every 3 ms from outside.
struct outcome {
  double late{0}, begins{0}, sent_in{0};
};

double now_us() { return static_cast<double>(active->now()) / 1e6; }

void sleep_for_us(double us) {
  const std::chrono::nanoseconds end(platform::now() + static_cast<platform::nanoseconds>(us * 1000));
  this_thread::sleep_until(std::chrono::steady_clock::time_point(end));
}

// A kernel thread that is no worker, and wakes a thread of the runtime from time to time.
class visitor {
 public:
  explicit visitor(runtime& home) {
    thread_options where;
    where.where = &home;
    server_ = thread(where, [this] {
      for (;;) {
        requests_.acquire();
        if (ends_.load() != 0) return;
        worst_ = std::max(worst_, now_us() - sent_at_.load());
        answered_.store(true);
      }
    });
    EXPECT_EQ(platform::start(kernel_, [](void* self) { static_cast<visitor*>(self)->send(); }, this, "visitor"), 0);
  }
  // In microseconds. Ends its threads.
  double worst() {
    ends_.store(1);
    platform::wake_all(ends_);
    platform::join(kernel_);
    requests_.release();
    server_.join();
    return worst_;
  }

 private:
  void send() {
    while (ends_.load() == 0) {
      platform::wait_on(ends_, 0, platform::now() + 3'000'000);
      if (!answered_.exchange(false)) continue;
      sent_at_.store(now_us());
      requests_.release();
    }
  }

  semaphore requests_{0};
  std::atomic<std::uint32_t> ends_{0};
  std::atomic<double> sent_at_{0};
  std::atomic<bool> answered_{true};
  double worst_{0};
  platform::kernel_thread kernel_;
  thread server_;
};

runtime_options like(unsigned workers, preemption how = preemption::none) {
  runtime_options r;
  r.workers = workers;
  r.bind = "on";
  r.preempt = how;
  r.preempt_interval = 1ms;
  return r;
}

outcome beside(work run, const runtime_options& r) {
  session_options o;
  o.machine = "skylake-2x28";
  o.charge = charging::annotations;
  const session simulation(o);
  runtime home(r);
  outcome result;
  visitor outside(home);
  home.run([&] {
    const double made = now_us();
    thread sleeper([&] {
      result.begins = now_us() - made;
      const double from = now_us();
      sleep_for_us(20000);
      result.late = now_us() - from - 20000;
    });
    run(*r.workers);
    sleeper.join();
    result.sent_in = outside.worst();
  });
  return result;
}

// In microseconds.
constexpr double within(int bounds) { return bounds * 1000 + 2 * piece + 50; }

void expect_served(const outcome& seen, double most) {
  EXPECT_LE(seen.late, most);
  EXPECT_LE(seen.begins, most);
  EXPECT_LE(seen.sent_in, most);
}

class service_in_virtual_time : public testing::TestWithParam<std::tuple<row, unsigned>> {};

TEST_P(service_in_virtual_time, nothing_waits_for_longer_than_the_bound_and_two_pieces) {
  const auto& [of, workers] = GetParam();
  expect_served(beside(of.run, like(workers)), within(1));
}

constexpr row rows[] = {{"loop", loop},        {"grain", loop_with_grain},  {"reduction", reduction},
                        {"scan", scan},        {"yielding", yielding_loop}, {"seldom_yielding", seldom_yielding_loop},
                        {"fixed", fixed_loop}, {"dynamic", dynamic_loop},   {"guided", guided_loop},
                        {"forks", forks},      {"children", children},      {"yields", yields},
                        {"threads", threads}};

INSTANTIATE_TEST_SUITE_P(all, service_in_virtual_time,
                         testing::Combine(testing::ValuesIn(rows), testing::Values(1u, 2u, 4u, 8u)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::to_string(std::get<1>(info.param));
                         });

// [service:6]: a policy may keep a thread behind other work that it has for the same worker.
class service_under_policies : public testing::TestWithParam<std::tuple<std::string, row>> {};

TEST_P(service_under_policies, nothing_waits_for_longer_than_a_few_bounds) {
  const auto& [policy, of] = GetParam();
  const auto is = [&policy = policy](const char* name) { return policy.starts_with(name); };
  // This one promises the serial order, in which the thread that is made before the work comes after it.
  const bool in_serial_order = is("pdf") || is("controlled-pdf");
  if (is("sb") && of.run == threads) GTEST_SKIP() << "the threads of a cache that are new come first";
  if (is("levels:l3=hierarchical_ws,l2=work_sharing"))
    GTEST_SKIP() << "only searching workers take from the queues of the lower policy";
  if (is("locality_ws:tasks=2") && of.run == threads) GTEST_SKIP() << "a thread that wakes up is 34 ms late: open";
  constexpr unsigned workers = 4;
  runtime_options r = like(workers);
  r.policy = heddle_test::fitting(policy, workers);
  outcome seen = beside(of.run, r);
  if (in_serial_order) seen.begins = 0;
  expect_served(seen, within(is("hws") ? 6 : 3));
}

INSTANTIATE_TEST_SUITE_P(all, service_under_policies,
                         testing::Combine(testing::ValuesIn(heddle_test::all_policies), testing::ValuesIn(rows)),
                         [](const auto& info) {
                           return heddle_test::test_name(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
                         });

// Where all threads are preemptive, ticks interrupt a loop, and its members stay few ([range:9] of src/loop/ranges.md).
class preemptive_loop : public testing::TestWithParam<std::tuple<preemption, unsigned>> {};

TEST_P(preemptive_loop, a_thread_that_wakes_up_stands_behind_few_members) {
  const auto& [how, workers] = GetParam();
  const outcome seen = beside(loop, like(workers, how));
  constexpr double slice = 1000;
  EXPECT_LE(seen.late, 3 * slice + piece);
}

INSTANTIATE_TEST_SUITE_P(all, preemptive_loop,
                         testing::Combine(testing::Values(preemption::signal_yield, preemption::klt_switching),
                                          testing::Values(1u, 2u, 4u, 8u)));

TEST(service_mutant, a_runtime_that_does_not_serve_is_found) {
  platform::left_out = {platform::step::service, platform::all_boundaries};
  const outcome seen = beside(loop, like(2));
  platform::left_out = {};
  EXPECT_GT(std::max(seen.begins, seen.late), 10000);
}

}  // namespace
}  // namespace service_test
}  // namespace heddle::sim
