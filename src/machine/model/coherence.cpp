// The costs of the caches of other cores: the file's values, and values that follow from latencies where the file has
// none.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "machine/model/assembler.hpp"

namespace heddle::machine {

namespace {

// Returns true if some two units of a node have no cache in common.
bool nodes_have_several_outermost_caches(const topology& tree) {
  std::map<int, unsigned> of_node;
  const auto caches = tree.caches();
  if (caches.empty()) return false;
  for (const cache_info& c : caches) {
    if (c.kind == caches.back().kind && ++of_node[tree.units()[c.first_unit].numa] > 1) return true;
  }
  return false;
}

}  // namespace

void assembler::read_coherence(file_table& from, coherence_costs& costs) {
  if (const auto transfer = from.number("transfer", range::positive)) costs.transfer = *transfer;
  if (const auto upgrade = from.number("upgrade", range::not_negative)) costs.upgrade = *upgrade;
}

// Links that differ may each conclude a different range; then the result holds them all.
void assembler::conclude(const std::string& key, double value, const conclusion& from) {
  const double least = from.least * value, most = from.most * value;
  for (figure& f : derived_figures_) {
    if (f.key != key) continue;
    f.least = std::min(f.least, least);
    f.most = std::max(f.most, most);
    return;
  }
  derived_figures_.push_back({key, value, figure::origin::assumed, least, most, from.why});
}

void assembler::complete(coherence_costs& costs, double transfer, const std::string& table, const conclusion& from) {
  if (costs.transfer == untold.transfer) {
    costs.transfer = transfer;
    if (!table.empty()) conclude(table + ".transfer", transfer, from);
  }
  if (costs.upgrade == untold.upgrade) {
    costs.upgrade = costs.transfer;
    if (!table.empty()) conclude(table + ".upgrade", costs.upgrade, {"as much as a transfer", 0.9, 3});
  }
}

// The factors come from the measurements that machine files cite for these figures.
void assembler::complete_coherence() {
  for (cache_level& level : made_.caches) {
    const auto caches = made_.tree.caches();
    const bool shared = std::any_of(caches.begin(), caches.end(), [&](const cache_info& c) {
      return c.kind == level.kind && made_.tree.units()[c.first_unit].core != made_.tree.units()[c.last_unit - 1].core;
    });
    const std::string table = fmt::format("cache.{}", name(level.kind));
    complete(level.coherence, 2 * level.latency, shared ? table : "", {"twice the latency", 0.95, 1.45});
    if (level.coherence.transfer >= level.latency) continue;
    const file_node* at = top_.place("cache").find(name(level.kind));
    refuse(at != nullptr && at->find("transfer") != nullptr ? *at->find("transfer") : top_.place("cache"),
           table + ".transfer",
           fmt::format("is {} ns, less than the {} ns of a line that the cache itself has", level.coherence.transfer,
                       level.latency));
  }
  const bool islands = nodes_have_several_outermost_caches(made_.tree);
  for (memory_node& node : made_.nodes)
    complete(node.coherence, node.latency, islands ? "memory" : "", {"the latency of memory", 0.7, 1.1});
  for (memory_link& link : made_.links) {
    const auto home =
        std::find_if(made_.nodes.begin(), made_.nodes.end(), [&](const memory_node& n) { return n.numa == link.from; });
    complete(link.coherence, home->latency + link.latency, "links",
             {"the latency of the other node's memory", 0.6, 1.3});
  }
}

}  // namespace heddle::machine
