// The machine in a form for people: a tree of memory groups, the costs, and the limits of the workers.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "cli/topo/view.hpp"
#include "policy/registry.hpp"

namespace heddle::cli::topo {
namespace {

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

// Returns a list like "0-3,8".
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

// Returns "worker 3" for a leaf of the placed tree. For a leaf of the whole machine, returns all workers on its unit.
std::string workers_on(const topology& placed, const memory_group& leaf, bool own, int unit) {
  if (own) return fmt::format("worker {}", leaf.first_worker);
  std::vector<int> ranks;
  for (unsigned rank = 0; rank < placed.workers(); ++rank) {
    if (placed.view().unit_of(rank).number == unit) ranks.push_back(static_cast<int>(rank));
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
    const processing_unit& u = v.shown.view().unit_of(g.first_worker);
    std::string ranks = workers_on(v.placed, g, &v.shown == &v.placed, u.number);
    text += fmt::format(":{} unit {}", ranks.empty() ? "" : " " + ranks + ",", u.number);
    if (v.machine.unit(u.number) != nullptr) text += fmt::format(" of core {}, package {}", u.core, u.package);
    if (v.machine.kinds_of_core() > 1) text += fmt::format(", kind {} at speed {:.2f}", u.kind, u.speed);
  }
  return text;
}

void draw(const view& v, const memory_group& g, const std::string& indent, bool ascii, std::string& text) {
  text += group_text(v, g) + "\n";
  for (const memory_group& child : v.shown.view().children(g)) {
    const bool last = child.id + 1 == g.first_child + g.child_count;
    text += indent + (ascii ? (last ? "`- " : "|- ") : (last ? "└─ " : "├─ "));
    draw(v, child, indent + (last ? "   " : ascii ? "|  " : "│  "), ascii, text);
  }
}

// Returns the costs of the caches of other cores.
std::string coherence_text(const machine::coherence_costs& c) {
  return fmt::format(", modified by another core {:.4g} ns, shared and written {:.4g} ns", c.transfer, c.upgrade);
}

// Returns a level of caches in one line; the different sizes of its caches are listed.
std::string level_text(const machine::model& m, const machine::cache_level& level) {
  std::vector<std::string> shapes;
  bool shared = false;
  for (const machine::cache_info& c : m.tree.caches()) {
    if (c.kind != level.kind) continue;
    shared = shared || m.tree.units()[c.first_unit].core != m.tree.units()[c.last_unit - 1].core;
    std::string shape = bytes_text(c.capacity) +
                        (c.associativity > 0 ? fmt::format(", {}-way", c.associativity) : ", fully associative");
    shape += fmt::format(", lines of {} B, for {}", c.line_size, counted(c.last_unit - c.first_unit, "unit"));
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
  }
  return fmt::format("  {}: {:.4g} ns{}; {}\n", machine::name(level.kind), level.latency,
                     shared ? coherence_text(level.coherence) : "", fmt::join(shapes, "; or "));
}

std::string bandwidth_text(double bytes_per_ns) {
  return bytes_per_ns == 0 ? "unlimited" : fmt::format("{:.4g} GB/s", bytes_per_ns);
}

// Joins lines that say the same about several nodes or links.
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
    add(fmt::format("{:.4g} ns more, {} a direction{}", l.latency, bandwidth_text(l.bandwidth),
                    coherence_text(l.coherence)),
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
  std::string text = fmt::format("model:{} {:.4g} GHz, {} misses in flight, a window of {:.4g} cycles, pages of {}\n",
                                 m.title.empty() ? "" : " " + m.title + ";", m.frequency, m.overlap, m.window,
                                 bytes_text(m.page_size));
  for (std::size_t kind = 0; kind < m.kinds.size() && m.kinds.size() > 1; ++kind) {
    std::vector<int> units;
    for (const processing_unit& u : m.tree.units()) {
      if (u.kind == kind) units.push_back(u.number);
    }
    text += fmt::format("  kind {}, {}: speed {:.3g}, units {}\n", kind, m.kinds[kind].name, m.kinds[kind].speed,
                        list_text(units));
  }
  for (const machine::cache_level& level : m.caches) text += level_text(m, level);
  text += memory_text(m);
  if (m.link_messages != 0)
    text += fmt::format("  links: thieves' messages take {:.4g} latencies one way\n", m.link_messages);
  text += "  operations, ns:";
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

}  // namespace

void print_text(const view& v, bool ascii) {
  std::string text = summary(v.machine) + "\n";
  draw(v, v.shown.view().root(), "", ascii, text);
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

}  // namespace heddle::cli::topo
