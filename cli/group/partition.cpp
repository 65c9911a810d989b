#include "cli/group/partition.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#if defined(HEDDLE_METIS)
#include <metis.h>
#endif

namespace heddle::cli {

#if defined(HEDDLE_METIS)

namespace {

// METIS' numbers may have only 32 bits, so sums of weights are brought below that.
constexpr double most_weight = 1e8, most_edge_weight = 1e9;

idx_t scaled(double value, double scale) { return std::max<idx_t>(1, static_cast<idx_t>(value * scale)); }

}  // namespace

bool has_metis() noexcept { return true; }

std::vector<std::vector<unsigned>> partition(const sharing_graph& of, std::span<const unsigned> some,
                                             std::span<const double> shares) {
  std::vector<std::vector<unsigned>> parts(shares.size());
  if (shares.size() == 1 || some.empty()) {
    parts[0].assign(some.begin(), some.end());
    return parts;
  }
  if (some.size() <= shares.size()) {  // there is one task for each; METIS wants more tasks than parts
    for (std::size_t i = 0; i < some.size(); ++i) parts[i].push_back(some[i]);
    return parts;
  }
  constexpr unsigned none = std::numeric_limits<unsigned>::max();
  std::vector<unsigned> place(of.tasks(), none);
  for (unsigned i = 0; i < some.size(); ++i) place[some[i]] = i;
  double all_weight = 0, all_lines = 0;
  for (const unsigned t : some) {
    all_weight += of.weight(t);
    for (const sharing_graph::edge& e : of.edges(t))
      all_lines += place[e.to] != none ? static_cast<double>(e.lines) : 0;
  }
  const double weight_scale = all_weight > 0 ? most_weight / all_weight : 0;
  const double line_scale = all_lines > most_edge_weight ? most_edge_weight / all_lines : 1;
  std::vector<idx_t> begins{0}, neighbours, lines, weights;
  for (const unsigned t : some) {
    weights.push_back(scaled(of.weight(t), weight_scale));
    for (const sharing_graph::edge& e : of.edges(t)) {
      if (place[e.to] == none) continue;
      neighbours.push_back(static_cast<idx_t>(place[e.to]));
      lines.push_back(scaled(static_cast<double>(e.lines), line_scale));
    }
    begins.push_back(static_cast<idx_t>(neighbours.size()));
  }
  if (neighbours.empty()) neighbours.push_back(0), lines.push_back(0);  // METIS wants arrays
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<real_t> targets;
  for (const double s : shares) targets.push_back(static_cast<real_t>(s / sum));
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 42;
  options[METIS_OPTION_NCUTS] = 10;    // the best of this many
  options[METIS_OPTION_UFACTOR] = 10;  // a part may be 1 % too heavy
  auto count = static_cast<idx_t>(some.size()), constraints = idx_t{1}, wanted = static_cast<idx_t>(shares.size()),
       cut = idx_t{0};
  std::vector<idx_t> part(some.size(), 0);
  constexpr std::size_t few = 8;  // for few parts cutting by halves cuts less, says METIS' manual
  const auto by = shares.size() <= few ? METIS_PartGraphRecursive : METIS_PartGraphKway;
  const int status = by(&count, &constraints, begins.data(), neighbours.data(), weights.data(), nullptr, lines.data(),
                        &wanted, targets.data(), nullptr, options, &cut, part.data());
  if (status != METIS_OK) {
    throw std::runtime_error("METIS gives up on " + std::to_string(some.size()) + " tasks in " +
                             std::to_string(shares.size()) + " parts (status " + std::to_string(status) + ")");
  }
  for (std::size_t i = 0; i < some.size(); ++i) parts[static_cast<std::size_t>(part[i])].push_back(some[i]);
  return parts;
}

#else

bool has_metis() noexcept { return false; }

std::vector<std::vector<unsigned>> partition(const sharing_graph&, std::span<const unsigned> some,
                                             std::span<const double> shares) {
  if (shares.size() == 1) return {{some.begin(), some.end()}};
  throw std::runtime_error(
      "this heddle was built without METIS, which groups tasks: install it (Debian: libmetis-dev, `scripts/setup.sh "
      "group`), then configure and build anew");
}

#endif

}  // namespace heddle::cli
