// Which worker runs a thread that its maker joins soon, and one that it does not, on two workers in virtual time:
// src/task/threads.md.
#include <gtest/gtest.h>

#include <heddle/cost.hpp>
#include <heddle/heddle.hpp>

#include "sim/session.hpp"
#include "worker/worker.hpp"

namespace heddle::sim {
namespace threads_test {
namespace {

constexpr unsigned rounds = 400;
constexpr std::uint64_t microsecond = 2500;  // cycles

struct outcome {
  unsigned moves{0};  // threads that another worker ran than the one whose thread made them
  picoseconds time{0};
};

// Makes a thread of so many cycles, computes for others, joins it; so often.
outcome rounds_of(std::uint64_t in_thread, std::uint64_t before_join) {
  session_options o;
  o.machine = "skylake-2x28";
  o.charge = charging::annotations;
  const session simulation(o);
  runtime_options r;
  r.workers = 2;
  r.bind = "on";
  runtime home(r);
  outcome result;
  home.run([&] {
    const picoseconds start = active->now();
    for (unsigned i = 0; i < rounds; ++i) {
      const unsigned maker = worker::worker::current().rank;
      unsigned runner = maker;
      thread t([&runner, in_thread] {
        runner = worker::worker::current().rank;
        cost::cycles(in_thread);
      });
      cost::cycles(before_join);
      t.join();
      result.moves += runner != maker ? 1 : 0;
    }
    result.time = active->now() - start;
  });
  return result;
}

TEST(threads_in_virtual_time, one_that_is_joined_at_once_stays_with_its_maker) {
  EXPECT_LE(rounds_of(100, 0).moves, rounds / 20);
}

TEST(threads_in_virtual_time, one_that_is_not_runs_beside_its_maker) {
  const outcome coarse = rounds_of(100 * microsecond, 100 * microsecond);
  EXPECT_GE(coarse.moves, rounds * 9 / 10);
  EXPECT_LE(coarse.time, rounds * picoseconds{115'000'000});
}

}  // namespace
}  // namespace threads_test
}  // namespace heddle::sim
