#include "cli/group/sharing.hpp"

#include <algorithm>

namespace heddle::cli {

sharing_graph::sharing_graph(std::vector<policy::profiled_task>& tasks) : pieces_(tasks.size()), edges_(tasks.size()) {
  std::vector<std::uint64_t> bounds;  // the bounds of the pieces
  for (policy::profiled_task& t : tasks) {
    weights_.push_back(t.weight);
    for (const auto& r : t.lines.ranges()) bounds.push_back(r.first), bounds.push_back(r.last + 1);
  }
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) lengths_.push_back(bounds[i + 1] - bounds[i]);

  std::vector<std::vector<unsigned>> sharers(lengths_.size());
  for (unsigned t = 0; t < tasks.size(); ++t) {
    for (const auto& r : tasks[t].lines.ranges()) {
      auto piece = static_cast<unsigned>(std::lower_bound(bounds.begin(), bounds.end(), r.first) - bounds.begin());
      for (; bounds[piece] <= r.last; ++piece) {
        pieces_[t].push_back(piece);
        sharers[piece].push_back(t);
      }
    }
  }
  std::vector<std::uint64_t> shared(tasks.size(), 0);  // the lines shared with the current task
  std::vector<unsigned> met;
  for (unsigned t = 0; t < tasks.size(); ++t) {
    met.clear();
    for (const unsigned piece : pieces_[t]) {
      if (sharers[piece].size() > most_sharers) continue;
      for (const unsigned other : sharers[piece]) {
        if (other == t) continue;
        if (shared[other] == 0) met.push_back(other);
        shared[other] += lengths_[piece];
      }
    }
    std::sort(met.begin(), met.end());
    for (const unsigned other : met) edges_[t].push_back({other, std::exchange(shared[other], 0)});
  }
}

std::uint64_t sharing_graph::lines_of(std::span<const unsigned> some) const {
  std::vector<bool> counted(lengths_.size(), false);
  std::uint64_t sum = 0;
  for (const unsigned t : some) {
    for (const unsigned piece : pieces_[t]) {
      if (!counted[piece]) sum += lengths_[piece];
      counted[piece] = true;
    }
  }
  return sum;
}

std::uint64_t sharing_graph::lines_of_task(unsigned task) const noexcept {
  std::uint64_t sum = 0;
  for (const unsigned piece : pieces_[task]) sum += lengths_[piece];
  return sum;
}

std::vector<unsigned> order_by_sharing(const sharing_graph& of, const std::vector<std::vector<unsigned>>& sets) {
  std::vector<unsigned> order;
  if (sets.empty()) return order;
  std::vector<std::vector<unsigned>> holders(of.pieces());
  for (unsigned s = 0; s < sets.size(); ++s)
    for (const unsigned piece : sets[s]) holders[piece].push_back(s);
  std::vector<std::uint64_t> shared(sets.size(), 0);  // the lines shared with all sets that are in the order
  std::vector<bool> is_in(sets.size(), false), is_touched(of.pieces(), false);
  for (unsigned next = 0;;) {
    order.push_back(next);
    is_in[next] = true;
    for (const unsigned piece : sets[next]) {
      if (is_touched[piece]) continue;
      is_touched[piece] = true;
      for (const unsigned s : holders[piece]) shared[s] += of.lines_of_piece(piece);
    }
    if (order.size() == sets.size()) return order;
    next = static_cast<unsigned>(std::find(is_in.begin(), is_in.end(), false) - is_in.begin());
    for (unsigned s = next; s < sets.size(); ++s)
      if (!is_in[s] && shared[s] > shared[next]) next = s;
  }
}

}  // namespace heddle::cli
