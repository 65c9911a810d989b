// ml-adaptive on 64 simulated workers on four sockets: where idle workers help out, and where they leave a layout
// alone. Times are virtual and repeat exactly, so that two settings that did the same take the same time.
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>

#include <gtest/gtest.h>

#include <string>

#include "platform/sim/engine.hpp"
#include "sim/session.hpp"

namespace heddle::sim {
namespace ml_adaptive_test {
namespace {

constexpr picoseconds us = 1'000'000;

template <class F>
picoseconds time_of(const std::string& policy, const F& f) {
  session_options o;
  o.machine = "skylake-4x16";
  o.charge = charging::annotations;
  const session simulation(o);
  runtime_options options;
  options.workers = 64;
  options.policy = policy;
  options.seed = 7;
  runtime home(options);
  picoseconds spent = 0;
  home.run([&] {
    const picoseconds begin = active->now();
    f();
    spent = active->now() - begin;
  });
  return spent;
}

// Halves of 2 to 1, and in them again.
void unlike(unsigned n) {
  if (n < 2) return active->charge(activity::program, 20 * us);
  parallel_invoke(work_hint{2, 1}, [n] { unlike(n - 1); }, [n] { unlike(n - 2); });
}

// A loop, cut in the middle of whole pieces.
void loop(unsigned first, unsigned last, picoseconds (*piece)(unsigned)) {
  if (last - first == 1) return active->charge(activity::program, piece(first));
  const unsigned middle = first + (last - first) / 2;
  parallel_invoke(
      work_hint{static_cast<double>(middle - first), static_cast<double>(last - middle)},
      [=] { loop(first, middle, piece); }, [=] { loop(middle, last, piece); });
}

// [adaptive:5] without [adaptive:7], which comes after a fourth of the patience.
const std::string patient = "ml-adaptive:patience=1000000";

TEST(ml_adaptive, helps_near_workers_where_halves_are_unlike_again_and_again) {
  const auto program = [] { unlike(16); };
  EXPECT_LT(time_of(patient, program), time_of(patient + ",near=0", program));
}

// Fewer pieces than workers, so that three of them have more than three workers;
// several times, since what counts as uneven does until the program's end.
TEST(ml_adaptive, leaves_loops_alone_whatever_their_pieces_are) {
  for (const unsigned pieces : {3u, 5u, 11u, 44u, 100u, 1000u}) {
    const auto program = [pieces] {
      for (int i = 0; i < 4; ++i) loop(0, pieces, [](unsigned k) { return (5 + k * 37 % 11) * us; });
    };
    EXPECT_EQ(time_of(patient, program), time_of(patient + ",near=0", program)) << pieces << " pieces";
  }
}

// [adaptive:7]: halves that are 2 to 1 by their hints but not in fact, three sizes together. Loops do not show the
// rule any more: what waits for a busy worker wakes somebody else by now [adaptive:14], and this rule on top of that
// costs a loop with uneven pieces 2 to 4 % of its time.
TEST(ml_adaptive, helps_within_a_package_before_the_patience_is_over) {
  const auto program = [] {
    for (const unsigned n : {12u, 13u, 14u}) unlike(n);
  };
  EXPECT_LT(time_of("ml-adaptive", program), time_of("ml-adaptive:near=0", program));
}

}  // namespace
}  // namespace ml_adaptive_test
}  // namespace heddle::sim
