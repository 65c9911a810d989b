// heddle topo: the machine as the runtime sees it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/options.hpp"
#include "cli/command.hpp"
#include "machine/model.hpp"
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
  bool list = false;
  bool file = false;
};

struct view {
  const machine::model* model;  // null if no machine was named: then there are no figures to show
  const topology& machine;      // all of it
  const topology& placed;       // for the workers
  const topology& shown;        // one of these
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

std::string counted(std::size_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

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

std::string latency_text(const view& v, machine::group_kind kind) {
  if (v.model == nullptr) return "";
  for (const machine::cache_level& level : v.model->caches) {
    if (level.kind == kind) return fmt::format(", {:.3g} ns", level.latency);
  }
  return "";
}

std::string group_text(const view& v, const memory_group& g) {
  std::string text = machine::name(g.kind);
  if (g.level == 0) {
    text += v.machine.memory_bytes() != 0 ? " " + bytes_text(v.machine.memory_bytes()) : "";
  } else if (g.kind != machine::group_kind::unit || g.capacity != 0) {
    text += (g.kind == machine::group_kind::unit ? " with " : " ") + bytes_text(g.capacity);
    if (g.associativity > 0) text += fmt::format(", {}-way", g.associativity);
    if (g.line_size != 0 && g.kind != machine::group_kind::unit) text += fmt::format(", lines of {} B", g.line_size);
    text += latency_text(v, g.kind);
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

// A level of caches in one line; those of different sizes are listed.
std::string level_text(const machine::model& m, const machine::cache_level& level) {
  std::vector<std::string> shapes;
  for (const machine::cache_info& c : m.tree.caches()) {
    if (c.kind != level.kind) continue;
    std::string shape = bytes_text(c.capacity) +
                        (c.associativity > 0 ? fmt::format(", {}-way", c.associativity) : ", fully associative");
    shape += fmt::format(", lines of {} B, for {}", c.line_size, counted(c.last_unit - c.first_unit, "unit"));
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
  }
  return fmt::format("  {}: {:.4g} ns; {}\n", machine::name(level.kind), level.latency, fmt::join(shapes, "; or "));
}

std::string bandwidth_text(double bytes_per_ns) {
  return bytes_per_ns == 0 ? "unlimited" : fmt::format("{:.4g} GB/s", bytes_per_ns);
}

// Lines that say the same of several nodes or links are put together.
std::string memory_text(const machine::model& m) {
  std::vector<std::pair<std::string, std::vector<std::string>>> lines;
  const auto add = [&](const std::string& what, const std::string& who) {
    const auto found = std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == what; });
    if (found != lines.end()) found->second.push_back(who);
    else lines.push_back({what, {who}});
  };
  for (const machine::memory_node& n : m.nodes) {
    add(fmt::format("{:.4g} ns, {}, {}", n.latency, bandwidth_text(n.bandwidth), counted(n.channels, "channel")),
        fmt::format("node {}", n.numa));
  }
  for (const machine::memory_link& l : m.links) {
    add(fmt::format("{:.4g} ns more, {} a direction", l.latency, bandwidth_text(l.bandwidth)),
        fmt::format("{}->{}", l.from, l.to));
  }
  std::string text;
  for (const auto& [what, who] : lines) {
    const bool node = who.front().starts_with("node");
    text += fmt::format("  {}: {}\n",
                        who.size() > 6 ? fmt::format("{} {}", who.size(), node ? "nodes" : "links")
                                       : fmt::format("{}", fmt::join(who, ", ")),
                        what);
  }
  return text;
}

std::string model_text(const machine::model& m) {
  std::string text =
      fmt::format("model:{} {:.4g} GHz, {} misses in flight, pages of {}\n", m.title.empty() ? "" : " " + m.title + ";",
                  m.frequency, m.overlap, bytes_text(m.page_size));
  for (std::size_t kind = 0; kind < m.kinds.size() && m.kinds.size() > 1; ++kind) {
    std::vector<int> units;
    for (const processing_unit& u : m.tree.units()) {
      if (u.kind == kind) units.push_back(u.number);
    }
    text += fmt::format("  kind {}, {}: speed {:.3g}, units {}\n", kind, m.kinds[kind].name, m.kinds[kind].speed,
                        list_text(units));
  }
  for (const machine::cache_level& level : m.caches) text += level_text(m, level);
  text += memory_text(m) + "  operations, ns:";
  for (const machine::cost_key& cost : machine::cost_keys())
    text += fmt::format(" {} {:.4g}", cost.name, m.costs.*cost.member);
  text += "\n";
  for (const std::string& source : m.sources) text += fmt::format("  source: {}\n", source);
  std::vector<std::string> by_default;
  for (const std::string& key : m.assumed) {
    if (key.find(':') == std::string::npos) by_default.push_back(key);
    else text += fmt::format("  assumed: {}\n", key);
  }
  if (!by_default.empty()) text += fmt::format("  by default: {}\n", fmt::join(by_default, " "));
  return text;
}

std::string summary(const topology& t) {
  std::set<unsigned> cores, packages;
  std::set<int> nodes;
  for (const processing_unit& u : t.units()) {
    cores.insert(u.core);
    packages.insert(u.package);
    nodes.insert(u.numa);
  }
  std::string text = fmt::format("{}: {}, {}, {}, {}", t.name(), counted(t.units().size(), "processing unit"),
                                 counted(cores.size(), "core"), counted(packages.size(), "package"),
                                 counted(nodes.size(), "NUMA node"));
  if (t.kinds_of_core() > 1) text += fmt::format(", {} kinds of core", t.kinds_of_core());
  return text;
}

void print_text(const view& v, bool ascii) {
  std::string text = summary(v.machine) + "\n";
  draw(v, v.shown.root(), "", ascii, text);
  if (v.model != nullptr) text += model_text(*v.model);
  text += fmt::format("workers: {}, {}{}; {}\n", v.workers.units.size(),
                      v.workers.bind ? "each bound to its unit" : "not bound",
                      v.workers.crowded ? ", more than can run at once" : "", v.workers.reason);
  if (v.machine.is_this_machine()) {
    text += fmt::format("affinity mask: {}\n", list_text(v.allowed.mask));
    if (v.allowed.quotas.empty()) text += "cgroup CPU quota: none\n";
    for (const machine::quota& q : v.allowed.quotas) {
      text += fmt::format("cgroup CPU quota: {:.3g} processors, {}{} ({}){}\n", q.processors, q.own ? "" : "ancestor ",
                          q.group, q.file,
                          &q == v.allowed.tightest() && v.allowed.quotas.size() > 1 ? ", the tightest" : "");
    }
    for (const std::string& warning : v.allowed.warnings) text += fmt::format("warning: {}\n", warning);
  }
  text += "policies:";
  for (const policy::registration& line : policy::all()) text += fmt::format(" {}", line.name);
  fmt::print("{}\n", text);
}

nlohmann::json unit_json(const processing_unit& u) {
  return {{"unit", u.number}, {"core", u.core}, {"package", u.package},
          {"numa", u.numa},   {"kind", u.kind}, {"speed", u.speed}};
}

nlohmann::json group_json(const topology& t, const memory_group& g) {
  nlohmann::json j = {
      {"id", g.id},
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

nlohmann::json model_json(const machine::model& m) {
  nlohmann::json j = {{"name", m.name},
                      {"title", m.title},
                      {"sources", m.sources},
                      {"assumed", m.assumed},
                      {"frequency", m.frequency},
                      {"overlap", m.overlap},
                      {"page_size", m.page_size},
                      {"kinds", nlohmann::json::array()},
                      {"levels", nlohmann::json::array()},
                      {"caches", nlohmann::json::array()},
                      {"nodes", nlohmann::json::array()},
                      {"links", nlohmann::json::array()},
                      {"costs", nlohmann::json::object()}};
  for (const machine::core_kind& kind : m.kinds) j["kinds"].push_back({{"name", kind.name}, {"speed", kind.speed}});
  for (const machine::cache_level& level : m.caches)
    j["levels"].push_back({{"kind", machine::name(level.kind)}, {"latency", level.latency}});
  for (const machine::cache_info& c : m.tree.caches()) {
    nlohmann::json units = nlohmann::json::array();
    for (unsigned i = c.first_unit; i < c.last_unit; ++i) units.push_back(m.tree.units()[i].number);
    j["caches"].push_back({{"kind", machine::name(c.kind)},
                           {"capacity", c.capacity},
                           {"line_size", c.line_size},
                           {"associativity", c.associativity},
                           {"units", units}});
  }
  for (const machine::memory_node& n : m.nodes) {
    j["nodes"].push_back(
        {{"numa", n.numa}, {"latency", n.latency}, {"bandwidth", n.bandwidth}, {"channels", n.channels}});
  }
  for (const machine::memory_link& l : m.links)
    j["links"].push_back({{"from", l.from}, {"to", l.to}, {"latency", l.latency}, {"bandwidth", l.bandwidth}});
  for (const machine::cost_key& cost : machine::cost_keys()) j["costs"][cost.name] = m.costs.*cost.member;
  return j;
}

void print_json(const view& v) {
  nlohmann::json workers = nlohmann::json::array();
  for (unsigned rank = 0; rank < v.placed.workers(); ++rank) {
    nlohmann::json worker = unit_json(v.placed.unit_of(rank));
    worker["rank"] = rank;
    for (unsigned other = 0; other < v.placed.workers(); ++other)
      worker["distances"].push_back(v.placed.distance(rank, other));
    workers.push_back(worker);
  }
  nlohmann::json quotas = nlohmann::json::array();
  for (const machine::quota& q : v.allowed.quotas) {
    quotas.push_back({{"processors", q.processors}, {"group", q.group}, {"file", q.file}, {"own", q.own}});
  }
  nlohmann::json units = nlohmann::json::array();
  for (const processing_unit& u : v.machine.units()) units.push_back(unit_json(u));
  nlohmann::json policies = nlohmann::json::array();
  for (const policy::registration& line : policy::all())
    policies.push_back({{"name", line.name}, {"summary", line.summary}});
  nlohmann::json all = {{"machine",
                         {{"name", v.machine.name()},
                          {"memory", v.machine.memory_bytes()},
                          {"kinds", v.machine.kinds_of_core()},
                          {"units", units}}},
                        {"tree", group_json(v.shown, v.shown.root())},
                        {"workers", workers},
                        {"plan",
                         {{"workers", v.workers.units.size()},
                          {"bind", v.workers.bind},
                          {"crowded", v.workers.crowded},
                          {"reason", v.workers.reason}}},
                        {"limits", {{"mask", v.allowed.mask}, {"quotas", quotas}, {"warnings", v.allowed.warnings}}},
                        {"policies", policies}};
  if (v.model != nullptr) all["model"] = model_json(*v.model);
  fmt::print("{}\n", all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_list() {
  const std::vector<std::string> names = machine::model::shipped();
  std::size_t width = 0;
  for (const std::string& name : names) width = std::max(width, name.size());
  for (const std::string& name : names) fmt::print("{:<{}}  {}\n", name, width, machine::model::from_name(name).title);
}

int run(const topo_arguments& given) try {
  if (given.list) return print_list(), 0;
  if (given.file) return fmt::print("{}", machine::model::shipped_text(given.machine)), 0;
  base::option_values options = base::options_from_environment();
  if (!given.workers.empty()) base::set_option(options, "workers", given.workers, "--workers");
  std::optional<machine::model> model;
  if (!given.machine.empty()) model = machine::model::from_name(given.machine);
  const topology machine = model ? model->tree : topology::this_machine();
  const machine::limits allowed = machine.is_this_machine() ? machine::read_limits() : machine::limits{};
  const machine::worker_plan workers = machine::plan(machine, allowed, options);
  const topology placed = machine.for_workers(workers.units);
  const view v{model ? &*model : nullptr, machine, placed, given.whole ? machine : placed, allowed, workers};
  if (given.json) print_json(v);
  else print_text(v, given.ascii || !terminal_speaks_utf8());
  return 0;
} catch (const std::invalid_argument& error) {
  throw usage_error(error.what());
}

std::function<int()> add(CLI::App& app) {
  auto given = std::make_shared<topo_arguments>();
  app.add_option("--machine", given->machine,
                 "Another machine, with what things cost on it: a shipped name (--list), a TOML file, an XML file of "
                 "lstopo, synthetic:STRING in "
                 "hwloc's notation, or this; MACHINE+FILE.toml takes figures from a second one");
  app.add_flag("--list", given->list, "List the machines that come with heddle");
  app.add_flag("--file", given->file, "Write the TOML file of a shipped --machine, as a start for one's own");
  app.add_option("--workers", given->workers, "Number of workers, instead of HEDDLE_WORKERS");
  app.add_flag("--json", given->json, "Write JSON");
  app.add_flag("--whole", given->whole, "Show every unit of the machine, not only those that get a worker");
  app.add_flag("--ascii", given->ascii, "Draw without Unicode; default where the locale has none");
  return [given] { return run(*given); };
}

const registration entry{
    command{"topo", "show the memory groups of the machine, the workers and what limits them", add}};

}  // namespace
}  // namespace heddle::cli
