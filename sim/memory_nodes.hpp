// The memory behind the caches: latency, and waiting for a node's channels and for links.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "machine/model.hpp"
#include "sim/service_queue.hpp"

namespace heddle::sim {

class memory_nodes {
 public:
  // A model without nodes gets one for each NUMA number of its units, without latency or limit. Throws
  // std::invalid_argument if a unit or a link names a node that the model does not have.
  explicit memory_nodes(const machine::model& machine);

  unsigned count() const noexcept { return static_cast<unsigned>(nodes_.size()); }
  int numa(unsigned node) const noexcept { return nodes_[node].numa; }
  // The index of the operating system's number; count() if there is none.
  unsigned index_of(int numa) const noexcept;
  unsigned node_of_unit(unsigned unit) const noexcept { return of_unit_[unit]; }

  // A core of node `near` fetches `bytes` (one line) from `node` at time `at`. Returns how long it takes until the core
  // has them. Lines are interleaved over the node's channels. `oldest` is that of service_queue::serve.
  double fetch(unsigned near, unsigned node, std::uint64_t line, unsigned bytes, double at, double oldest);

  // Writes them back to `node` from a cache of node `near`. Nothing waits for that, but it takes time of channel and
  // link.
  void write_back(unsigned near, unsigned node, std::uint64_t line, unsigned bytes, double at, double oldest);
  // `bytes` come from another node's cache. Returns how long the link delays them.
  double carry(unsigned near, unsigned from, unsigned bytes, double at, double oldest) {
    return links_[std::size_t{from} * count() + near].wire.serve(at, bytes, oldest) - at;
  }

  std::uint64_t local_bytes(unsigned node) const noexcept { return nodes_[node].local_bytes; }
  std::uint64_t remote_bytes(unsigned node) const noexcept { return nodes_[node].remote_bytes; }
  std::uint64_t written_bytes(unsigned node) const noexcept { return nodes_[node].written_bytes; }
  void reset_counts() noexcept;
  std::uint64_t bytes() const noexcept;

 private:
  struct server {
    double time_per_byte{0};  // ns; 0 means unlimited
    service_queue queue;
    double serve(double at, unsigned bytes, double oldest) {
      return time_per_byte == 0 ? at : queue.serve(at, time_per_byte * bytes, oldest);
    }
  };
  struct node {
    int numa;
    double latency;
    std::vector<server> channels;
    std::uint64_t local_bytes{0}, remote_bytes{0}, written_bytes{0};
  };
  struct link {
    double latency{0};
    server wire{0, service_queue(1)};
  };
  // Line numbers have 32 bits, so the division is short.
  static std::uint32_t channel_of(const node& n, std::uint64_t line) noexcept {
    return static_cast<std::uint32_t>(line) % static_cast<std::uint32_t>(n.channels.size());
  }
  static server server_of(double bytes_per_ns);

  std::vector<node> nodes_;
  std::vector<link> links_;  // [from * count + to]
  std::vector<unsigned> of_unit_;
};

}  // namespace heddle::sim
