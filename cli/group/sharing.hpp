// Which tasks share how many lines: the graph that tasks are grouped by, and what a set of them touches.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "policy/grouped/sharing_profile.hpp"

namespace heddle::cli {

class sharing_graph {
 public:
  struct edge {
    unsigned to;
    std::uint64_t lines;  // that both touch
  };
  // Lines that more tasks than that touch make no edges: whatever the groups are, they are in every cache.
  static constexpr unsigned most_sharers = 256;

  explicit sharing_graph(std::vector<policy::profiled_task>& tasks);

  unsigned tasks() const noexcept { return static_cast<unsigned>(weights_.size()); }
  double weight(unsigned task) const noexcept { return weights_[task]; }
  // By number of the other task.
  std::span<const edge> edges(unsigned task) const noexcept { return edges_[task]; }
  // Distinct lines that these tasks touch.
  std::uint64_t lines_of(std::span<const unsigned> some) const;
  std::uint64_t lines_of_task(unsigned task) const noexcept;

  // Lines that all touch who touch one of them: pieces of the task's ranges.
  std::span<const unsigned> pieces_of(unsigned task) const noexcept { return pieces_[task]; }
  std::uint64_t lines_of_piece(unsigned piece) const noexcept { return lengths_[piece]; }
  unsigned pieces() const noexcept { return static_cast<unsigned>(lengths_.size()); }

 private:
  std::vector<double> weights_;
  std::vector<std::uint64_t> lengths_;         // of pieces
  std::vector<std::vector<unsigned>> pieces_;  // of tasks, ascending
  std::vector<std::vector<edge>> edges_;
};

// An order of sets, each of pieces: the first one, then always the one that shares the most lines with all before it
// together; of equal ones the first. Returns places in `sets`.
std::vector<unsigned> order_by_sharing(const sharing_graph& of, const std::vector<std::vector<unsigned>>& sets);

}  // namespace heddle::cli
