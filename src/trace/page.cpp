#include "trace/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>

#include "trace/dag.hpp"
#include "trace/json.hpp"
#include "trace/outside.hpp"
#include "trace/replay.hpp"
#include "trace/report.hpp"
#include "trace/stream.hpp"
#include "trace/summary.hpp"

namespace heddle::trace {
namespace {

// JSON has no infinity and no NaN.
std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

// One run of one worker in one state, what the timeline draws.
struct slice {
  std::uint64_t begin, end;
  std::uint32_t name;
  activity what;
};

struct piece_told {
  std::uint64_t begin, end;
  std::uint64_t a, b;
  std::uint16_t worker;
  std::uint32_t repeat;  // how often this piece was told before
};

struct piece_set {
  bool tree;
  std::vector<piece_told> told;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> repeats;
};

struct theft {
  std::uint64_t at, took;
  std::uint16_t thief, victim;
};

struct theft_count {
  std::uint64_t tried = 0, got = 0, level = 0;
};

class flattener : public replay_visitor {
 public:
  explicit flattener(const recording& what) : what_(what) {
    name("run loop");
    for (const worker_log& log : what.workers) {
      if (log.worker == foreign_worker) continue;
      lanes_[log.worker];
      if (!log.records.empty()) zero_ = std::min(zero_.value_or(log.records.front().ns), log.records.front().ns);
    }
  }

