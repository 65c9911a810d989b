// heddle topo: the machine as the runtime sees it.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/options.hpp"
#include "cli/command.hpp"
#include "machine/plan.hpp"
#include "machine/topology.hpp"
#include "policy/policy.hpp"

namespace heddle::cli {
namespace {

using machine::memory_group;
using machine::processing_unit;
using machine::topology;

struct topo_arguments {
  std::string machine;
  std::string workers;
  bool json = false;
  bool whole = false;
  bool ascii = false;
};

struct view {
  const topology& machine;             // all of it
  const topology& placed;              // for the workers
  const topology& shown;               // one of these
  const machine::limits& allowed;
  const machine::worker_plan& workers;
};

std::string bytes_text(std::uint64_t bytes) {
  if (bytes == 0) return "size unknown";
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  return value == static_cast<double>(static_cast<std::uint64_t>(value)) ? fmt::format("{:.0f} {}", value, units[unit])
                                                                        : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string counted(std::size_t number, const char* what) { return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s"); }

// "0-3,8".
std::string list_text(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
    if (last > i) text += fmt::format("-{}", numbers[last]);
    i = last + 1;
  }
  return text.empty() ? "unknown" : text;
}

bool terminal_speaks_utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale(value);
    return locale.find("UTF-8") != std::string_view::npos || locale.find("utf8") != std::string_view::npos;
  }
  return false;
}

// "worker 3" of a leaf of the placed tree; of a leaf of the whole machine, all workers on its unit.
std::string workers_on(const topology& placed, const memory_group& leaf, bool own, int unit) {
  if (own) return fmt::format("worker {}", leaf.first_worker);
  std::vector<int> ranks;
  for (unsigned rank = 0; rank < placed.workers(); ++rank) {
    if (placed.unit_of(rank).number == unit) ranks.push_back(static_cast<int>(rank));
  }
  if (ranks.empty()) return "";
  return fmt::format("worker{} {}", ranks.size() == 1 ? "" : "s", list_text(ranks));
}

std::string group_text(const view& v, const memory_group& g) {
  std::string text = machine::name(g.kind);
  if (g.level == 0) {
    text += v.machine.memory_bytes() != 0 ? " " + bytes_text(v.machine.memory_bytes()) : "";
  } else if (g.kind != machine::group_kind::unit || g.capacity != 0) {
    text += (g.kind == machine::group_kind::unit ? " with " : " ") + bytes_text(g.capacity);
    if (g.associativity > 0) text += fmt::format(", {}-way", g.associativity);
    if (g.line_size != 0 && g.kind != machine::group_kind::unit) text += fmt::format(", lines of {} B", g.line_size);
  }
  if (g.kind == machine::group_kind::numa) text += fmt::format(", node {}", g.numa);
  if (g.sharing > 1 && g.level != 0) text += fmt::format(", shared by {}", counted(g.sharing, "unit"));
  if (g.is_leaf()) {
    const processing_unit& u = v.shown.unit_of(g.first_worker);
    std::string ranks = workers_on(v.placed, g, &v.shown == &v.placed, u.number);
    text += fmt::format(":{} unit {}", ranks.empty() ? "" : " " + ranks + ",", u.number);
    if (v.machine.unit(u.number) != nullptr) text += fmt::format(" of core {}, package {}", u.core, u.package);
    if (v.machine.kinds_of_core() > 1) text += fmt::format(", kind {} at speed {:.2f}", u.kind, u.speed);
  }
  return text;
}

void draw(const view& v, const memory_group& g, const std::string& indent, bool ascii, std::string& text) {
  text += group_text(v, g) + "\n";
  for (const memory_group& child : v.shown.children(g)) {
    const bool last = child.id + 1 == g.first_child + g.child_count;
    text += indent + (ascii ? (last ? "`- " : "|- ") : (last ? "└─ " : "├─ "));
    draw(v, child, indent + (last ? "   " : ascii ? "|  " : "│  "), ascii, text);
  }
}

std::string summary(const topology& t) {
  std::set<unsigned> cores, packages;
  std::set<int> nodes;
  for (const processing_unit& u : t.units()) {
    cores.insert(u.core);
    packages.insert(u.package);
    nodes.insert(u.numa);
  }
  std::string text = fmt::format("{}: {}, {}, {}, {}", t.name(), counted(t.units().size(), "processing unit"), counted(cores.size(), "core"),
                                 counted(packages.size(), "package"), counted(nodes.size(), "NUMA node"));
  if (t.kinds_of_core() > 1) text += fmt::format(", {} kinds of core", t.kinds_of_core());
  return text;
}

void print_text(const view& v, bool ascii) {
  std::string text = summary(v.machine) + "\n";
  draw(v, v.shown.root(), "", ascii, text);
  text += fmt::format("workers: {}, {}{}; {}\n", v.workers.units.size(), v.workers.bind ? "each bound to its unit" : "not bound",
                      v.workers.crowded ? ", more than can run at once" : "", v.workers.reason);
  if (v.machine.is_this_machine()) {
    text += fmt::format("affinity mask: {}\n", list_text(v.allowed.mask));
    if (v.allowed.quotas.empty()) text += "cgroup CPU quota: none\n";
    for (const machine::quota& q : v.allowed.quotas) {
      text += fmt::format("cgroup CPU quota: {:.3g} processors, {}{} ({}){}\n", q.processors, q.own ? "" : "ancestor ", q.group, q.file,
                          &q == v.allowed.tightest() && v.allowed.quotas.size() > 1 ? ", the tightest" : "");
    }
    for (const std::string& warning : v.allowed.warnings) text += fmt::format("warning: {}\n", warning);
  }
  text += "policies:";
  for (const policy::registration& line : policy::all()) text += fmt::format(" {}", line.name);
  fmt::print("{}\n", text);
}

nlohmann::json unit_json(const processing_unit& u) {
  return {{"unit", u.number}, {"core", u.core}, {"package", u.package}, {"numa", u.numa}, {"kind", u.kind}, {"speed", u.speed}};
}

nlohmann::json group_json(const topology& t, const memory_group& g) {
  nlohmann::json j = {{"id", g.id},
                      {"level", g.level},
                      {"kind", machine::name(g.kind)},
                      {"capacity", g.capacity == machine::unlimited ? nlohmann::json(nullptr) : nlohmann::json(g.capacity)},
                      {"line_size", g.line_size},
                      {"associativity", g.associativity},
                      {"sharing", g.sharing},
                      {"numa", g.numa},
                      {"speed", g.speed},
                      {"first_worker", g.first_worker},
                      {"workers", g.worker_count},
                      {"units", nlohmann::json::array()},
                      {"children", nlohmann::json::array()}};
  for (const processing_unit& u : t.units_of(g)) j["units"].push_back(u.number);
  for (const memory_group& child : t.children(g)) j["children"].push_back(group_json(t, child));
  return j;
}

void print_json(const view& v) {
  nlohmann::json workers = nlohmann::json::array();
  for (unsigned rank = 0; rank < v.placed.workers(); ++rank) {
    nlohmann::json worker = unit_json(v.placed.unit_of(rank));
    worker["rank"] = rank;
    for (unsigned other = 0; other < v.placed.workers(); ++other) worker["distances"].push_back(v.placed.distance(rank, other));
    workers.push_back(worker);
  }
  nlohmann::json quotas = nlohmann::json::array();
  for (const machine::quota& q : v.allowed.quotas) {
    quotas.push_back({{"processors", q.processors}, {"group", q.group}, {"file", q.file}, {"own", q.own}});
  }
  nlohmann::json units = nlohmann::json::array();
  for (const processing_unit& u : v.machine.units()) units.push_back(unit_json(u));
  nlohmann::json policies = nlohmann::json::array();
  for (const policy::registration& line : policy::all()) policies.push_back({{"name", line.name}, {"summary", line.summary}});
  const nlohmann::json all = {
      {"machine", {{"name", v.machine.name()}, {"memory", v.machine.memory_bytes()}, {"kinds", v.machine.kinds_of_core()}, {"units", units}}},
      {"tree", group_json(v.shown, v.shown.root())},
      {"workers", workers},
      {"plan", {{"workers", v.workers.units.size()}, {"bind", v.workers.bind}, {"crowded", v.workers.crowded}, {"reason", v.workers.reason}}},
      {"limits", {{"mask", v.allowed.mask}, {"quotas", quotas}, {"warnings", v.allowed.warnings}}},
      {"policies", policies}};
  fmt::print("{}\n", all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

int run(const topo_arguments& given) try {
  base::option_values options = base::options_from_environment();
  if (!given.workers.empty()) base::set_option(options, "workers", given.workers, "--workers");
  const topology machine = topology::from_name(given.machine);
  const machine::limits allowed = machine.is_this_machine() ? machine::read_limits() : machine::limits{};
  const machine::worker_plan workers = machine::plan(machine, allowed, options);
  const topology placed = machine.for_workers(workers.units);
  const view v{machine, placed, given.whole ? machine : placed, allowed, workers};
  if (given.json) print_json(v);
  else print_text(v, given.ascii || !terminal_speaks_utf8());
  return 0;
} catch (const std::invalid_argument& error) {
  throw usage_error(error.what());
}

std::function<int()> add(CLI::App& app) {
  auto given = std::make_shared<topo_arguments>();
  app.add_option("--machine", given->machine, "Another machine: an XML file of lstopo, or synthetic:STRING in hwloc's notation");
  app.add_option("--workers", given->workers, "Number of workers, instead of HEDDLE_WORKERS");
  app.add_flag("--json", given->json, "Write JSON");
  app.add_flag("--whole", given->whole, "Show every unit of the machine, not only those that get a worker");
  app.add_flag("--ascii", given->ascii, "Draw without Unicode; default where the locale has none");
  return [given] { return run(*given); };
}

const registration entry{command{"topo", "show the memory groups of the machine, the workers and what limits them", add}};

}  // namespace
}  // namespace heddle::cli
