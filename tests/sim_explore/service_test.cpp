// Computations give way to what waits (src/worker/searching/service.md), under schedules that differ at every atomic
// operation and with a service clock: each computation ends only when a certain thread has run, which needs its
// service. Every policy has them all. Compiled once more for each mistake of mutants/service.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <stop_token>
#include <string>

#include "tests/sim_explore/clock.hpp"
#include "tests/support/runtimes.hpp"

namespace heddle::sim {
namespace service_test {
namespace {

constexpr int endless = 20'000;  // pieces

const char* drawn[2];  // what waits, and what computes

// Runs pieces until a thread has said that it has run.
class work {
 public:
  void end() {
    over_.store(true);
    stop_.request_stop();
  }
  bool is_over() const { return over_.load(); }
  std::stop_token stop() const { return stop_.get_token(); }
  void piece() {
    compute();
    if (over_.load() || pieces_.fetch_add(1) < endless) return;
    std::fprintf(stderr, "%s beside %s\n", drawn[0], drawn[1]);
    std::abort();
  }

 private:
  std::atomic<bool> over_{false};
  std::atomic<int> pieces_{0};
  std::stop_source stop_;
};

using endless_work = void (*)(work& w);

// One loop, because the end of a loop is a boundary as well. It is stopped, so that its site learns the time of pieces.
void until_over(work& w, loop_options how, int n = 2 * endless) {
  how.stop = w.stop();
  parallel_for(0, n, [&](int) { w.piece(); }, how);
  require(w.is_over());
}
void a_loop(work& w) { until_over(w, {}); }
void a_loop_with_a_grain(work& w) { until_over(w, {.grain = 2}); }
void a_fixed_loop(work& w) { until_over(w, {.schedule = schedule::fixed()}); }
void a_dynamic_loop(work& w) { until_over(w, {.schedule = schedule::dynamic()}); }
// The others have a fork or a choice for each piece.
void a_loop_that_yields(work& w) {
  const auto body = [&](int) {
    w.piece();
    this_thread::yield();
  };
  while (!w.is_over()) parallel_for(0, 50, body);
}
void a_reduction(work& w) {
  const auto body = [&](int) {
    w.piece();
    return 1;
  };
  while (!w.is_over()) require(parallel_reduce(0, 50, 0, body, std::plus<>()) == 50);
}
void fork_until_over(work& w, int depth) {
  w.piece();
  if (depth == 0 || w.is_over()) return;
  parallel_invoke([&] { fork_until_over(w, depth - 1); }, [&] { fork_until_over(w, depth - 1); });
}
void forks(work& w) { fork_until_over(w, 30); }
void children(work& w) {
  while (!w.is_over()) {
    task_group group;
    for (int i = 0; i < 20; ++i) group.run([&] { w.piece(); });
    group.wait();
  }
}
void yields(work& w) {
  const auto body = [&] {
    while (!w.is_over()) {
      w.piece();
      this_thread::yield();
    }
  };
  thread other(body);
  body();
  other.join();
}

struct named_work {
  const char* name;
  endless_work run;
};
constexpr named_work all_work[] = {{"loop", a_loop},
                                   {"grain", a_loop_with_a_grain},
                                   {"fixed", a_fixed_loop},
                                   {"dynamic", a_dynamic_loop},
                                   {"yielding loop", a_loop_that_yields},
                                   {"reduction", a_reduction},
                                   {"forks", forks},
                                   {"children", children},
                                   {"yields", yields}};

// The thread that waits, and ends the work.
using waiting = void (*)(runtime& home, endless_work computes);

void a_timer(runtime& home, endless_work computes) {
  on(home, [&] {
    work w;
    thread clock([&] {
      this_thread::sleep_for(std::chrono::microseconds(20));
      w.end();
    });
    computes(w);
    clock.join();
  });
}
void a_ready_thread(runtime& home, endless_work computes) {
  on(home, [&] {
    work w;
    thread waits([&] { w.end(); });
    computes(w);
    waits.join();
  });
}
void a_thread_from_outside(runtime& home, endless_work computes) {
  work w;
  thread_options where;
  where.where = &home;
  thread busy(where, [&] { computes(w); });
  thread sent(where, [&] { w.end(); });
  busy.join();
  sent.join();
}

struct named_waiting {
  const char* name;
  waiting run;
};
constexpr named_waiting all_waiting[] = {
    {"timer", a_timer}, {"ready thread", a_ready_thread}, {"thread from outside", a_thread_from_outside}};

// The schedule draws one of each kind.
void one_of_each(std::size_t workers, const std::string& policy) {
  runtime_options o = clocked(workers);
  o.policy = heddle_test::fitting(policy, static_cast<unsigned>(workers));
  runtime home(o);
  explorer& draws = *active->chooser();
  const named_waiting& waits = all_waiting[draws.choose(std::size(all_waiting))];
  const named_work& computes = all_work[draws.choose(std::size(all_work))];
  drawn[0] = waits.name;
  drawn[1] = computes.name;
  waits.run(home, computes.run);
}

constexpr scenario scenarios[] = {{"one worker", [] { one_of_each(1, "random_ws"); }},
                                  {"two workers", [] { one_of_each(2, "random_ws"); }}};

#if !defined(HEDDLE_MUTANT)

class service : public testing::TestWithParam<scenario> {};

TEST_P(service, computations_give_way) { expect_right(GetParam().run); }

INSTANTIATE_TEST_SUITE_P(scenarios, service, testing::ValuesIn(scenarios), named);

class service_under_policies : public testing::TestWithParam<std::string> {};

TEST_P(service_under_policies, computations_give_way) {
  const std::string& policy = GetParam();
  if (policy.starts_with("pdf") || policy.starts_with("controlled-pdf")) GTEST_SKIP() << "it keeps the serial order";
  if (policy.starts_with("levels:l3=hierarchical_ws,l2=work_sharing"))
    GTEST_SKIP() << "only searching workers take from the queues of the lower policy";
  expect_right([] { one_of_each(2, GetParam()); }, schedules() / 10);
}

INSTANTIATE_TEST_SUITE_P(policies, service_under_policies, testing::ValuesIn(heddle_test::all_policies),
                         [](const auto& info) { return heddle_test::test_name(info.param); });

#else

TEST(service, some_schedule_shows_the_mistake) { expect_found(scenarios); }

#endif

}  // namespace
}  // namespace service_test
}  // namespace heddle::sim
