// OpenMP: libgomp through gcc, libomp through clang. Tied tasks inside one region; loops with the
// static schedule.
#pragma once

#include <omp.h>

#include <array>

#include "backend/common.hpp"

namespace heddle::bench {

struct omp_backend : backend_defaults {
  static constexpr bool tasks = true, loops = true;

  // Two workers of either runtime spend 150-180 ns a task: sizes that keep a sample well under a
  // second.
  static std::size_t size(std::string_view kernel, std::size_t otherwise) {
    return kernel == "fib" || kernel == "spawn" || kernel == "memory" ? 28 : otherwise;
  }
  static std::size_t most(std::string_view kernel) {
    return kernel == "fib" || kernel == "spawn" || kernel == "memory" ? 30 : 0;
  }

  explicit omp_backend(const settings& s) {
    omp_set_dynamic(0);
    omp_set_num_threads(static_cast<int>(s.workers));
  }

  template <class F>
  void run(F&& f) {
#pragma omp parallel
#pragma omp single
    f();
  }
  template <class F>
  void run_loops(F&& f) {
    f();
  }

  template <class F, class G>
  static void invoke(F&& f, G&& g) {
#pragma omp task default(shared)
    f();
    g();
#pragma omp taskwait
  }
  template <class F>
  static std::uint64_t sum(int n, F&& f) {
    if (n == 0) return 0;
    results r(n);
    for (int i = 0; i + 1 < n; ++i) {
#pragma omp task default(shared) firstprivate(i)
      r[i] = f(i);
    }
    r[n - 1] = f(n - 1);
#pragma omp taskwait
    return r.total(n);
  }
  template <class F>
  static void loop(std::size_t n, F&& f) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i) f(i);
  }
  static constexpr std::array<std::string_view, 3> schedules{"static", "dynamic,64", "guided"};
  template <class F>
  static void loop_by(std::size_t schedule, std::size_t n, F&& f) {
    if (schedule == 0) return loop(n, f);
    if (schedule == 1) {
#pragma omp parallel for schedule(dynamic, 64)
      for (std::size_t i = 0; i < n; ++i) f(i);
    } else {
#pragma omp parallel for schedule(guided)
      for (std::size_t i = 0; i < n; ++i) f(i);
    }
  }
  template <class F>
  static void each(std::size_t n, F&& f) {
#pragma omp parallel for schedule(dynamic, 1)
    for (std::size_t i = 0; i < n; ++i) f(i);
  }
  static void allow_nested_regions() { omp_set_max_active_levels(2); }
  template <class F>
  static void pair(F&& f) {
#pragma omp parallel num_threads(2)
    f(omp_get_thread_num());
  }

  struct group {
    template <class F>
    void run(F&& f) {
      auto child = std::forward<F>(f);
#pragma omp task firstprivate(child)
      child();
    }
    void wait() {
#pragma omp taskwait
    }
  };
  struct scope_type {
    template <class F>
    void spawn(F&& f) {
      auto child = std::forward<F>(f);
#pragma omp task firstprivate(child)
      child();
    }
  };
  template <class F>
  static void scope(F&& f) {
#pragma omp taskgroup
    {
      scope_type s;
      f(s);
    }
  }

  // A graph of `task depend` has no reuse: each run builds it again.
  template <class Graph>
  class wave {
   public:
    explicit wave(Graph& graph) : graph_(&graph) {}
    void run() {
      char border = 0;  // stands for the neighbours that the first row and column lack
      const std::size_t side = graph_->side();
#pragma omp taskgroup
      for (std::size_t i = 0; i < side; ++i) {
        for (std::size_t j = 0; j < side; ++j) {
          auto* const x = &graph_->at(i, j);
          char* const self = reinterpret_cast<char*>(x);
          char* const up = i > 0 ? reinterpret_cast<char*>(&graph_->at(i - 1, j)) : &border;
          char* const left = j > 0 ? reinterpret_cast<char*>(&graph_->at(i, j - 1)) : &border;
#pragma omp task depend(in : up[0], left[0]) depend(out : self[0]) firstprivate(x)
          x->visit();
        }
      }
    }

   private:
    Graph* graph_;
  };
};

}  // namespace heddle::bench
