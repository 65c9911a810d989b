#include "sim/memory_nodes.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

namespace heddle::sim {

memory_nodes::server memory_nodes::server_of(double bytes_per_ns) {
  if (bytes_per_ns <= 0) return {0, service_queue(1)};
  constexpr double line = 64, lines_per_slot = 16;
  return {1 / bytes_per_ns, service_queue(lines_per_slot * line / bytes_per_ns)};
}

memory_nodes::memory_nodes(const machine::model& machine) {
  for (const machine::memory_node& n : machine.nodes) {
    const unsigned channels = std::max(1u, n.channels);
    nodes_.push_back({n.numa, n.latency, std::vector<server>(channels, server_of(n.bandwidth / channels))});
  }
  if (nodes_.empty()) {
    std::set<int> numbers;
    for (const machine::processing_unit& u : machine.tree.units()) numbers.insert(u.numa);
    for (const int numa : numbers) nodes_.push_back({numa, 0, std::vector<server>(1, server_of(0))});
  }
  const auto known = [&](int numa, const char* who) {
    const unsigned index = index_of(numa);
    if (index == count()) {
      throw std::invalid_argument("machine " + machine.name + ": " + who + " names NUMA node " + std::to_string(numa) +
                                  ", which has no memory in the model");
    }
    return index;
  };
  for (const machine::processing_unit& u : machine.tree.units()) of_unit_.push_back(known(u.numa, "a processing unit"));
  links_.resize(std::size_t{count()} * count());
  for (const machine::memory_link& l : machine.links) {
    links_[std::size_t{known(l.from, "a link")} * count() + known(l.to, "a link")] = {l.latency,
                                                                                      server_of(l.bandwidth)};
  }
}

unsigned memory_nodes::index_of(int numa) const noexcept {
  return static_cast<unsigned>(std::ranges::find(nodes_, numa, &node::numa) - nodes_.begin());
}

double memory_nodes::fetch(unsigned near, unsigned from, std::uint64_t line, unsigned bytes, double at, double oldest) {
  node& home = nodes_[from];
  double start = home.channels[channel_of(home, line)].serve(at, bytes, oldest);
  if (near == from) {
    home.local_bytes += bytes;
    return start - at + home.latency;
  }
  home.remote_bytes += bytes;
  link& l = links_[std::size_t{from} * count() + near];
  start = l.wire.serve(start, bytes, oldest);
  return start - at + home.latency + l.latency;
}

void memory_nodes::write_back(unsigned near, unsigned to, std::uint64_t line, unsigned bytes, double at,
                              double oldest) {
  node& home = nodes_[to];
  home.written_bytes += bytes;
  const double start = near == to ? at : links_[std::size_t{near} * count() + to].wire.serve(at, bytes, oldest);
  home.channels[channel_of(home, line)].serve(start, bytes, oldest);
}

void memory_nodes::reset_counts() noexcept {
  for (node& n : nodes_) n.local_bytes = n.remote_bytes = n.written_bytes = 0;
}

std::uint64_t memory_nodes::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const node& n : nodes_) {
    for (const server& s : n.channels) sum += s.queue.bytes();
  }
  for (const link& l : links_) sum += l.wire.queue.bytes();
  return sum;
}

}  // namespace heddle::sim
