// The memory of NUMA nodes, and the links between them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "machine/model/assembler.hpp"

namespace heddle::machine {

void assembler::read_memory(file_table& from, memory_node& node) {
  if (const auto latency = from.number("latency", range::positive)) node.latency = *latency;
  if (const auto bandwidth = from.number("bandwidth", range::not_negative)) node.bandwidth = *bandwidth;
  if (const auto channels = from.whole("channels", 1, 1024)) node.channels = static_cast<unsigned>(*channels);
  read_coherence(from, node.coherence);
  if (made_.caches.empty() || node.latency >= made_.caches.back().latency) return;
  refuse(from.place("latency"), from.path_of("latency"),
         fmt::format("is {} ns{}, less than the {} ns of {}", node.latency, from.given("latency") ? "" : " by default",
                     made_.caches.back().latency, name(made_.caches.back().kind)));
}

void assembler::read_nodes() {
  std::set<int> numbers;
  for (const processing_unit& u : made_.tree.units()) numbers.insert(u.numa);
  file_table memory(*top_.table("memory"), "memory", assumed_);
  for (const int number : numbers) {
    memory_node node;
    node.numa = number;
    node.coherence = untold;
    read_memory(memory, node);
    made_.nodes.push_back(node);
  }
  memory.finish();
  std::set<int> seen;
  for (const file_node* table : top_.tables("node")) {
    file_table one(*table, "node", assumed_);
    memory_node& node = node_at(one, "numa");
    if (!seen.insert(node.numa).second)
      refuse(*table, "node.numa", fmt::format("node {} is described twice", node.numa));
    read_memory(one, node);
    one.finish();
  }
}

memory_node& assembler::node_at(file_table& table, std::string_view key) {
  const auto number = table.whole(key, 0, 1u << 20);
  if (!number) refuse(table.place(key), table.path_of(key), "is missing");
  const auto found = std::find_if(made_.nodes.begin(), made_.nodes.end(),
                                  [&](const memory_node& n) { return n.numa == static_cast<int>(*number); });
  if (found != made_.nodes.end()) return *found;
  std::string known;
  for (const memory_node& n : made_.nodes) known += fmt::format("{}{}", known.empty() ? "" : ", ", n.numa);
  refuse(table.place(key), table.path_of(key), fmt::format("there is no node {}; the nodes are {}", *number, known));
}

void assembler::read_links() {
  file_table all(*top_.table("links"), "links", assumed_);
  for (const memory_node& from : made_.nodes) {
    for (const memory_node& to : made_.nodes) {
      if (from.numa == to.numa) continue;
      made_.links.push_back({from.numa, to.numa, *all.number("latency", range::not_negative),
                             *all.number("bandwidth", range::not_negative), untold});
      read_coherence(all, made_.links.back().coherence);
    }
  }
  made_.link_messages = all.number("messages", range::not_negative).value_or(0);
  for (const char* key : {"latency", "bandwidth", "transfer", "upgrade"}) all.find(key);
  all.finish();
  std::set<std::pair<int, int>> seen;
  for (const file_node* table : top_.tables("link")) {
    file_table one(*table, "link", assumed_);
    const int from = node_at(one, "from").numa, to = node_at(one, "to").numa;
    if (from == to) refuse(*table, "link.to", fmt::format("the link leads from node {} to itself", from));
    const bool both = one.truth("both").value_or(true);
    const auto latency = one.number("latency", range::not_negative),
               bandwidth = one.number("bandwidth", range::not_negative);
    coherence_costs costs = untold;
    read_coherence(one, costs);
    one.finish();
    for (const auto& [a, b] : {std::pair(from, to), std::pair(to, from)}) {
      if (a == to && !both) continue;
      if (!seen.insert({a, b}).second)
        refuse(*table, "link", fmt::format("the link from node {} to node {} is described twice", a, b));
      memory_link& link = *std::find_if(made_.links.begin(), made_.links.end(),
                                        [&](const memory_link& l) { return l.from == a && l.to == b; });
      if (latency) link.latency = *latency;
      if (bandwidth) link.bandwidth = *bandwidth;
      if (costs.transfer != untold.transfer) link.coherence.transfer = costs.transfer;
      if (costs.upgrade != untold.upgrade) link.coherence.upgrade = costs.upgrade;
    }
  }
}

// Tells schedulers the latencies. A link brings what is read from the memory at its beginning.
void assembler::tell_latencies() {
  double of_kind[kinds_of_group]{};
  for (const cache_level& level : made_.caches) of_kind[static_cast<std::size_t>(level.kind)] = level.latency;
  std::vector<node_latency> nodes;
  for (const memory_node& node : made_.nodes) nodes.push_back({node.numa, node.numa, node.latency});
  for (const memory_link& link : made_.links) {
    const auto home =
        std::find_if(made_.nodes.begin(), made_.nodes.end(), [&](const memory_node& n) { return n.numa == link.from; });
    nodes.push_back({link.to, link.from, home->latency + link.latency});
  }
  made_.tree = made_.tree.with_latencies(of_kind, std::move(nodes));
}

}  // namespace heddle::machine
