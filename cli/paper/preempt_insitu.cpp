// In situ analysis beside a simulation.
#include "cli/paper/preempt.hpp"

#include <fmt/format.h>

namespace heddle::cli::paper::preemption {

namespace {

// LAMMPS is replaced by steps of a serial part, a region with a thread on each worker, and a wait for messages that
// keeps the main thread's worker.
program beside(const std::string& name, const std::string& technique, bool priorities, unsigned every, unsigned pieces,
               const std::string& metric) {
  const std::string how = fmt::format(
      "insitu --technique {} --priorities {} --every {} --pieces {} --timer chain --serial-us 2000 --region-us 10000 "
      "--gap-us 10000 --analysis-us 15000",
      technique, priorities ? 1 : 0, every, pieces);
  return model(name, how + " --workers 56", metric, {.arguments = "--steps 10"}, {.arguments = "--steps 100"},
               how + " --steps 10");
}

constexpr const char* of_our_own =
    " A step: 2 ms of the main thread, 10 ms on all workers, 10 ms in which the main thread waits for messages as MPI "
    "does, on its worker; an analysis: 15 ms on each worker but one, more than there is idle time "
    "when every step has one, less when every second has. LAMMPS's own times are not in the text, so of the figure its "
    "directions are compared.";

}  // namespace

experiment figure_3_13() {
  const size linux_only{.arguments = {},
                        .shrink = 1,
                        .left_out =
                            "how Linux shares processors between kernel threads by nice values is not modelled; on "
                            "this machine: `heddle bench insitu`"};
  const std::string yield = "signal_yield", last_step = "slowdown", all_ended = "slowdown_all";
  return {.id = "preempt-3.13",
          .figure = "figure 3.13",
          .title = "in situ analysis: time over that of the simulation alone",
          .machine = skylake,
          .workers = all,
          .programs = {beside("a, plain", yield, false, 1, 1, all_ended),
                       beside("a, priorities", yield, true, 1, 1, all_ended),
                       beside("b, plain", yield, false, 2, 1, all_ended),
                       beside("b, priorities", yield, true, 2, 1, all_ended),
                       beside("b, priorities, last step", yield, true, 2, 1, last_step),
                       {.name = "1:1", .command = {}, .quick = linux_only, .full = linux_only, .real = {}}},
          .measures = {{.name = "a, each step: without priorities over with",
                        .of = figure_of("a, plain") / figure_of("a, priorities"),
                        .says = claim::above,
                        .words = "prioritization helps"},
                       {.name = "b, every second step: without priorities over with",
                        .of = figure_of("b, plain") / figure_of("b, priorities"),
                        .says = claim::above,
                        .words = "prioritization helps"},
                       {.name = "what priorities gain: b over a",
                        .of = (figure_of("b, plain") / figure_of("b, priorities")) /
                              (figure_of("a, plain") / figure_of("a, priorities")),
                        .says = claim::above,
                        .words = "more pronounced every two iterations"},
                       {.name = "b: the simulation's last step, priorities",
                        .of = figure_of("b, priorities, last step"),
                        .says = claim::about,
                        .words = "analysis completes while no simulation threads exist",
                        .number = 1,
                        .band = 1.05},
                       {.name = "1:1 threads with nice values over ours",
                        .of = figure_of("1:1"),
                        .says = claim::above,
                        .words = "Argobots with priorities is best"}},
          .remark = std::string(given) + of_our_own};
}

experiment figure_3_14() {
  const std::string none = "none", yield = "signal_yield", metric = "slowdown";
  return {.id = "preempt-3.14",
          .figure = "figure 3.14",
          .title =
              "in situ analysis, by the number of analysis threads, with priorities: until the last step, over the "
              "simulation alone",
          .machine = skylake,
          .workers = all,
          .programs = {beside("nonpreemptive, 55", none, true, 2, 1, metric),
                       beside("nonpreemptive, 220", none, true, 2, 4, metric),
                       beside("nonpreemptive, 880", none, true, 2, 16, metric),
                       beside("nonpreemptive, 3520", none, true, 2, 64, metric),
                       beside("preemptive, 55", yield, true, 2, 1, metric),
                       beside("preemptive, 220", yield, true, 2, 4, metric),
                       beside("preemptive, 880", yield, true, 2, 16, metric)},
          .measures = {{.name = "55 threads: nonpreemptive over preemptive",
                        .of = figure_of("nonpreemptive, 55") / figure_of("preemptive, 55"),
                        .says = claim::above,
                        .words = "at best as good"},
                       {.name = "220 threads: nonpreemptive over preemptive",
                        .of = figure_of("nonpreemptive, 220") / figure_of("preemptive, 220"),
                        .says = claim::above,
                        .words = "at best as good"},
                       {.name = "880 threads: nonpreemptive over preemptive",
                        .of = figure_of("nonpreemptive, 880") / figure_of("preemptive, 880"),
                        .says = claim::above,
                        .words = "at best as good"},
                       {.name = "nonpreemptive: 55 threads over 880",
                        .of = figure_of("nonpreemptive, 55") / figure_of("nonpreemptive, 880"),
                        .says = claim::above,
                        .words = "overdecomposition improves"},
                       {.name = "nonpreemptive, 3,520 threads, over preemptive, 55",
                        .of = figure_of("nonpreemptive, 3520") / figure_of("preemptive, 55"),
                        .says = claim::about,
                        .words = "can achieve the same performance",
                        .number = 1,
                        .band = 1.02},
                       {.name = "preemptive: 55 threads over 880",
                        .of = figure_of("preemptive, 55") / figure_of("preemptive, 880"),
                        .says = claim::about,
                        .words = "robust to thread granularity",
                        .number = 1,
                        .band = 1.05}},
          .remark = std::string(given) + of_our_own};
}

}  // namespace heddle::cli::paper::preemption
