// heddle reuse: how much cache a program's accesses need, and which window its loops need where cores share one.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/sim/process.hpp"
#include "machine/model.hpp"
#include "sim/reuse_report.hpp"
#include "sim/valgrind_trace.hpp"

namespace heddle::cli {
namespace {

using nlohmann::json;

struct reuse_arguments {
  std::vector<std::string> words;
  std::string trace;
  std::string machine{"this"};
  std::optional<std::uint64_t> cache_bytes;
  std::optional<unsigned> cores;
  sim::reuse_question asked;
  bool line_given = false;
  bool json = false;
};

// Finds the largest cache of the machine that several cores share, and the number of these cores.
void ask_for_machine(reuse_arguments& given) try {
  const machine::model m = machine::model::from_name(given.machine);
  const machine::view machine = m.tree.view();
  const machine::memory_group* shared = machine.shared_cache_of(0);
  sim::reuse_question& q = given.asked;
  if (shared != nullptr) {
    std::set<unsigned> cores;
    for (const machine::processing_unit& u : machine.units_of(*shared)) cores.insert(u.core);
    q.cores = static_cast<unsigned>(cores.size());
  }
  const machine::memory_group& cache = shared != nullptr ? *shared : machine.leaf_of(0);
  if (machine::is_cache(cache.kind) && cache.capacity != machine::unlimited) q.cache_bytes = cache.capacity;
  if (!given.line_given && cache.line_size != 0 && std::has_single_bit(cache.line_size)) q.line_bytes = cache.line_size;
  if (given.cache_bytes) q.cache_bytes = *given.cache_bytes;
  if (given.cores) q.cores = *given.cores;
} catch (const std::invalid_argument& e) {
  throw usage_error(std::string("--machine: ") + e.what());
}

json of_stream(std::istream& in, const std::string& name, const sim::reuse_question& q) {
  reuse_distance distances(q.rate);
  std::uint64_t lines = 0;
  sim::read_trace(in, [&](const sim::traced_access& a) {
    ++lines;
    if (a.what != sim::traced_access::kind::instruction) sim::access_lines(distances, q, a.address, a.bytes);
  });
  if (in.bad()) throw std::runtime_error(fmt::format("{} cannot be read to its end", name));
  if (lines == 0) {
    throw usage_error(fmt::format(
        "--trace: {} has no accesses; expected what `valgrind --tool=lackey --trace-mem=yes PROGRAM` writes to its "
        "standard error: lines such as ' L 1ffeffe7e,8'",
        name));
  }
  json found = json::parse(sim::reuse_json(distances, q));
  found["program"] = name;
  return found;
}

json of_trace(const reuse_arguments& given) {
  if (given.trace == "-") return of_stream(std::cin, "standard input", given.asked);
  std::ifstream file(given.trace, std::ios::binary);
  if (!file) throw usage_error(fmt::format("--trace: {}: {}", given.trace, std::strerror(errno)));
  return of_stream(file, given.trace, given.asked);
}

// Runs the serial execution: its accesses are in the order of the serial program.
std::vector<json> of_program(const reuse_arguments& given) {
  sim_setting s{.machine = given.machine, .policy = "serial", .charge = "annotations", .trace = {}};
  s.workers = 1;
  s.free_scheduler = true;
  s.reuse = given.asked.text();
  const sim_outcome outcome = simulate(given.words, s, shown::errors);
  if (outcome.status != 0)
    throw std::runtime_error(fmt::format("{} ended with status {}", given.words.front(), outcome.status));
  std::vector<json> rows;
  for (const std::string& line : outcome.figures) {
    const json row = json::parse(line);
    if (row.at("reuse").at("accesses") == 0) continue;
    rows.push_back(row.at("reuse"));
    rows.back()["program"] = row.at("program");
  }
  if (rows.empty()) {
    throw usage_error(fmt::format(
        "{} told no accesses to memory: annotate it with <heddle/cost.hpp> (heddle::cost::read, write, rows), or give "
        "--trace the accesses of any program as valgrind --tool=lackey --trace-mem=yes writes them",
        given.words.front()));
  }
  return rows;
}

std::string bytes(std::uint64_t n) {
  auto value = static_cast<double>(n);
  for (const char* unit : {"B", "KiB", "MiB", "GiB"}) {
    if (value < 1024) return fmt::format("{:.4g} {}", value, unit);
    value /= 1024;
  }
  return fmt::format("{:.4g} TiB", value);
}

// Returns the expected effect of a window, in a sentence or two.
std::string about_window(const json& found) {
  const json& w = found.at("window");
  const std::uint64_t cache = found.at("cache_bytes");
  const unsigned cores = found.at("cores");
  const std::string why = w.at("why");
  if (cores < 2 || cache == 0)
    return "No window: no cores share a cache there. --machine, or --cache and --cores, name others.\n";
  std::string text =
      fmt::format("{} cores that share {}: one core alone {} misses, far apart {}.\n", cores, bytes(cache),
                  w.at("misses_alone").get<std::uint64_t>(), w.at("misses_apart").get<std::uint64_t>());
  if (why == "fits") return text + "No window is needed.\n";
  if (why == "too long") {
    return text + "No window helps: so few iterations as there are cores leave too little of the cache.\n";
  }
  const bool counted = found.at("iterations") != 0;
  text += fmt::format("A window of {} {} touches {} lines: at most {} misses.\n", w.at("length").get<std::uint64_t>(),
                      counted ? "iterations" : "accesses", w.at("reach").get<std::uint64_t>(),
                      w.at("misses_within").get<std::uint64_t>());
  if (!counted) text += "--iterations N, those of all the program's loops, tells the window in iterations.\n";
  return text;
}

void print(const json& found) {
  const std::uint64_t accesses = found.at("accesses"), cache = found.at("cache_bytes"), line = found.at("line_bytes");
  const double rate = found.at("rate");
  fmt::print("{}\n{} accesses to {} lines of {} bytes{}\n\n", found.at("program").get<std::string>(), accesses,
             found.at("lines").get<std::uint64_t>(), line,
             rate == 1 ? std::string() : fmt::format(", estimated from a part of {:g} of the lines", rate));
  fmt::print("{:>12} {:>14} {:>8} {:>14} {:>8}\n", "capacity", "misses", "", "far apart", "");
  const auto share = [&](std::uint64_t n) { return 100 * static_cast<double>(n) / static_cast<double>(accesses); };
  for (const json& c : found.at("capacities")) {
    const std::uint64_t alone = c.at("misses"), apart = c.at("misses_apart"), size = c.at("bytes");
    fmt::print("{:>12} {:>14} {:>6.2f} % {:>14} {:>6.2f} %{}\n", bytes(size), alone, share(alone), apart, share(apart),
               size == cache ? "  the cache" : "");
  }
  fmt::print("\n{}", about_window(found));
}

int run(reuse_arguments given) {
  if (given.words.empty() == given.trace.empty()) {
    throw usage_error(given.words.empty() ? "nothing to look at: `heddle reuse [OPTIONS] -- PROGRAM [ARGUMENTS]`, or "
                                            "--trace FILE"
                                          : "--trace and a program: give one of them");
  }
  if (!std::has_single_bit(given.asked.line_bytes))
    throw usage_error(fmt::format("--line: expected a power of two, not {}", given.asked.line_bytes));
  ask_for_machine(given);
  const std::vector<json> rows = given.trace.empty() ? of_program(given) : std::vector<json>{of_trace(given)};
  if (given.json) {
    fmt::print("{}\n", json(rows).dump(1));
    return 0;
  }
  for (const json& row : rows) {
    if (&row != rows.data()) fmt::print("\n");
    print(row);
  }
  return 0;
}

std::function<int()> add_reuse(CLI::App& app) {
  auto given = std::make_shared<reuse_arguments>();
  sim::reuse_question& q = given->asked;
  app.add_option("PROGRAM", given->words,
                 "A program that tells its accesses (<heddle/cost.hpp>), with its arguments, after --: its serial "
                 "execution is simulated");
  app.add_option("--trace", given->trace,
                 "Instead: a file that `valgrind --tool=lackey --trace-mem=yes` has written, of any program; - for "
                 "standard input. Its data are looked at, not its instructions");
  app.add_option("--machine", given->machine,
                 "Whose largest shared cache is meant: a name of `heddle topo --list`, this, a TOML or lstopo XML "
                 "file, or synthetic:DESCRIPTION")
      ->capture_default_str();
  constexpr std::uint64_t most = std::uint64_t{1} << 50;
  app.add_option("--cache", given->cache_bytes, "Bytes of the shared cache, instead of the machine's")
      ->check(integer(1, most));
  app.add_option("--cores", given->cores, "Cores that share it, instead of the machine's")
      ->check(integer(1, most_workers));
  app.add_option_function<std::uint64_t>(
         "--line",
         [given](std::uint64_t bytes) {
           given->asked.line_bytes = bytes;
           given->line_given = true;
         },
         "Bytes of a line, a power of two; default: the machine's")
      ->check(integer(1, 1 << 20));
  app.add_option("--rate", q.rate, "Part of the lines that is looked at, chosen by a hash; 1: all, exactly")
      ->capture_default_str()
      ->check(number(1e-6, 1));
  app.add_option("--iterations", q.iterations,
                 "Iterations that the program's loops have in all: the window is told in them")
      ->check(integer(1, most));
  app.add_option("--slack", q.slack, "How many more misses than one core's a window may have: 0.05 is 5 %")
      ->capture_default_str()
      ->check(number(0, 1000));
  app.add_flag("--json", given->json, "Write JSON instead of a table, with M(C) for every capacity");
  app.footer(
      "Examples: heddle reuse --machine nehalem-e5530 -- ./app; valgrind --tool=lackey --trace-mem=yes ls 2>&1 "
      "| heddle reuse --trace -");
  return [given] { return run(*given); };
}

const registration reuse_entry{command{
    "reuse", "show how much cache a program needs, alone and shared by cores, and propose a window", add_reuse}};

}  // namespace
}  // namespace heddle::cli
