// Which tasks share how many lines: the graph by which tasks are grouped, and the lines that a set of tasks touches.
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
    std::uint64_t lines;  // the number that both touch
  };
  // Lines that more tasks than this touch make no edges, because they are in every cache whatever the groups are.
  static constexpr unsigned most_sharers = 256;

  explicit sharing_graph(std::vector<policy::profiled_task>& tasks);

  unsigned tasks() const noexcept { return static_cast<unsigned>(weights_.size()); }
  double weight(unsigned task) const noexcept { return weights_[task]; }
  // Indexed by the number of the other task.
  std::span<const edge> edges(unsigned task) const noexcept { return edges_[task]; }
  // Returns the number of distinct lines that these tasks touch.
  std::uint64_t lines_of(std::span<const unsigned> some) const;
  std::uint64_t lines_of_task(unsigned task) const noexcept;

  // A piece is a set of lines such that a task which touches one of them touches all: a piece of the task's ranges.
  std::span<const unsigned> pieces_of(unsigned task) const noexcept { return pieces_[task]; }
  std::uint64_t lines_of_piece(unsigned piece) const noexcept { return lengths_[piece]; }
  unsigned pieces() const noexcept { return static_cast<unsigned>(lengths_.size()); }

 private:
  std::vector<double> weights_;
  std::vector<std::uint64_t> lengths_;         // of pieces
  std::vector<std::vector<unsigned>> pieces_;  // of tasks, ascending
  std::vector<std::vector<edge>> edges_;
};

// Returns an order of sets, each of pieces, as indices into `sets`. It begins with the first set. Then always the set
// comes that shares the most lines with all before it together; of equal ones the first.
std::vector<unsigned> order_by_sharing(const sharing_graph& of, const std::vector<std::vector<unsigned>>& sets);

}  // namespace heddle::cli
