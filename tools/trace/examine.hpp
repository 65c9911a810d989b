// All that is told of a trace, from one pass over it.
#pragma once

#include <vector>

#include "tools/trace/dag.hpp"
#include "tools/trace/diagnosis.hpp"
#include "tools/trace/summary.hpp"
#include "trace/replay.hpp"

namespace heddle::trace {

struct examination {
  summary sums;
  dag_summary dag;  // with the costs that dag_options holds from the start
  std::vector<finding> findings;
};

// `also` sees the same pass, if it is not null.
[[nodiscard]] examination examine(const recording& what, const line_finder& line_of = {},
                                  replay_visitor* also = nullptr);

}  // namespace heddle::trace
