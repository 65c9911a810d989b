// The effect of preemption on threads: barriers that spin, data in caches, more threads than processors.
#include "cli/paper/preempt.hpp"

#include <fmt/format.h>

namespace heddle::cli::paper::preemption {

experiment figure_3_8() {
  const auto meet = [](const std::string& name, const std::string& how, unsigned us) {
    const std::string interval = fmt::format(" --interval-us {}", us);
    return model(name, "barrier --workers 56 --threads 10 " + how + interval, "barrier",
                 {.arguments = fmt::format("--barriers 3 --turn-us {}", us / 200.0)},
                 {.arguments = fmt::format("--barriers 30 --turn-us {}", us / 500.0)},
                 "barrier --threads 10 --barriers 20 " + how + interval);
  };
  const std::string yield = "--technique signal_yield", klt = "--technique klt_switching";
  const size blocks{.arguments = {},
                    .shrink = 1,
                    .left_out =
                        "pthread_barrier_wait would block the one kernel thread of the simulator; on real ones "
                        "tests/worker/preempt_foreign_test.cpp runs it"};
  return {.id = "preempt-3.8",
          .figure = "figure 3.8",
          .title = "time of a barrier over the other threads of a worker, ten threads a worker",
          .machine = skylake,
          .workers = all,
          .programs = {meet("signal-yield, 10 ms", yield, 10000),
                       meet("KLT-switching, 10 ms", klt, 10000),
                       meet("signal-yield, 1 ms", yield, 1000),
                       meet("KLT-switching, 1 ms", klt, 1000),
                       meet("signal-yield, 100 us", yield, 100),
                       meet("KLT-switching, 100 us", klt, 100),
                       meet("1:1", "--technique threads", 10000),
                       {.name = "pthread", .command = {}, .quick = blocks, .full = blocks, .real = {}}},
          .measures = {{.name = "signal-yield, 10 ms: over the interval",
                        .of = 100 * figure_of("signal-yield, 10 ms"),
                        .says = claim::about,
                        .words = "close to the ideal",
                        .number = 1,
                        .band = 1.1},
                       {.name = "KLT-switching, 10 ms: over the interval",
                        .of = 100 * figure_of("KLT-switching, 10 ms"),
                        .says = claim::about,
                        .words = "close to the ideal",
                        .number = 1,
                        .band = 1.1},
                       {.name = "signal-yield, 1 ms: over the interval",
                        .of = 1000 * figure_of("signal-yield, 1 ms"),
                        .says = claim::about,
                        .words = "close to the ideal",
                        .number = 1,
                        .band = 1.1},
                       {.name = "KLT-switching, 1 ms: over the interval",
                        .of = 1000 * figure_of("KLT-switching, 1 ms"),
                        .says = claim::about,
                        .words = "close to the ideal",
                        .number = 1,
                        .band = 1.1},
                       {.name = "signal-yield, 100 us: over the interval",
                        .of = 10000 * figure_of("signal-yield, 100 us"),
                        .says = claim::above,
                        .words = "visibly larger",
                        .pivot = 1.1},
                       {.name = "KLT-switching, 100 us: over signal-yield",
                        .of = figure_of("KLT-switching, 100 us") / figure_of("signal-yield, 100 us"),
                        .says = claim::above,
                        .words = "larger"},
                       {.name = "1:1 over signal-yield at 10 ms",
                        .of = figure_of("1:1") / figure_of("signal-yield, 10 ms"),
                        .says = claim::about,
                        .words = "close to that of M:N threads",
                        .number = 1,
                        .band = 1.25},
                       {.name = "pthread barrier",
                        .of = figure_of("pthread"),
                        .says = claim::above,
                        .words = "contention is exacerbated"}},
          .remark = std::string(given) +
                    " The thesis has 1,000 barriers. Ideal: an interval. A look of a waiting loop takes a 200th of it "
                    "in the simulator."};
}

experiment figure_3_9() {
  const auto go = [](const std::string& name, unsigned threads, unsigned us) {
    return model(
        name,
        fmt::format("run --workers 56 --technique klt_switching --array-kb 1024 --threads {} --interval-us {}", threads,
                    us),
        "ratio", {.arguments = "--passes 150"}, {.arguments = "--passes 600"},
        fmt::format("run --technique klt_switching --array-kb 1024 --passes 2000 --threads {} --interval-us {}",
                    threads, us));
  };
  return {.id = "preempt-3.9",
          .figure = "figure 3.9",
          .title = "preemption of threads that read 1 MB each again and again: times slower than without",
          .machine = skylake,
          .workers = all,
          .programs = {go("56 MB, 1 ms", 1, 1000), go("224 MB, 1 ms", 4, 1000), go("224 MB, 10 ms", 4, 10000)},
          .measures = {{.name = "56 MB, 1 ms",
                        .of = figure_of("56 MB, 1 ms"),
                        .says = claim::at_most,
                        .words = "at most 2 %",
                        .number = 1.02,
                        .band = 1},
                       {.name = "224 MB over 56 MB, 1 ms",
                        .of = figure_of("224 MB, 1 ms") / figure_of("56 MB, 1 ms"),
                        .says = claim::above,
                        .words = "increases"},
                       {.name = "224 MB: 1 ms over 10 ms",
                        .of = figure_of("224 MB, 1 ms") / figure_of("224 MB, 10 ms"),
                        .says = claim::above,
                        .words = "frequent preemption degrades"}},
          .remark = std::string(given) + " The thesis reads 10,000 times."};
}

experiment figure_3_12() {
  const auto pack = [](const std::string& name, unsigned workers, unsigned active, const std::string& how) {
    return model(name, fmt::format("packing --workers {} --active {} {}", workers, active, how), "over_ideal",
                 {.arguments = "--ms 100"}, {.arguments = "--ms 1000"}, {});
  };
  const std::string klt = "--technique klt_switching", slow = klt + " --interval-us 10000", none = "--technique none";
  const auto close = [](const std::string& of) {
    return measure{.name = of + ": over the ideal",
                   .of = figure_of(of),
                   .says = claim::about,
                   .words = "close to the ideal",
                   .number = 1,
                   .band = 1.1};
  };
  const size linux_only{
      .arguments = {},
      .shrink = 1,
      .left_out = "what that shows is how Linux balances kernel threads between processors, which is not modelled"};
  return {.id = "preempt-3.12",
          .figure = "figure 3.12",
          .title = "thread packing: as many equal threads as workers on n of them",
          .machine = skylake,
          .workers = 28,
          .programs = {pack("28 on 27", 28, 27, klt),
                       pack("28 on 20", 28, 20, klt),
                       pack("28 on 14", 28, 14, klt),
                       pack("28 on 10", 28, 10, klt),
                       pack("28 on 27, 10 ms", 28, 27, slow),
                       pack("28 on 27, nonpreemptive", 28, 27, none),
                       pack("28 on 20, nonpreemptive", 28, 20, none),
                       pack("28 on 14, nonpreemptive", 28, 14, none),
                       pack("56 on 55", 56, 55, klt),
                       pack("56 on 40", 56, 40, klt),
                       pack("56 on 28", 56, 28, klt),
                       {.name = "1:1", .command = {}, .quick = linux_only, .full = linux_only, .real = {}}},
          .measures = {close("28 on 27"),
                       close("28 on 20"),
                       close("28 on 14"),
                       close("28 on 10"),
                       {.name = "28 on 27: 10 ms over 1 ms",
                        .of = figure_of("28 on 27, 10 ms") / figure_of("28 on 27"),
                        .says = claim::above,
                        .words = "1 ms performs better"},
                       {.name = "28 on 27, nonpreemptive: over the ideal",
                        .of = figure_of("28 on 27, nonpreemptive"),
                        .says = claim::above,
                        .words = "poor",
                        .pivot = 1.5},
                       {.name = "28 on 20, nonpreemptive: over the ideal",
                        .of = figure_of("28 on 20, nonpreemptive"),
                        .says = claim::above,
                        .words = "poor",
                        .pivot = 1.25},
                       {.name = "28 on 14, nonpreemptive: over the ideal",
                        .of = figure_of("28 on 14, nonpreemptive"),
                        .says = claim::about,
                        .words = "good at divisors of 28",
                        .number = 1,
                        .band = 1.05},
                       close("56 on 55"),
                       close("56 on 40"),
                       close("56 on 28"),
                       {.name = "1:1 threads by taskset",
                        .of = figure_of("1:1"),
                        .says = claim::above,
                        .words = "far from the ideal"}},
          .remark = std::string(given) +
                    " HPGMG-FV's threads are equal and meet at barriers; here they only compute. At this machine's own "
                    "size: `heddle bench packing`."};
}

}  // namespace heddle::cli::paper::preemption
