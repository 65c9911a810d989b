// Parallel routines of a library that spins, inside parallel programs.
#include "cli/paper/preempt.hpp"

#include <fmt/format.h>

namespace heddle::cli::paper::preemption {

namespace {

// How the threads of a region are made, in the simulator and here. The thesis uses BOLT with MKL, changed by hand so
// that it yields. The simulated threads sleep while they wait, which is the best that yielding can achieve. Here MKL is
// unchanged. These routines of it complete without preemption, unlike getrf; a run that does not complete is killed.
struct way {
  const char* name;
  const char* simulated;
  const char* real;
};
constexpr way cooperative{"nonpreemptive", "--technique none --waits park", "--openmp heddle --preempt off --limit 60"};
constexpr way each_ms{"preemptive, 1 ms", "--technique klt_switching --interval-us 1000",
                      "--openmp heddle --preempt 1ms"};
constexpr way each_10_ms{"preemptive, 10 ms", "--technique klt_switching --interval-us 10000",
                         "--openmp heddle --preempt 10ms"};
constexpr way kernel_threads{"IOMP", "--technique threads", "--openmp intel"};

program of(const way& w, const std::string& name, const std::string& simulated, const std::string& real) {
  return {.name = name,
          .command = "preempt-model " + simulated + " " + w.simulated,
          .quick = {.arguments = {}},
          .full = {.arguments = {}},
          .real = "blas " + real + " " + w.real,
          .metric = "time",
          .real_metric = "time"};
}

constexpr const char* needs_mkl =
    " Here: real MKL, found through HEDDLE_BLAS or by the dynamic linker, on libheddle_omp.so, and on Intel's or "
    "LLVM's runtime in its place; results checked.";

}  // namespace

experiment figure_3_10() {
  const auto product = [](const way& w, unsigned inner) {
    return of(
        w, fmt::format("{}, {} inner", w.name, inner),
        fmt::format("gemm --workers 56 --outer 32 --inner {} --phases 40 --operation-us 2500000 --turn-us 100", inner),
        fmt::format("gemm --outer 4 --inner {} --n 1000", inner / 4));
  };
  const auto taken = [](const way& w, unsigned inner) { return figure_of(fmt::format("{}, {} inner", w.name, inner)); };
  return {.id = "preempt-3.10",
          .figure = "figure 3.10",
          .title = "parallel DGEMM in 32 parallel threads",
          .machine = skylake,
          .workers = all,
          .programs = {product(cooperative, 8), product(cooperative, 16), product(each_ms, 4), product(each_ms, 8),
                       product(each_ms, 16), product(each_10_ms, 4), product(each_10_ms, 16),
                       product(kernel_threads, 4), product(kernel_threads, 8), product(kernel_threads, 16)},
          .measures = {{.name = "IOMP: performance over nonpreemptive, 8 inner threads",
                        .of = taken(cooperative, 8) / taken(kernel_threads, 8),
                        .says = claim::below,
                        .words = "10-40 % of its performance",
                        .number = 0.25,
                        .band = 2.5},
                       {.name = "IOMP: performance over nonpreemptive, 16 inner threads",
                        .of = taken(cooperative, 16) / taken(kernel_threads, 16),
                        .says = claim::below,
                        .words = "10-40 % of its performance",
                        .number = 0.25,
                        .band = 2.5},
                       {.name = "IOMP over preemptive, 1 ms, 4 inner threads",
                        .of = taken(kernel_threads, 4) / taken(each_ms, 4),
                        .says = claim::above,
                        .words = "able to outperform significantly"},
                       {.name = "IOMP over preemptive, 1 ms, 8 inner threads",
                        .of = taken(kernel_threads, 8) / taken(each_ms, 8),
                        .says = claim::above,
                        .words = "able to outperform significantly"},
                       {.name = "IOMP over preemptive, 1 ms, 16 inner threads",
                        .of = taken(kernel_threads, 16) / taken(each_ms, 16),
                        .says = claim::above,
                        .words = "able to outperform significantly"},
                       {.name = "preemptive, 1 ms, over nonpreemptive, 8 inner threads",
                        .of = taken(each_ms, 8) / taken(cooperative, 8),
                        .says = claim::above,
                        .words = "loses some performance"},
                       {.name = "10 ms over 1 ms: 16 inner threads over 4",
                        .of = (taken(each_10_ms, 16) / taken(each_ms, 16)) / (taken(each_10_ms, 4) / taken(each_ms, 4)),
                        .says = claim::above,
                        .words = "more pronounced with many inner threads"}},
          .remark = std::string(given) +
                    " A product of 4,000 x 4,000 matrices is 2.5 s of one core, and its threads meet 40 times: how "
                    "often MKL's do is not in the text, nor what a change of threads costs their caches." +
                    needs_mkl + " Outer threads here: 4; inner ones a quarter of the thesis's."};
}

experiment figure_3_11() {
  const auto tiles = [](const way& w) {
    return of(w, w.name,
              "cholesky --workers 56 --outer 8 --inner 8 --tiles 16 --phases 10 --operation-us 40000 --turn-us 100",
              "cholesky --outer 4 --inner 4 --tiles 6 --n 400");
  };
  const auto flat = [](const way& w) {
    return of(w, std::string(w.name) + ", flat",
              "cholesky --workers 56 --outer 56 --inner 1 --tiles 16 --phases 1 --operation-us 40000",
              "cholesky --outer 2 --inner 1 --tiles 6 --n 400");
  };
  program intel = tiles(kernel_threads);
  intel.quick.left_out = intel.full.left_out =
      "a simulated kernel thread is a worker of heddle's, which between two operations does what heddle does, not "
      "Intel's runtime";
  return {.id = "preempt-3.11",
          .figure = "figure 3.11",
          .title = "Cholesky decomposition by tiles, 8 operations at once, each by 8 threads",
          .machine = skylake,
          .workers = all,
          .programs = {tiles(cooperative), tiles(each_ms), tiles(each_10_ms), intel, flat(kernel_threads)},
          .measures = {{.name = "flat IOMP over preemptive, 1 ms",
                        .of = figure_of("IOMP, flat") / figure_of(each_ms.name),
                        .says = claim::above,
                        .words = "nested better than flat"},
                       {.name = "flat IOMP over nested IOMP",
                        .of = figure_of("IOMP, flat") / figure_of(kernel_threads.name),
                        .says = claim::above,
                        .words = "nested better than flat"},
                       {.name = "nested IOMP over preemptive, 10 ms",
                        .of = figure_of(kernel_threads.name) / figure_of(each_10_ms.name),
                        .says = claim::above,
                        .words = "27 % improvement",
                        .number = 1.27},
                       {.name = "preemptive: 1 ms over 10 ms",
                        .of = figure_of(each_ms.name) / figure_of(each_10_ms.name),
                        .says = claim::above,
                        .words = "larger intervals achieve better performance"},
                       {.name = "preemptive, 10 ms, over nonpreemptive",
                        .of = figure_of(each_10_ms.name) / figure_of(cooperative.name),
                        .says = claim::above,
                        .words = "the figure"}},
          .remark = std::string(given) +
                    " 16 x 16 tiles of 1,000 x 1,000; a product of two is 40 ms of one core, and its threads meet 10 "
                    "times." +
                    needs_mkl + " Here: 6 x 6 tiles of 400 x 400, 4 operations at once by 4 threads each."};
}

}  // namespace heddle::cli::paper::preemption
