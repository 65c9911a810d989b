// The measures that this project sets itself: the row, and the value that it must reach on the machine for which the
// figures were set.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "statistics.hpp"
#include "table.hpp"

namespace heddle::bench {

struct measure {
  std::string_view text;
  std::string_view kernel;
  std::string_view metric;
  unsigned workers;
  std::size_t n;        // the size it is meant for; rows of other sizes are not looked at
  double reach;         // the largest value, in the row's unit; 0 means that it must only work
  double of_floor = 0;  // instead: at most this many times the row of `futex`
  double of_best = 0;   // instead: at most this many times the best rival of the same run
  // instead, of a row "... from main": at most this many times its twin, whose calls come from inside
  double of_inside = 0;
};

inline constexpr auto measures = std::to_array<measure>({
    {"fork-join, fib", "fib", "ns_per_spawn", 1, 35, 4.0},
    {"fork-join, fib", "fib", "ns_per_spawn", 2, 35, 2.0},
    {"fib, from main (x inside)", "fib", "ns_per_spawn from main", 1, 35, 0, 0, 0, 1.2},
    {"fib, from main (x inside)", "fib", "ns_per_spawn from main", 2, 35, 0, 0, 0, 1.2},
    {"skynet, 10^6 leaves", "skynet", "time", 2, 1000000, 4.5},
    {"nqueens 12", "nqueens", "time", 2, 12, 50},
    {"UTS-like binomial tree", "uts", "binomial", 2, 584, 20},
    {"spawn of a child that may block", "spawn", "tree", 1, 32, 25},
    {"thread create + join, one at a time", "thread", "create_1", 1, 102400, 30},
    {"thread create + join, one at a time", "thread", "create_1", 2, 102400, 60},
    {"thread create + join, 256 at a time", "thread", "create_256", 1, 102400, 28},
    {"yield, 2 threads", "thread", "yield_2", 1, 102400, 11},
    {"yield, 1,000 threads", "thread", "yield_1000", 1, 102400, 14},
    {"loop of 2", "loop", "n=2", 2, 0, 0.15},
    {"loop of 1,000", "loop", "n=1000", 2, 0, 0.2},
    {"loop of 100,000", "loop", "n=100000", 2, 0, 3.0},
    {"loop of 10^7 (x best)", "loop", "n=10000000", 2, 0, 0, 0, 1.05},
    {"triangular loop of 300 (x best)", "loop", "triangle=300", 2, 0, 0, 0, 1},
    {"triangular loop of 3,000 (x best)", "loop", "triangle=3000", 2, 0, 0, 0, 1},
    {"loop with its work at the end (x best)", "loop", "spike", 2, 0, 0, 0, 1.05},
    {"loop with a huge last iteration (x best)", "loop", "last", 2, 0, 0, 0, 1.05},
    {"loop of 2, from main (x inside)", "loop", "n=2 from main", 2, 0, 0, 0, 0, 1.2},
    {"loop of 1,000, from main (x inside)", "loop", "n=1000 from main", 2, 0, 0, 0, 0, 1.2},
    {"loop of 100,000, from main (x inside)", "loop", "n=100000 from main", 2, 0, 0, 0, 0, 1.2},
    {"loop of 10^7, from main (x inside)", "loop", "n=10000000 from main", 2, 0, 0, 0, 0, 1.2},
    {"triangular loop of 300, from main (x inside)", "loop", "triangle=300 from main", 2, 0, 0, 0, 0, 1.2},
    {"triangular loop of 3,000, from main (x inside)", "loop", "triangle=3000 from main", 2, 0, 0, 0, 0, 1.2},
    {"loop with its work at the end, from main (x inside)", "loop", "spike from main", 2, 0, 0, 0, 0, 1.2},
    {"loop with a huge last iteration, from main (x inside)", "loop", "last from main", 2, 0, 0, 0, 0, 1.2},
    {"channel, a value", "channel", "unbounded", 2, 10000000, 30},
    {"channel of 1,024, a value", "channel", "capacity=1024", 2, 10000000, 30},
    {"rendezvous, hot", "rendezvous", "hot", 2, 20000, 0.25},
    {"rendezvous after 20 ms idle (x futex)", "rendezvous", "idle20", 2, 20000, 0, 1.3},
    {"8 idle workers, 8 leaves (x one leaf)", "wide", "tree", 8, 5, 1.1},
    {"coarse join, second half starts within", "join", "coarse", 2, 1000000, 20},
    {"coarse join, from main (x inside)", "join", "coarse from main", 2, 1000000, 0, 0, 0, 1.2},
    {"wavefront 256 x 256, per task", "wavefront", "counters", 1, 256, 30},
    {"wavefront 256 x 256, per task", "wavefront", "counters", 2, 256, 25},
    {"idle runtime, CPU use", "idle", "quiet", 2, 10, 0.1},
    {"with a 1 ms timer task", "idle", "timer", 2, 10, 2},
    {"the same, its task forks", "idle", "timer_fork", 2, 10, 0},
    {"fib(35), peak above an empty program", "memory", "fib", 2, 35, 4096},
    {"join that blocks inside 100,000 levels", "memory", "deep", 2, 35, 0},
    {"1,000,000 live blocked threads", "memory", "blocked", 2, 35, 8192},
});

// Returns the columns measure, workers, best rival of the same run, heddle (default policy), and the value to reach.
inline std::string measures_table(std::span<const row> rows) {
  const auto find = [&](const measure& m, std::string_view runtime, std::string_view metric) -> const row* {
    for (const row& r : rows) {
      if (r.runtime == runtime && r.policy.empty() && r.kernel == m.kernel && r.metric == metric &&
          r.workers == m.workers && r.n == m.n)
        return &r;
    }
    return nullptr;
  };
  std::vector<std::vector<std::string>> lines{{"measure", "workers", "best rival", "heddle", "unit", "to reach", ""}};
  for (const measure& m : measures) {
    const row* const ours = find(m, "heddle", m.metric);
    // A rival's row of a graph facility of its own counts, too, because the speed for its users matters.
    const row* best = ours != nullptr ? best_rival(*ours, rows) : nullptr;
    if (m.metric == "counters" && ours != nullptr) {
      row graph = *ours;
      graph.metric = "graph";
      const row* const other = best_rival(graph, rows);
      if (other != nullptr && (best == nullptr || other->middle() < best->middle())) best = other;
    }
    double reach = m.reach;
    if (m.of_floor != 0) {
      const row* const floor = find(m, "futex", m.metric);
      reach = floor != nullptr ? m.of_floor * floor->middle() : 0;
    }
    if (m.of_best != 0) reach = best != nullptr ? m.of_best * best->middle() : 0;
    if (m.of_inside != 0) {
      const row* const inside = find(m, "heddle", m.metric.substr(0, m.metric.rfind(" from main")));
      reach = inside != nullptr ? m.of_inside * inside->middle() : 0;
    }
    const bool is_relative = m.of_floor != 0 || m.of_best != 0 || m.of_inside != 0;
    std::string verdict;
    if (ours != nullptr) {
      const bool met = ours->checked && (reach == 0 ? !is_relative : ours->middle() <= reach);
      verdict = met ? "reached" : "missed";
    }
    lines.push_back({std::string(m.text), std::to_string(m.workers),
                     best != nullptr ? figure(best->middle()) + " " + best->runtime : "-",
                     ours != nullptr ? figure(ours->middle()) : "-", ours != nullptr ? ours->unit : "",
                     reach != 0     ? figure(reach)
                     : !is_relative ? "works"
                                    : "-",
                     verdict});
  }
  return aligned(lines, [](std::size_t column) { return column == 1 || column == 3 || column == 5; });
}

}  // namespace heddle::bench
