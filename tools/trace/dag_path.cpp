// [dag:5]: the critical path, read backwards.
#include "tools/trace/dag_path.hpp"

#include "tools/trace/dag_outliers.hpp"

namespace heddle::trace {

void stretches::trace_back(std::uint32_t last, bool in_real_time, function_table& functions, dag_summary& into) const {
  std::vector<std::vector<double>> lengths(functions.size());
  if (in_real_time) {
    for (const stretch& s : all_) lengths[s.function].push_back(static_cast<double>(s.end_ns - s.begin_ns));
  }
  const std::vector<double> limits = longest_usual(lengths);
  for (std::uint32_t at = last; at != no_stretch; at = all_[at].before) {
    const stretch& s = all_[at];
    const auto length = static_cast<double>(s.end_ns - s.begin_ns);
    function_profile& of = functions[s.function];
    of.on_path_ns += length;
    if (length > limits[s.function]) {
      ++into.outliers;
      into.outlier_ns += length;
    }
    if (!into.path.empty()) {
      path_segment& later = into.path.back();
      if (later.worker == s.worker && later.begin_ns == s.end_ns && later.name == of.name) {
        later.begin_ns = s.begin_ns;
        continue;
      }
    }
    into.path.push_back({s.worker, s.begin_ns, s.end_ns, of.name});
  }
  std::reverse(into.path.begin(), into.path.end());
}

}  // namespace heddle::trace