  void event(const record& r) override {
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

  void opened(std::uint16_t worker, const open_span& s, std::uint64_t ns) override {
    lane& on = lanes_[worker];
    if (!on.open.empty()) add(on, ns, info(on.open.back().kind).counts_as);
    on.last = ns;
    on.open.push_back({s.kind, name_of(s, on)});
  }

  void closed(std::uint16_t worker, const open_span&, std::uint64_t ns, activity counts_as) override {
    lane& on = lanes_[worker];
    add(on, ns, counts_as);
    on.last = ns;
    on.open.pop_back();
  }

  // Times from here on are relative to the first event.
  [[nodiscard]] std::uint64_t zero() const { return zero_.value_or(0); }
  std::uint32_t name(const std::string& text) {
    const auto [at, fresh] = numbers_.try_emplace(text, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(text);
    return at->second;
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  [[nodiscard]] std::string slices() const {
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

  [[nodiscard]] std::string steals() const {
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
      fmt::format_to(std::back_inserter(out), "{}[{},{},{},{},{}]", out.back() == '[' ? "" : ",", pair.first,
                     pair.second, n.tried, n.got, n.level);
    }
    return out + "]}";
  }

  [[nodiscard]] std::string pieces() const {
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

 private:
  struct open_name {
    span kind;
    std::uint32_t name;
  };
  struct lane {
    std::vector<open_name> open;
    std::uint64_t last = 0;
    std::vector<slice> slices;
    std::optional<std::uint64_t> attempt;
    std::pair<piece_set*, std::size_t> open_piece{nullptr, 0};
  };

  static void end_piece(lane& on, std::uint64_t ns) {
    auto& [set, at] = on.open_piece;
    if (set != nullptr) set->told[at].end = ns;
    set = nullptr;
  }

  void add(lane& on, std::uint64_t ns, activity what) {
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

  std::uint32_t name_at(std::uint64_t address) {
    if (address == 0) return name("thread");
    const auto [known, fresh] = by_address_.try_emplace(address, 0);
    if (fresh) {
      const auto symbol = what_.symbols.find(address);
      known->second = name(symbol == what_.symbols.end() ? fmt::format("{:#x}", address) : plain_name(symbol->second));
    }
    return known->second;
  }

  // Loops and groups say less than the task or region that they stand in.
  std::uint32_t name_of(const open_span& s, const lane& on) {
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

  const recording& what_;
  std::optional<std::uint64_t> zero_;
  std::map<std::uint16_t, lane> lanes_;
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t> numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_address_;
  std::unordered_map<std::uint64_t, std::uint32_t> thread_names_;
  std::vector<theft> steals_;
  std::map<std::pair<std::uint16_t, std::uint16_t>, theft_count> thefts_;
  std::map<std::pair<std::uint32_t, bool>, piece_set> pieces_;
};

std::string critical_path(const dag_summary& dag, flattener& flat) {
  number_stream column;
  std::uint64_t at = flat.zero();
  std::size_t count = 0;
  for (const path_segment& s : dag.path) {
    if (s.begin_ns < at) continue;  // clocks of a damaged trace
    column.put(s.begin_ns - at);
    column.put(s.end_ns - s.begin_ns);
    column.put(s.worker);
    column.put(flat.name(s.name));
    at = s.begin_ns;
    ++count;
  }
  return fmt::format("{{\"count\":{},\"data\":\"{}\"}}", count, column.base64());
}

// Parts that kernel threads outside of the workers were in: [kernel thread, depth, begin, end, name].
std::string outside(const recording& what, std::uint64_t zero) {
  std::string out = "[";
  for (const outside_part& p : outside_parts(what)) {
    if (p.end_ns <= zero) continue;  // before there were workers
    fmt::format_to(std::back_inserter(out), "{}[{},{},{},{},{}]", out.size() > 1 ? "," : "", p.kernel_thread, p.depth,
                   std::max(p.begin_ns, zero) - zero, p.end_ns - zero, json_string(p.name));
  }
  return out + "]";
}

std::string statistics(const char* name, const distribution& d) {
  return fmt::format("\"{}\":[{},{},{}]", name, d.count, d.median, d.max);
}

std::string run_data(const page_run& run) {
  const summary sums = summarise(run.what);
  const dag_summary dag = analyse(run.what);
  flattener flat(run.what);
  replay(run.what, flat);
  const std::string path = critical_path(dag, flat);  // before the names are written: it adds some

  std::string out;
  const auto to = std::back_inserter(out);
  std::uint64_t events = 0;
  for (const worker_log& log : run.what.workers) events += log.records.size();
  fmt::format_to(to, "{{\"name\":{},\"program\":{},\"machine\":{},\"policy\":{},\"attributes\":{{",
                 json_string(run.name), json_string(run.what.program), json_string(run.what.machine),
                 json_string(run.what.policy));
  for (const auto& [key, value] : run.what.attributes) {
    fmt::format_to(to, "{}{}:{}", out.back() == '{' ? "" : ",", json_string(key), json_string(value));
  }
  fmt::format_to(to, "}},\"events\":{},\"lost\":{},\"wall\":{},\"workers\":[", events, sums.lost, sums.wall_ns());
  for (const worker_summary& w : sums.workers) {
    if (w.worker == foreign_worker) continue;
    fmt::format_to(
        to,
        "{}{{\"number\":{},\"place\":{},\"busy\":{},\"idle\":{},\"overhead\":{},\"off\":{},\"tasks\":{},\"steals\":{},"
        "\"tried\":{},\"parks\":{},\"switches\":{}}}",
        out.back() == '[' ? "" : ",", w.worker, json_string(w.place), w.seen.time(activity::busy),
        w.seen.time(activity::idle), w.seen.time(activity::overhead), w.seen.time(activity::off),
        w.seen.count(event::task_begin), w.seen.count(event::steal_success), w.seen.count(event::steal_attempt),
        w.seen.count(event::park_begin), w.seen.count(event::thread_switch_in));
  }
  fmt::format_to(to,
                 "],{},{},{},{},\"imbalance\":{},\"diagnosis\":{},\"outside\":{},\"dag\":{},\"path\":{},\"slices\":{},"
                 "\"thefts\":{},\"pieces\":{},\"names\":[",
                 statistics("task_slice", sums.task_slice), statistics("idle_spell", sums.idle_spell),
                 statistics("steal_latency", sums.steal_latency), statistics("wake_latency", sums.wake_latency),
                 number(sums.imbalance()), findings_json(run.findings), outside(run.what, flat.zero()),
                 dag_json(run.what, dag), path, flat.slices(), flat.steals(), flat.pieces());
  for (const std::string& n : flat.names()) fmt::format_to(to, "{}{}", out.back() == '[' ? "" : ",", json_string(n));
  return out + "]}";
}

}  // namespace

std::string page_data(const std::vector<page_run>& runs, const std::string& figures) {
  std::string out = "{\"version\":1,\"runs\":[";
  for (const page_run& run : runs) {
    if (out.back() != '[') out += ",\n";
    out += run_data(run);
  }
  return out + "],\"figures\":" + figures + "}";
}

std::string write_page(const std::vector<page_run>& runs, const std::string& figures, std::string_view pattern) {
  std::string data = page_data(runs, figures);
  // "</script>" and "<!--" end or change a script element; in JSON a < is only ever inside a string.
  for (std::size_t at = 0; (at = data.find('<', at)) != std::string::npos; at += 6) data.replace(at, 1, "\\u003c");
  const std::size_t mark = pattern.find(page_mark);
  if (mark == std::string_view::npos) throw trace_error("the report page has no place for its data");
  std::string out(pattern.substr(0, mark));
  out += data;
  out += pattern.substr(mark + page_mark.size());
  return out;
}

}  // namespace heddle::trace
