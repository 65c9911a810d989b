// The figures of a recording's graph: its grain, the cost of its forks, and the speedup that can be expected.
#include "tools/trace/dag.hpp"

#include <algorithm>

#include "tools/trace/dag_builder.hpp"
#include "trace/replay.hpp"

namespace heddle::trace {

namespace {

constexpr double span_coefficient = 1.7;  // Cilkview, section 5

}  // namespace

void dag_builder::estimate() {
  const std::uint64_t cuts = into_.forks + into_.spawns;
  into_.grain_ns = into_.work_ns / static_cast<double>(cuts + 1);
  into_.scheduling_ns =
      static_cast<double>(into_.forks) * options_.fork_ns + static_cast<double>(into_.spawns) * options_.spawn_ns;
  for (const unsigned p : options_.workers) {
    speedup_estimate e;
    e.workers = p;
    e.most = std::min<double>(p, into_.parallelism());
    const double time = into_.work_ns / p + span_coefficient * into_.burdened_span_ns * (1 - 1.0 / p);
    e.least = time > 0 ? std::min(e.most, into_.work_ns / time) : 0;
    into_.speedups.push_back(e);
  }
  into_.warnings = dag_warnings(into_);
}

dag_summary analyse(const recording& what, const dag_options& options) {
  dag_summary dag;
  dag_builder b(what, options, dag);
  replay(what, b);
  b.finish();
  return dag;
}

}  // namespace heddle::trace
