// The project's main program as a kernel: training of one decision tree on --n generated rows; see
// bench/decision_tree/. Milliseconds for binning and building; the checksum is the tree's. Each
// runtime has the executor written for it there.
#pragma once

#include "decision_tree/generator.hpp"
#include "decision_tree/trainer.hpp"
#include "harness/kernel.hpp"
#if defined(HEDDLE_BENCH_BACKEND_heddle)
#include "decision_tree/heddle_executor.hpp"
#elif defined(HEDDLE_BENCH_BACKEND_omp)
#include "decision_tree/openmp_executor.hpp"
#elif defined(HEDDLE_BENCH_BACKEND_tbb)
#include "decision_tree/tbb_executor.hpp"
#endif

namespace heddle::bench {

struct decision_tree_kernel {
  static constexpr std::size_t default_n = 200'000;
#if defined(HEDDLE_BENCH_BACKEND_heddle)
  template <class Backend>
  static constexpr bool supports = true;
  static auto executor(const settings& s) { return decision_tree::heddle_executor(s.workers, s.policy); }
#elif defined(HEDDLE_BENCH_BACKEND_omp)
  template <class Backend>
  static constexpr bool supports = true;
  static auto executor(const settings& s) { return decision_tree::openmp_executor(s.workers); }
#elif defined(HEDDLE_BENCH_BACKEND_tbb)
  template <class Backend>
  static constexpr bool supports = true;
  static auto executor(const settings& s) { return decision_tree::tbb_executor(s.workers); }
#else
  template <class Backend>
  static constexpr bool supports = Backend::is_serial;
  static auto executor(const settings&) { return decision_tree::serial_executor(); }
#endif

  template <class Backend>
  static void execute(context& c) {
    decision_tree::dataset data;
    data.resize(c.n(), decision_tree::generated_features);
    decision_tree::generate_rows(1, 0, c.n(), data);
    auto run = executor(c.options());
    decision_tree::trainer trainer(run, data, {});
    decision_tree::training_result result;
    c.measure("time", "ms", 1e3, [] {}, [&] { result = trainer.train(); }, [&] { return result.trained.hash(); });
  }
};

}  // namespace heddle::bench
