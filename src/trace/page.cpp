#include "trace/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "trace/dag.hpp"
#include "trace/json.hpp"
#include "trace/outside.hpp"
#include "trace/page_flattener.hpp"
#include "trace/replay.hpp"
#include "trace/report.hpp"
#include "trace/stream.hpp"
#include "trace/summary.hpp"

namespace heddle::trace {
namespace {

// Returns null for infinity and NaN, which JSON does not have.
std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

std::string critical_path(const dag_summary& dag, page_flattener& flat) {
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

// Returns the parts that kernel threads outside the workers were in: [kernel thread, depth, begin, end, name].
std::string outside(const recording& what, std::uint64_t zero) {
  std::string out = "[";
  for (const outside_part& p : outside_parts(what)) {
    if (p.end_ns <= zero) continue;  // it ended before there were workers
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
  page_flattener flat(run.what);
  replay(run.what, flat);
  const std::string path = critical_path(dag, flat);  // comes before the names are written, because it adds some

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
  // "</script>" and "<!--" end or change a script element. In JSON a < can only be inside a string.
  for (std::size_t at = 0; (at = data.find('<', at)) != std::string::npos; at += 6) data.replace(at, 1, "\\u003c");
  const std::size_t mark = pattern.find(page_mark);
  if (mark == std::string_view::npos) throw trace_error("the report page has no place for its data");
  std::string out(pattern.substr(0, mark));
  out += data;
  out += pattern.substr(mark + page_mark.size());
  return out;
}

}  // namespace heddle::trace
