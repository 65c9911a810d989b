#include "trace/outside.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "trace/events.hpp"

namespace heddle::trace {

void add_outside(recording& into, const recording& other) {
  const auto first = static_cast<std::uint32_t>(into.texts.size());
  into.texts.insert(into.texts.end(), other.texts.begin(), other.texts.end());
  into.end_ns = std::max(into.end_ns, other.end_ns);
  for (const worker_log& log : other.workers) {
    if (log.worker != foreign_worker) continue;
    auto to = std::find_if(into.workers.begin(), into.workers.end(),
                           [](const worker_log& w) { return w.worker == foreign_worker; });
    if (to == into.workers.end()) {
      to = into.workers.emplace(to);
      to->worker = foreign_worker;
    }
    to->written += log.written;
    to->lost += log.lost;
    const auto old = static_cast<std::ptrdiff_t>(to->records.size());
    for (record r : log.records) {
      if (r.event == event::outside_begin) r.arg += first;
      to->records.push_back(r);
    }
    std::inplace_merge(to->records.begin(), to->records.begin() + old, to->records.end(),
                       [](const record& a, const record& b) { return a.ns < b.ns; });
  }
}

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
