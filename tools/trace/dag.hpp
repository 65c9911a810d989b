// Work, span and parallelism of a traced program, and the effect of its scheduling costs on them. The program is a
// directed acyclic graph of strands, read from the forks, joins, spawns and wakes in its trace.
//
// Sources: He, Leiserson, Leiserson, "The Cilkview scalability analyzer" (SPAA 2010), for burdened span and the
// estimate of speedup; Blumofe, Leiserson (JACM 1999) for work and span.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/recording.hpp"

namespace heddle::trace {

struct dag_options {
  // The cost, in ns, of taking a continuation to another worker or of coming back from there (an edge's burden).
  double burden_ns = 2000;
  // The costs of a fork and of a child of a task group that no thief takes. They are lost if work is cut too fine.
  double fork_ns = 3.5;
  double spawn_ns = 26;
  // Subtracted from the busy time before each event. A value below 0 means the recording's own figures
  // (recording::attributes, "event_ns" and, for forks, "fork_ns").
  double event_ns = -1;
  // The numbers of workers for which the speedup is estimated.
  std::vector<unsigned> workers = {1, 2, 4, 8, 16, 32, 64, 128};
};

// A stretch of the critical path on one worker.
struct path_segment {
  std::uint16_t worker = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::string name;  // the innermost region, task or thread
};

// The tasks of one function, or a region.
struct function_profile {
  std::string name;
  bool region = false;  // true if the program named it by trace::region
  std::uint64_t count = 0;
  double work_ns = 0;     // of the tasks and all that they forked
  double own_ns = 0;      // without the work that they forked
  double on_path_ns = 0;  // the part of its own time that lies on the critical path
  // Children of task groups whose hint could be compared with their work.
  std::uint64_t hinted = 0;
  std::uint64_t wrong = 0;  // the number of these that were wrong by more than a factor of 2
  double worst = 1;         // the worst factor
};

struct speedup_estimate {
  unsigned workers = 0;
  double least = 0;  // T1 / (T1/P + 1.7 burdened span (1 - 1/P))
  double most = 0;   // min(P, parallelism)
};

struct dag_summary {
  double work_ns = 0;  // T1, without the cost of tracing
  double span_ns = 0;  // T_inf
  double burdened_span_ns = 0;
  std::uint64_t forks = 0;   // forks and loop pieces
  std::uint64_t spawns = 0;  // children of task groups
  std::uint64_t threads = 0;
  std::uint64_t steals = 0;
  // Events that the rings did not keep; if there are any, the figures describe only the end of the run.
  std::uint64_t lost = 0;
  // True if every fork and join is in the recording. Otherwise forks that no thief took count as serial code.
  bool forks_traced = false;
  double grain_ns = 0;       // the mean work between two forks or spawns
  double scheduling_ns = 0;  // the cost of forks and spawns that no thief takes
  // For runs in real time: the number of stretches of the path that took far longer than is usual for their function,
  // and their time. Most likely the system did something else meanwhile.
  std::uint64_t outliers = 0;
  double outlier_ns = 0;
  std::vector<speedup_estimate> speedups;
  std::vector<path_segment> path;           // by time
  std::vector<function_profile> functions;  // by work
  std::vector<std::string> warnings;

  [[nodiscard]] double parallelism() const { return span_ns > 0 ? work_ns / span_ns : 0; }
  [[nodiscard]] double burdened_parallelism() const { return burdened_span_ns > 0 ? work_ns / burdened_span_ns : 0; }
};

// `runs` holds at least one run of the same serial program (one worker). Turns the first one into a run in which each
// stretch between two events takes the median of its times in all runs. (The shortest time would be less than the cost
// of tracing, which is subtracted later.) Events of an idle worker are left out. Returns false and changes nothing if
// the programs' events differ, or if there are more workers.
[[nodiscard]] bool take_typical(std::vector<recording>& runs);

[[nodiscard]] dag_summary analyse(const recording& what, const dag_options& options = {});

// Returns the name of a code address in a recording by plain_name, or the address itself if its function is not known.
[[nodiscard]] std::string code_name(const recording& what, std::uint64_t address);

// Returns one line for each thing that the user should change; analyse calls it.
[[nodiscard]] std::vector<std::string> dag_warnings(const dag_summary& dag);

[[nodiscard]] std::string dag_text(const recording& what, const dag_summary& dag);
[[nodiscard]] std::string dag_json(const recording& what, const dag_summary& dag);

}  // namespace heddle::trace
