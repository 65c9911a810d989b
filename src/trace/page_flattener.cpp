#include "trace/page_flattener.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "trace/dag.hpp"
#include "trace/json.hpp"
#include "trace/stream.hpp"

namespace heddle::trace {

page_flattener::page_flattener(const recording& what) : what_(what) {
  name("run loop");
  for (const worker_log& log : what.workers) {
    if (log.worker == foreign_worker) continue;
    lanes_[log.worker];
    if (!log.records.empty()) zero_ = std::min(zero_.value_or(log.records.front().ns), log.records.front().ns);
  }
}

// --- gathering

void page_flattener::event(const record& r) {
  if (r.worker == foreign_worker) return;
  lane& on = lanes_[r.worker];
  switch (r.event) {
    case event::thread_create: thread_names_[r.a] = name_at(r.b); break;
    case event::steal_attempt:
      on.attempt = r.ns;
      ++thefts_[{r.worker, static_cast<std::uint16_t>(r.arg)}].tried;
      break;
    case event::steal_success: {
      theft_count& count = thefts_[{r.worker, static_cast<std::uint16_t>(r.arg)}];
      ++count.got;
      count.level = r.a;
      steals_.push_back({r.ns, r.ns - on.attempt.value_or(r.ns), r.worker, static_cast<std::uint16_t>(r.arg)});
      on.attempt.reset();
      break;
    }
    case event::piece:
    case event::tree_piece: {
      end_piece(on, r.ns);
      piece_set& set = pieces_[{r.arg, r.event == event::tree_piece}];
      set.tree = r.event == event::tree_piece;
      on.open_piece = {&set, set.told.size()};
      set.told.push_back({r.ns, r.ns, r.a, r.b, r.worker, set.repeats[{r.a, r.b}]++});
      break;
    }
    case event::task_end:
    case event::join:
    case event::second_half:
    case event::thread_park:
    case event::thread_switch_in:
    case event::idle_begin:
    case event::loop_end: end_piece(on, r.ns); break;
    default: break;
  }
}

void page_flattener::opened(std::uint16_t worker, const open_span& s, std::uint64_t ns) {
  lane& on = lanes_[worker];
  if (!on.open.empty()) add(on, ns, info(on.open.back().kind).counts_as);
  on.last = ns;
  on.open.push_back({s.kind, name_of(s, on)});
}

void page_flattener::closed(std::uint16_t worker, const open_span&, std::uint64_t ns, activity counts_as) {
  lane& on = lanes_[worker];
  add(on, ns, counts_as);
  on.last = ns;
  on.open.pop_back();
}

void page_flattener::end_piece(lane& on, std::uint64_t ns) {
  auto& [set, at] = on.open_piece;
  if (set != nullptr) set->told[at].end = ns;
  set = nullptr;
}

void page_flattener::add(lane& on, std::uint64_t ns, activity what) {
  if (ns <= on.last || on.open.empty()) return;
  const std::uint32_t named = on.open.back().name;
  if (!on.slices.empty()) {
    slice& before = on.slices.back();
    if (before.end == on.last && before.name == named && before.what == what) {
      before.end = ns;
      return;
    }
  }
  on.slices.push_back({on.last, ns, named, what});
}

// --- names

std::uint32_t page_flattener::name(const std::string& text) {
  const auto [at, fresh] = numbers_.try_emplace(text, static_cast<std::uint32_t>(names_.size()));
  if (fresh) names_.push_back(text);
  return at->second;
}

std::uint32_t page_flattener::name_at(std::uint64_t address) {
  if (address == 0) return name("thread");
  const auto [known, fresh] = by_address_.try_emplace(address, 0);
  if (fresh) known->second = name(code_name(what_, address));
  return known->second;
}

// Loops and groups say less than the task or region around them.
std::uint32_t page_flattener::name_of(const open_span& s, const lane& on) {
  switch (s.kind) {
    case span::worker: return 0;
    case span::task: return s.by->b == 0 ? name("task") : name_at(s.by->b);
    case span::region:
      return name(s.by->arg < what_.texts.size() ? what_.texts[s.by->arg] : fmt::format("region {}", s.by->arg));
    case span::thread: {
      const auto known = thread_names_.find(s.by->a);
      return known == thread_names_.end() ? name("thread") : known->second;
    }
    case span::group:
    case span::loop: return on.open.empty() ? 0 : on.open.back().name;
    default: return name(std::string(info(s.kind).name));
  }
}

// --- columns

std::string page_flattener::slices() const {
  std::string out = "[";
  for (const auto& [worker, on] : lanes_) {
    number_stream column;
    std::uint64_t at = zero();
    for (const slice& s : on.slices) {
      column.put(s.begin - at);
      column.put(s.end - s.begin);
      column.put(std::uint64_t{s.name} << 2 | static_cast<std::uint64_t>(s.what));
      at = s.end;
    }
    fmt::format_to(std::back_inserter(out), "{}[{},{},\"{}\"]", out.size() > 1 ? "," : "", worker, on.slices.size(),
                   column.base64());
  }
  return out + "]";
}

std::string page_flattener::steals() const {
  number_stream column;
  std::uint64_t at = zero();
  for (const theft& t : steals_) {
    column.put(t.at - at);
    column.put(t.took);
    column.put(t.thief);
    column.put(t.victim);
    at = t.at;
  }
  std::string out = fmt::format("{{\"count\":{},\"data\":\"{}\",\"matrix\":[", steals_.size(), column.base64());
  for (const auto& [pair, n] : thefts_) {
    fmt::format_to(std::back_inserter(out), "{}[{},{},{},{},{}]", out.back() == '[' ? "" : ",", pair.first, pair.second,
                   n.tried, n.got, n.level);
  }
  return out + "]}";
}

std::string page_flattener::pieces() const {
  std::string out = "[";
  for (const auto& [key, set] : pieces_) {
    number_stream column;
    std::uint64_t at = zero();
    for (const piece_told& p : set.told) {
      column.put(p.begin - at);
      column.put(p.end - p.begin);
      column.put(p.worker);
      column.put(p.repeat);
      column.put(p.a >> 32);
      column.put(p.a & 0xffffffff);
      if (set.tree) {
        column.put(p.b);
      } else {
        column.put(p.b >> 32);
        column.put(p.b & 0xffffffff);
      }
      at = p.begin;
    }
    const std::string label = key.first < what_.texts.size() ? what_.texts[key.first] : fmt::format("{}", key.first);
    fmt::format_to(std::back_inserter(out), "{}{{\"name\":{},\"tree\":{},\"count\":{},\"data\":\"{}\"}}",
                   out.size() > 1 ? "," : "", json_string(label), set.tree, set.told.size(), column.base64());
  }
  return out + "]";
}

}  // namespace heddle::trace
