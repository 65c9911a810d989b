// The cost of a memory access on a modelled machine: caches, pages, nodes, links.
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
  // Bytes fetched from this node's memory, by cores of this node and by others.
  std::uint64_t local_bytes{0}, remote_bytes{0};
  std::uint64_t pages{0};          // pages that lie here at present
  std::uint64_t written_bytes{0};  // bytes written back to it
};

// It is not thread-safe, because the simulator has one kernel thread. sim/README.md says what is modelled and what is
// not.
class memory_model {
 public:
  // The seed decides how pages are scattered over the sets of the caches. Throws std::invalid_argument if a page or
  // line size is not a power of two, or if a unit is on a node that the model does not have.
  explicit memory_model(const machine::model& machine, std::uint64_t seed = 0);
  ~memory_model();

  // Processing unit `unit` (index into machine.tree.units()) reads or writes [address, address + bytes), once, in
  // order, at virtual time `at` (ns). Returns the time that this takes, in ns: latencies, overlap of misses, and
  // waiting for the memory and the links. Calls come roughly in the order of `at`: a call that is late by up to
  // `history` ns still meets the traffic of its own time; a later call is served as if it had come that long before the
  // latest. Throws std::length_error if more than 2^32 lines of memory were touched. `how` says whether the call
  // continues a stream of the unit's earlier calls, in the line behind their last one or in that line itself. Then its
  // lines overlap with theirs, and a line that the innermost cache still has takes no time again.
  enum class goes_on : std::uint8_t { no, next_line, same_line };
  double access(unsigned unit, std::uint64_t address, std::uint64_t bytes, bool write, double at,
                goes_on how = goes_on::no);
  // Accesses rows: the first row of each set, then the second of each, `count` in all, as one stream of lines. They
  // overlap out of order.
  struct row_set {
    std::uint64_t address, bytes, stride;
    bool write;
  };
  double access_rows(unsigned unit, std::span<const row_set> sets, std::uint64_t count, double at);
  static constexpr double history = 200'000;

  // Pages of the range that are touched from this call on go where `policy` says; pages that exist already stay. Pages
  // that lie partly in the range count. `node`, for bind, is the operating system's number; throws
  // std::invalid_argument if there is none.
  void place(std::uint64_t address, std::uint64_t bytes, page_policy policy, int node = 0);
  // Called when the program gave the range back. Pages that lie wholly in it are forgotten, with their copies in caches
  // and their rules of place().
  void forget(std::uint64_t address, std::uint64_t bytes);

  // Innermost level first.
  std::vector<level_count> levels() const;
  // The same for one unit's own accesses.
  std::vector<level_count> levels_of(unsigned unit) const;
  reach_count reach_of(unsigned unit) const noexcept;
  std::vector<node_traffic> nodes() const;
  void reset_counts();               // contents stay
  void flush();                      // empties the caches; pages stay
  std::uint64_t host_bytes() const;  // the memory that the model itself takes
  unsigned line_bits() const noexcept;

 private:
  class insides;
  std::unique_ptr<insides> in_;
};

}  // namespace heddle::sim
