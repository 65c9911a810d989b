// The trainer's interface to a runtime, and the serial implementation of it. The trainer is a template over this
// concept, so that every runtime runs the same algorithm, compiled in the same way; see trainer.hpp.
#pragma once

#include <concepts>
#include <cstddef>

namespace heddle::bench::decision_tree {

// Facts about two branches before they start: rows as work, and the bytes that both touch.
struct fork_hint {
  double first_work = 0;
  double second_work = 0;
  std::size_t bytes = 0;
};

// An executor has
//   serial          true: everything runs on the caller; the trainer then takes the one-pass forms of its loops
//   run(f)          enters the runtime; the other calls come from inside
//   invoke(f, g, hint)                   both, in any order or at the same time; returns when both are done
//   parallel_for(first, last, grain, f)  f(lo, hi) for ranges that together are [first, last), each of about `grain` or
//   more
// Exceptions need not pass: the trainer throws none inside run.
template <class Executor>
concept executor = requires(Executor e, void (*f)(), void (*body)(std::size_t, std::size_t), fork_hint hint) {
  { Executor::serial } -> std::convertible_to<bool>;
  { e.workers() } -> std::convertible_to<unsigned>;
  e.run(f);
  e.invoke(f, f, hint);
  e.parallel_for(std::size_t{}, std::size_t{}, std::size_t{}, body);
};

struct serial_executor {
  static constexpr bool serial = true;

  [[nodiscard]] unsigned workers() const { return 1; }

  template <class F>
  void run(F&& f) {
    f();
  }

  template <class F, class G>
  void invoke(F&& f, G&& g, fork_hint) {
    f();
    g();
  }

  template <class Body>
  void parallel_for(std::size_t first, std::size_t last, std::size_t, Body&& body) {
    body(first, last);
  }
};

static_assert(executor<serial_executor>);

}  // namespace heddle::bench::decision_tree
