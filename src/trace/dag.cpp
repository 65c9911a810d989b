// The figures of a recording's graph: its grain, the cost of its forks, and the speedup that can be expected.
#include "trace/dag.hpp"

#include <algorithm>

#include "trace/dag_builder.hpp"
#include "trace/replay.hpp"

namespace heddle::trace {

namespace {

constexpr double span_coefficient = 1.7;  // Cilkview, section 5

}  // namespace

dag_summary analyse(const recording& what, const dag_options& options) {
  dag_summary dag;
  dag_builder b(what, options, dag);
  replay(what, b);
  b.finish();
  const std::uint64_t cuts = dag.forks + dag.spawns;
  dag.grain_ns = dag.work_ns / static_cast<double>(cuts + 1);
  dag.scheduling_ns =
      static_cast<double>(dag.forks) * options.fork_ns + static_cast<double>(dag.spawns) * options.spawn_ns;
  for (const unsigned p : options.workers) {
    speedup_estimate e;
    e.workers = p;
    e.most = std::min<double>(p, dag.parallelism());
    const double time = dag.work_ns / p + span_coefficient * dag.burdened_span_ns * (1 - 1.0 / p);
    e.least = time > 0 ? std::min(e.most, dag.work_ns / time) : 0;
    dag.speedups.push_back(e);
  }
  dag.warnings = dag_warnings(dag);
  return dag;
}

}  // namespace heddle::trace
