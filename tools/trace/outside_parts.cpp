#include "tools/trace/outside_parts.hpp"

#include <fmt/format.h>

#include <map>

#include "trace/events.hpp"

namespace heddle::trace {

std::vector<outside_part> outside_parts(const recording& what) {
  std::vector<outside_part> parts;
  std::map<std::uint64_t, std::vector<std::size_t>> open;  // for each kernel thread, innermost last
  for (const worker_log& log : what.workers) {
    if (log.worker != foreign_worker) continue;
    for (const record& r : log.records) {
      std::vector<std::size_t>& mine = open[r.a];
      if (r.event == event::outside_begin) {
        const std::string name = r.arg < what.texts.size() ? what.texts[r.arg] : fmt::format("region {}", r.arg);
        parts.push_back({r.a, r.ns, what.end_ns, static_cast<unsigned>(mine.size()), name});
        mine.push_back(parts.size() - 1);
      } else if (r.event == event::outside_end && !mine.empty()) {
        parts[mine.back()].end_ns = r.ns;
        mine.pop_back();
      }
    }
  }
  return parts;
}

}  // namespace heddle::trace
