// The trainer on OpenMP tasks: compiled by gcc it runs on libgomp, compiled by clang on libomp.
#pragma once

#include "executor.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <omp.h>

namespace heddle::bench::decision_tree {

class openmp_executor {
 public:
  static constexpr bool serial = false;

  // 0 workers: as many as OMP_NUM_THREADS or the library says.
  explicit openmp_executor(unsigned workers)
      : workers_(workers != 0 ? workers : static_cast<unsigned>(omp_get_max_threads())) {}

  [[nodiscard]] unsigned workers() const { return workers_; }

  template <class F>
  void run(F&& f) {
#pragma omp parallel num_threads(static_cast<int>(workers_))
#pragma omp single
    f();
  }

  template <class F, class G>
  void invoke(F&& f, G&& g, fork_hint) {
#pragma omp task shared(f)
    f();
    g();
#pragma omp taskwait
  }

  template <class Body>
  void parallel_for(std::size_t first, std::size_t last, std::size_t grain, Body&& body) {
    std::size_t const pieces = (last - first + grain - 1) / grain;
#pragma omp taskloop grainsize(1) shared(body)
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      body(first + piece * grain, std::min(last, first + (piece + 1) * grain));
    }
  }

 private:
  unsigned workers_;
};

static_assert(executor<openmp_executor>);

}  // namespace heddle::bench::decision_tree
