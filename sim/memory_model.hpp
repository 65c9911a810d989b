// What a memory access costs on a modelled machine: caches, pages, nodes, links.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "machine/model.hpp"
#include "sim/access_counts.hpp"
#include "sim/pages.hpp"

namespace heddle::sim {

struct node_traffic {
  int numa{0};
  std::uint64_t local_bytes{0}, remote_bytes{0};  // bytes fetched from this node's memory, by the core's place
  std::uint64_t pages{0};                         // that lie here now
  std::uint64_t written_bytes{0};                 // written back to it
};

// Not thread-safe: the simulator has one kernel thread. What is modelled and what is not: sim/README.md.
class memory_model {
 public:
  // Throws std::invalid_argument: page or line size not a power of two, a unit on a node that the model does not have.
  explicit memory_model(const machine::model& machine);
  ~memory_model();

  // Processing unit `unit` (index into machine.tree.units()) reads or writes [address, address + bytes), once, in
  // order, at virtual time `at` (ns). Returns the time it takes, ns: latencies, overlap of misses, and waiting for the
  // memory and the links. Calls come in the order of `at`, nearly: one that is late by up to `history` ns still meets
  // the traffic of its own time; a later one is served as if it had come that long before the latest. Throws
  // std::length_error: more than 2^32 lines of memory were touched.
  // `how`: it goes on with a stream of the unit's earlier calls, in the line behind their last one or in that line
  // itself. Then its lines overlap with theirs, and a line that the innermost cache still has takes no time again.
  enum class goes_on : std::uint8_t { no, next_line, same_line };
  double access(unsigned unit, std::uint64_t address, std::uint64_t bytes, bool write, double at,
                goes_on how = goes_on::no);
  // Rows: the first of each set, then the second of each, `count` in
  // all, as one stream of lines. They overlap out of order.
  struct row_set {
    std::uint64_t address, bytes, stride;
    bool write;
  };
  double access_rows(unsigned unit, std::span<const row_set> sets, std::uint64_t count, double at);
  static constexpr double history = 200'000;

  // Pages of the range touched from now on go where `policy` says; pages that exist already stay. Pages that lie partly
  // in it count. `node`, for bind, is the operating system's number; throws std::invalid_argument if there is none.
  void place(std::uint64_t address, std::uint64_t bytes, page_policy policy, int node = 0);
  // The program gave the range back: pages that lie wholly in it are
  // forgotten, with their copies in caches and what place() said.
  void forget(std::uint64_t address, std::uint64_t bytes);

  // Innermost level first.
  std::vector<level_count> levels() const;
  // Those of one unit's own accesses.
  std::vector<level_count> levels_of(unsigned unit) const;
  reach_count reach_of(unsigned unit) const noexcept;
  std::vector<node_traffic> nodes() const;
  void reset_counts();               // contents stay
  void flush();                      // caches become empty, pages stay
  std::uint64_t host_bytes() const;  // memory that the model itself takes
  unsigned line_bits() const noexcept;

 private:
  class insides;
  std::unique_ptr<insides> in_;
};

}  // namespace heddle::sim
