// The pauses that threads make before they wait for a mutex or at a barrier, in virtual time, where nothing else costs
// anything: src/sync/spin_habit.hpp.
#include <gtest/gtest.h>

#include <functional>

#include <heddle/barrier.hpp>
#include <heddle/cost.hpp>
#include <heddle/heddle.hpp>
#include <heddle/mutex.hpp>

#include "sim/session.hpp"

namespace heddle::sim {
namespace pauses_test {
namespace {

constexpr unsigned rounds = 1000;
constexpr picoseconds nanosecond = 1000;
constexpr picoseconds pause = 14 * nanosecond;  // what one takes, if it is not said otherwise

// Returns the virtual time of two threads that call round(i), so often.
picoseconds time_of(unsigned workers, const std::function<void(unsigned)>& round) {
  session_options o;
  o.machine = "skylake-2x28";
  o.charge = charging::annotations;
  const session simulation(o);
  runtime_options r;
  r.workers = workers;
  r.bind = "on";
  runtime home(r);
  picoseconds result = 0;
  home.run([&] {
    const picoseconds start = active->now();
    thread threads[2];
    for (unsigned i = 0; i < 2; ++i) {
      threads[i] = thread([&round, i] {
        for (unsigned k = 0; k < rounds; ++k) round(i);
      });
    }
    for (thread& t : threads) t.join();
    result = active->now() - start;
  });
  return result;
}

// 16 pauses in each round of one of the threads take more time than all else together.
TEST(pauses_in_virtual_time, are_rare_where_the_holder_of_a_mutex_is_ready_on_the_same_worker) {
  mutex m;
  const picoseconds time = time_of(1, [&](unsigned) {
    m.lock();
    this_thread::yield();
    m.unlock();
  });
  EXPECT_LT(time, rounds * 16 * pause);
}

// A suspension takes longer than the critical section, so threads that pause take little more than the sections do.
TEST(pauses_in_virtual_time, bring_a_mutex_whose_holder_runs_on_another_worker) {
  mutex m;
  const picoseconds time = time_of(2, [&](unsigned) {
    m.lock();
    cost::cycles(100);
    m.unlock();
  });
  EXPECT_LT(time, rounds * 2 * 41 * nanosecond);
}

// Threads that pause meet when the later one comes, after 80 ns.
TEST(pauses_in_virtual_time, bring_threads_on_different_workers_past_a_barrier) {
  barrier meeting(2);
  const picoseconds time = time_of(2, [&](unsigned i) {
    cost::cycles(100 + 100 * i);
    meeting.arrive_and_wait();
  });
  EXPECT_LT(time, rounds * 82 * nanosecond);
}

// The computations of both threads take 40 us and 80 ns a round.
TEST(pauses_in_virtual_time, are_not_made_at_a_barrier_for_a_thread_of_the_same_worker) {
  barrier meeting(2);
  const picoseconds time = time_of(1, [&](unsigned i) {
    cost::cycles(100 + 100'000 * i);
    meeting.arrive_and_wait();
  });
  EXPECT_LT(time, rounds * (40'080 * nanosecond + 8 * pause));
}

}  // namespace
}  // namespace pauses_test
}  // namespace heddle::sim
