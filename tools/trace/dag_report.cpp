// The output of `heddle dag`.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tools/trace/dag.hpp"
#include "tools/trace/plain_name.hpp"
#include "trace/json.hpp"

namespace heddle::trace {
namespace {

std::string duration(double ns) {
  if (ns < 1e3) return fmt::format("{:.1f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.2f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.2f} ms", ns / 1e6);
  return fmt::format("{:.2f} s", ns / 1e9);
}

std::string shortened(const std::string& name, std::size_t width) {
  if (name.size() <= width) return name;
  const std::size_t tail = width / 3;
  return name.substr(0, width - tail - 3) + "..." + name.substr(name.size() - tail);
}

}  // namespace

std::string code_name(const recording& what, std::uint64_t address) {
  const auto symbol = what.symbols.find(address);
  return symbol == what.symbols.end() ? fmt::format("{:#x}", address) : plain_name(symbol->second);
}

std::vector<std::string> dag_warnings(const dag_summary& dag) {
  std::vector<std::string> out;
  if (dag.lost != 0) {
    out.push_back(fmt::format(
        "{} events were lost: the figures describe the end of the run only; raise HEDDLE_TRACE_BUFFER", dag.lost));
  }
  if (!dag.forks_traced && dag.forks + dag.steals > 0) {
    out.push_back(
        "forks that nobody took count as serial code, so the parallelism is too low; record with "
        "HEDDLE_TRACE_FORKS=on");
  }
  if (dag.outlier_ns > 0.2 * dag.span_ns) {
    out.push_back(
        fmt::format("{} stretches of the path, {} of {} in all, took over 10 times as long as 19 of 20 of their "
                    "function: the processor was taken "
                    "away, and the parallelism is too low, or these tasks are that large. `heddle dag --runs 5 -- "
                    "PROGRAM` tells: it takes the median of each",
                    dag.outliers, duration(dag.outlier_ns), duration(dag.span_ns)));
  }
  if (dag.work_ns > 0 && dag.scheduling_ns > 0.1 * dag.work_ns) {
    out.push_back(fmt::format(
        "grain too small: {} of work between two forks; forking takes {:.0f} % of the work even when nobody "
        "steals. Stop forking earlier, or raise the grain",
        duration(dag.grain_ns), 100 * dag.scheduling_ns / dag.work_ns));
  }
  if (dag.parallelism() >= 4 && dag.burdened_parallelism() < dag.parallelism() / 4) {
    out.push_back(fmt::format(
        "grain too small for stealing: with a burden on every fork of the path the parallelism falls from {:.1f} "
        "to {:.1f}; tasks near the leaves are shorter than a steal",
        dag.parallelism(), dag.burdened_parallelism()));
  }
  for (const function_profile& f : dag.functions) {
    if (f.wrong * 10 < f.hinted || f.wrong == 0) continue;
    out.push_back(fmt::format(
        "hints of work are wrong by more than a factor of 2 for {} of {} children of {} (worst: {})", f.wrong, f.hinted,
        f.name,
        f.worst > 1e6 ? "work where none was announced, or none where some was" : fmt::format("{:.1f}", f.worst)));
  }
  return out;
}

std::string dag_text(const recording& what, const dag_summary& dag) {
  std::string out;
  const auto to = std::back_inserter(out);
  const auto clock = what.attributes.find("clock");
  fmt::format_to(to, "program: {}   policy: {}   {}\n", what.program, what.policy,
                 clock != what.attributes.end() && clock->second == "virtual" ? "simulated" : "measured");
  fmt::format_to(
      to,
      "\n  work                   {:>12}\n  span                   {:>12}\n  parallelism            {:>12.1f}\n"
      "  burdened span          {:>12}\n  burdened parallelism   {:>12.1f}\n",
      duration(dag.work_ns), duration(dag.span_ns), dag.parallelism(), duration(dag.burdened_span_ns),
      dag.burdened_parallelism());
  fmt::format_to(to,
                 "  forks                  {:>12}\n  children of groups     {:>12}\n  threads                {:>12}\n"
                 "  steals                 {:>12}\n  work between forks     {:>12}\n",
                 dag.forks, dag.spawns, dag.threads, dag.steals, duration(dag.grain_ns));
  out += "\n  workers    speedup\n";
  for (const speedup_estimate& e : dag.speedups)
    fmt::format_to(to, "  {:>7}    {:.1f} to {:.1f}\n", e.workers, e.least, e.most);
  if (!dag.functions.empty()) {
    fmt::format_to(to, "\n  {:<52} {:>9} {:>11} {:>11} {:>8}\n", "task", "count", "own work", "mean, all", "of path");
    for (std::size_t i = 0; i < std::min<std::size_t>(dag.functions.size(), 12); ++i) {
      const function_profile& f = dag.functions[i];
      fmt::format_to(to, "  {:<52} {:>9} {:>11} {:>11} {:>7.1f}%\n", shortened(f.name, 52), f.count, duration(f.own_ns),
                     f.count == 0 ? "-" : duration(f.work_ns / static_cast<double>(f.count)),
                     dag.span_ns > 0 ? std::min(100.0, 100 * f.on_path_ns / dag.span_ns) : 0);
    }
  }
  for (const std::string& w : dag.warnings) fmt::format_to(to, "\nwarning: {}", w);
  if (!dag.warnings.empty()) out += "\n";
  return out;
}

std::string dag_json(const recording& what, const dag_summary& dag) {
  std::string out;
  const auto to = std::back_inserter(out);
  fmt::format_to(
      to,
      "{{\"program\":{},\"machine\":{},\"policy\":{},\"work_ns\":{},\"span_ns\":{},\"parallelism\":{},"
      "\"burdened_span_ns\":{},\"burdened_parallelism\":{},\"forks\":{},\"spawns\":{},\"threads\":{},\"steals\":{},"
      "\"lost\":{},\"forks_traced\":{},\"grain_ns\":{},\"speedups\":[",
      json_string(what.program), json_string(what.machine), json_string(what.policy), dag.work_ns, dag.span_ns,
      dag.parallelism(), dag.burdened_span_ns, dag.burdened_parallelism(), dag.forks, dag.spawns, dag.threads,
      dag.steals, dag.lost, dag.forks_traced, dag.grain_ns);
  for (const speedup_estimate& e : dag.speedups) {
    fmt::format_to(to, "{}{{\"workers\":{},\"least\":{},\"most\":{}}}", &e == dag.speedups.data() ? "" : ",", e.workers,
                   e.least, e.most);
  }
  out += "],\"functions\":[";
  for (const function_profile& f : dag.functions) {
    fmt::format_to(
        to,
        "{}{{\"name\":{},\"count\":{},\"work_ns\":{},\"own_ns\":{},\"on_path_ns\":{},\"hinted\":{},\"wrong_hints\":{},"
        "\"worst_hint\":{}}}",
        &f == dag.functions.data() ? "" : ",", json_string(f.name), f.count, f.work_ns, f.own_ns, f.on_path_ns,
        f.hinted, f.wrong, f.worst);
  }
  out += "],\"warnings\":[";
  for (const std::string& w : dag.warnings)
    fmt::format_to(to, "{}{}", &w == dag.warnings.data() ? "" : ",", json_string(w));
  out += "]}\n";
  return out;
}

}  // namespace heddle::trace
