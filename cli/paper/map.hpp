// Which worker worked on which piece of a grid, sweep by sweep: the pictures of task maps, as numbers.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "trace/recording.hpp"

namespace heddle::cli::paper {

// A sweep is one pass over all pieces. The k-th time that a piece is worked on belongs to sweep k, which is right for
// programs that end one sweep before they begin the next.
class task_map {
 public:
  task_map() = default;
  // `node_of_worker` may be empty. Throws std::runtime_error if events were lost.
  task_map(const trace::recording& from, const std::vector<int>& node_of_worker);

  // Convert the whole map, and back.
  [[nodiscard]] nlohmann::json as_json() const;
  static task_map from_json(const nlohmann::json& j);  // throws nlohmann::json::exception

  [[nodiscard]] bool empty() const { return sweeps_ == 0; }
  [[nodiscard]] std::size_t sweeps() const { return sweeps_; }
  [[nodiscard]] bool has_nodes() const { return has_nodes_; }

  // Each function returns a share of the pieces or of the pairs of neighbours. Sweep 0 is the first, and -1 is the
  // last. They throw std::out_of_range.
  [[nodiscard]] double neighbours_on_one_worker(int sweep) const;
  [[nodiscard]] double neighbours_on_one_node(int sweep) const;
  [[nodiscard]] double moved(int sweep) const;  // the share that moved since the sweep before
  [[nodiscard]] double steady() const;          // the share that never moved

 private:
  struct owner {
    std::uint16_t worker;
    int node;
  };
  struct piece {
    std::uint32_t x_end, y_end;
    std::vector<owner> by_sweep;
  };
  using corner = std::pair<std::uint32_t, std::uint32_t>;  // first column and row

  [[nodiscard]] std::size_t index_of(int sweep) const;
  template <class Same>
  [[nodiscard]] double neighbours(int sweep, Same same) const;

  std::map<corner, piece> pieces_;
  std::size_t sweeps_{0};
  bool has_nodes_{false};
};

}  // namespace heddle::cli::paper
