// The trainer on oneTBB.
#pragma once

#include "executor.hpp"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>

#include <cstddef>
#include <utility>

namespace heddle::bench::decision_tree {

class tbb_executor {
 public:
  static constexpr bool serial = false;

  // 0 workers: as many as the library would take. The limit is lifted too, so that more workers than processors are
  // possible, as they are with the other runtimes.
  explicit tbb_executor(unsigned workers)
      : workers_(workers != 0 ? workers : static_cast<unsigned>(tbb::info::default_concurrency())),
        limit_(tbb::global_control::max_allowed_parallelism, workers_),
        arena_(static_cast<int>(workers_)) {}

  [[nodiscard]] unsigned workers() const { return workers_; }

  template <class F>
  void run(F&& f) {
    arena_.execute(std::forward<F>(f));
  }

  template <class F, class G>
  void invoke(F&& f, G&& g, fork_hint) {
    tbb::parallel_invoke(f, g);
  }

  template <class Body>
  void parallel_for(std::size_t first, std::size_t last, std::size_t grain, Body&& body) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(first, last, grain),
                      [&](tbb::blocked_range<std::size_t> const& range) { body(range.begin(), range.end()); });
  }

 private:
  unsigned workers_;
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

static_assert(executor<tbb_executor>);

}  // namespace heddle::bench::decision_tree
