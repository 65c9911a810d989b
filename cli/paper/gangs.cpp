// S. Bak et al.: Task-graph scheduling extensions for efficient synchronization and communication. Only the second of
// its figures is repeated, whose graph is drawn and described; the others are times of SLATE on a cluster.
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

std::vector<experiment> gangs() { return {figure_2(20), figure_2(40)}; }

const registration gangs_entry{paper{"gangs",
                                     "S. Bak, O. Hernandez, M. Gates, P. Luszczek, V. Sarkar: Task-graph scheduling "
                                     "extensions for efficient synchronization and communication, 2021",
                                     gangs}};

}  // namespace
}  // namespace heddle::cli::paper
