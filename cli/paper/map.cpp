#include "cli/paper/map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace heddle::cli::paper {
namespace {

std::uint32_t high(std::uint64_t pair) { return static_cast<std::uint32_t>(pair >> 32); }
std::uint32_t low(std::uint64_t pair) { return static_cast<std::uint32_t>(pair); }

}  // namespace

task_map::task_map(const trace::recording& from, const std::vector<int>& node_of_worker) {
  struct work {
    std::uint64_t ns;
    const trace::record* what;
    owner who;
  };
  std::vector<work> all;
  has_nodes_ = !node_of_worker.empty();
  for (const trace::worker_log& log : from.workers) {
    if (log.lost != 0)
      throw std::runtime_error(
          fmt::format("the trace lost {} events of worker {}: HEDDLE_TRACE_BUFFER is too small", log.lost, log.worker));
    const int node = log.worker < node_of_worker.size() ? node_of_worker[log.worker] : -1;
    for (const trace::record& r : log.records) {
      if (r.event == trace::event::piece) all.push_back({r.ns, &r, {log.worker, node}});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const work& a, const work& b) { return std::pair(a.ns, a.who.worker) < std::pair(b.ns, b.who.worker); });
  for (const work& w : all) {
    piece& p = pieces_[{high(w.what->a), low(w.what->a)}];
    p.x_end = high(w.what->b);
    p.y_end = low(w.what->b);
    p.by_sweep.push_back(w.who);
  }
  // A piece that the set-up touches, but no sweep, would make sweeps of different lengths.
  sweeps_ = pieces_.empty() ? 0 : pieces_.begin()->second.by_sweep.size();
  for (const auto& [at, p] : pieces_) sweeps_ = std::min(sweeps_, p.by_sweep.size());
}

nlohmann::json task_map::as_json() const {
  nlohmann::json pieces = nlohmann::json::array();
  for (const auto& [at, p] : pieces_) {
    nlohmann::json owners = nlohmann::json::array();
    for (const owner& o : p.by_sweep) owners.insert(owners.end(), {o.worker, o.node});
    pieces.push_back({at.first, at.second, p.x_end, p.y_end, owners});
  }
  return {{"sweeps", sweeps_}, {"has_nodes", has_nodes_}, {"pieces", pieces}};
}

task_map task_map::from_json(const nlohmann::json& j) {
  task_map m;
  m.sweeps_ = j.at("sweeps");
  m.has_nodes_ = j.at("has_nodes");
  for (const nlohmann::json& p : j.at("pieces")) {
    piece& one = m.pieces_[{p.at(0), p.at(1)}];
    one.x_end = p.at(2);
    one.y_end = p.at(3);
    const nlohmann::json& owners = p.at(4);
    for (std::size_t i = 0; i + 1 < owners.size(); i += 2) one.by_sweep.push_back({owners.at(i), owners.at(i + 1)});
  }
  return m;
}

std::size_t task_map::index_of(int sweep) const {
  const std::size_t index = sweep < 0 ? sweeps_ - std::min<std::size_t>(sweeps_, static_cast<std::size_t>(-sweep))
                                      : static_cast<std::size_t>(sweep);
  if (index >= sweeps_) throw std::out_of_range(fmt::format("the task map has {} sweeps, no sweep {}", sweeps_, sweep));
  return index;
}

template <class Same>
double task_map::neighbours(int sweep, Same same) const {
  const std::size_t at = index_of(sweep);
  std::size_t pairs = 0, together = 0;
  for (const auto& [corner, p] : pieces_) {
    const task_map::corner beside[] = {{p.x_end, corner.second}, {corner.first, p.y_end}};
    for (const task_map::corner& c : beside) {
      const auto other = pieces_.find(c);
      if (other == pieces_.end()) continue;
      ++pairs;
      together += same(p.by_sweep[at], other->second.by_sweep[at]) ? 1 : 0;
    }
  }
  if (pairs == 0) throw std::out_of_range("the grid has a single piece, and so no neighbours");
  return static_cast<double>(together) / static_cast<double>(pairs);
}

double task_map::neighbours_on_one_worker(int sweep) const {
  return neighbours(sweep, [](const owner& a, const owner& b) { return a.worker == b.worker; });
}

double task_map::neighbours_on_one_node(int sweep) const {
  return neighbours(sweep, [](const owner& a, const owner& b) { return a.node == b.node; });
}

double task_map::moved(int sweep) const {
  const std::size_t at = index_of(sweep);
  if (at == 0) throw std::out_of_range("nothing has moved before the first sweep");
  std::size_t others = 0;
  for (const auto& [corner, p] : pieces_) others += p.by_sweep[at].worker != p.by_sweep[at - 1].worker ? 1 : 0;
  return static_cast<double>(others) / static_cast<double>(pieces_.size());
}

double task_map::steady() const {
  (void)index_of(0);
  std::size_t kept = 0;
  for (const auto& [corner, p] : pieces_) {
    kept += std::all_of(p.by_sweep.begin(), p.by_sweep.begin() + static_cast<std::ptrdiff_t>(sweeps_),
                        [&](const owner& o) { return o.worker == p.by_sweep[0].worker; })
                ? 1
                : 0;
  }
  return static_cast<double>(kept) / static_cast<double>(pieces_.size());
}

}  // namespace heddle::cli::paper
