#include "trace/dag_functions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::trace {

std::uint32_t function_table::number(std::string name) {
  const auto [at, fresh] = numbers_.try_emplace(std::move(name), static_cast<std::uint32_t>(profiles_.size()));
  if (fresh) {
    profiles_.emplace_back();
    profiles_.back().name = at->first;
  }
  return at->second;
}

std::uint32_t function_table::number_at(std::uint64_t address) {
  if (address == 0) return 0;
  const auto [known, fresh] = by_address_.try_emplace(address, 0);
  if (fresh) known->second = number(code_name(what_, address));
  return known->second;
}

void function_table::compare_hints(const std::vector<child_record>& children) {
  double hints = 0, work = 0;
  for (const child_record& c : children) {
    if (!(c.hint >= 0) || !std::isfinite(c.hint)) return;
    hints += c.hint;
    work += c.work;
  }
  if (children.size() < 2 || !(hints > 0) || !(work > 0)) return;
  for (const child_record& c : children) {
    const double told = c.hint / hints;
    const double seen = c.work / work;
    function_profile& f = profiles_[c.function];
    ++f.hinted;
    // A child whose share is small in both misleads no policy.
    if (std::max(told, seen) < 0.5 / static_cast<double>(children.size())) continue;
    const double factor = told > 0 && seen > 0 ? std::max(told / seen, seen / told) : 1e9;
    if (factor > 2) ++f.wrong;
    f.worst = std::max(f.worst, factor);
  }
}

std::vector<function_profile> function_table::take_by_work() {
  std::vector<function_profile> functions;
  for (function_profile& f : std::exchange(profiles_, {})) {
    if (f.count != 0 || f.own_ns > 0) functions.push_back(std::move(f));
  }
  std::sort(functions.begin(), functions.end(), [](const function_profile& a, const function_profile& b) {
    return std::max(a.work_ns, a.own_ns) > std::max(b.work_ns, b.own_ns);
  });
  return functions;
}

}  // namespace heddle::trace
