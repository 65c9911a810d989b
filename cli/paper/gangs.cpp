// S. Bak et al.: Task-graph scheduling extensions for efficient synchronization and communication. Of its figures the
// second one, whose graph is drawn and described, and the graph of figures 5 and 6, whose times they have from SLATE on
// a cluster.
#include <fmt/format.h>

#include "cli/paper/experiment.hpp"

namespace heddle::cli::paper {
namespace {

constexpr const char* random_victim = "random_ws";
constexpr const char* history = "random_ws:victim=history";
constexpr const char* hybrid = "random_ws:victim=hybrid";

experiment figure_2(unsigned workers) {
  const std::string graph = "graph";
  const auto over = [&](const char* a, const char* b) { return time(graph, a) / time(graph, b); };
  return {.id = fmt::format("gangs-2-{}", workers),
          .figure = "figure 2",
          .title = fmt::format("victims of thieves in a graph of computation and messages, {} workers", workers),
          .machine = "skylake-2x20",
          .workers = workers,
          .programs = {{.name = graph,
                        .command = fmt::format("preempt-model messages --workers {} --outer {} --operation-us 20000 "
                                               "--region-us 100 --gap-us 1000 --serial-us 20",
                                               workers, workers / 2),
                        .quick = {.arguments = "--steps 20"},
                        .full = {.arguments = "--steps 20 --repeat 9"},
                        .real = {},
                        .metric = "over_panel",
                        .real_metric = {}}},
          .measures = {{.name = "history over hybrid",
                        .of = over(history, hybrid),
                        .says = claim::above,
                        .words = "history serialises messages and computation, the hybrid overlaps them"},
                       {.name = "history over random",
                        .of = over(history, random_victim),
                        .says = claim::above,
                        .words = "history serialises"},
                       {.name = "hybrid over random",
                        .of = over(hybrid, random_victim),
                        .says = claim::about,
                        .words = "both overlap",
                        .number = 1}},
          .remark =
              "Half as many tasks as workers begin a chain of 20 messages of 1 ms, and compute 20 ms; beside them one "
              "thread makes tasks of 0.1 ms for the other workers. The sizes are ours: the text gives none."};
}

// Panels by threads of their own beside updates of the columns behind them.
experiment figure_7() {
  const auto run = [](const char* name, unsigned inner, const char* way) {
    return program{.name = fmt::format("{}, {} threads", name, inner),
                   .command = fmt::format("preempt-model panels --workers 40 --outer 40 --inner {} --tiles 48 --phases "
                                          "60 --operation-us 5000 --region-us 20000 --turn-us 10 {}",
                                          inner, way),
                   .quick = {.arguments = {}},
                   .full = {.arguments = "--repeat 3"},
                   .real = {},
                   .metric = "time",
                   .real_metric = {}};
  };
  constexpr const char* kernel_threads = "--technique threads";
  constexpr const char* stealing = "--technique signal_yield";
  constexpr const char* gangs = "--technique signal_yield --gangs 1";
  constexpr const char* alone = "--technique none --gangs 1";
  const auto taken = [](const char* name, unsigned inner) {
    return time(fmt::format("{}, {} threads", name, inner), random_victim);
  };
  return {.id = "gangs-7",
          .figure = "figures 5 to 7",
          .title = "panels of a factorisation that spin, 40 workers",
          .machine = "skylake-2x20",
          .workers = 40,
          .programs = {run("kernel threads", 20, kernel_threads), run("preemptive", 20, stealing),
                       run("preemptive gangs", 20, gangs), run("gangs", 20, alone),
                       run("kernel threads", 10, kernel_threads), run("preemptive", 10, stealing),
                       run("preemptive gangs", 10, gangs), run("gangs", 10, alone)},
          .measures = {{.name = "LLVM OMP over gangs, 20 threads in a panel",
                        .of = taken("kernel threads", 20) / taken("gangs", 20),
                        .says = claim::above,
                        .words = "significant speed-up to both LU and QR, up to 13.82 % and 15.2 %"},
                       {.name = "LLVM OMP over gangs, 10 threads in a panel",
                        .of = taken("kernel threads", 10) / taken("gangs", 10),
                        .says = claim::above,
                        .words = "the same"},
                       {.name = "LLVM OMP over gangs of preemptive threads, 20 threads in a panel",
                        .of = taken("kernel threads", 20) / taken("preemptive gangs", 20),
                        .says = claim::above,
                        .words = "the same; theirs are not preempted"},
                       {.name = "preemptive threads over gangs of such, 20 threads in a panel",
                        .of = taken("preemptive", 20) / taken("preemptive gangs", 20),
                        .says = claim::above,
                        .words = "not in the paper: oversubscription delays synchronisation"}},
          .remark =
              "LU and QR differ in sizes alone here. Sizes are ours: a panel takes 20 ms of one thread, in 60 "
              "steps, the update of a column 5 ms; both become less towards the end. Kernel threads: one for "
              "each thread of the outer region and each further one of a panel, on 40 processors."};
}

std::vector<experiment> gangs() { return {figure_2(20), figure_2(40), figure_7()}; }

const registration entry{paper{"gangs",
                               "S. Bak, O. Hernandez, M. Gates, P. Luszczek, V. Sarkar: Task-graph scheduling "
                               "extensions for efficient synchronization and communication, 2021",
                               gangs}};

}  // namespace
}  // namespace heddle::cli::paper
