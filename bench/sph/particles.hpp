// A column of water in a box, as particles under a quadtree or octree: what the kernels sph2d and sph3d compute with.
// Weakly compressible smoothed particle hydrodynamics: Becker, Teschner 2007 (cubic spline, Tait's equation, artificial
// viscosity). Walls reflect. Compiled with -ffp-contract=off, so that sums come out the same from every compiler.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "harness/cost.hpp"
#include "harness/placement.hpp"
#include "harness/random.hpp"

namespace heddle::bench {

inline constexpr std::size_t sph_leaf = 64;  // particles: FDPS's group size
// A pair of particles that is looked at, by dimensions; near enough is every tenth in the plane, every fifth in space.
// Measured as the cycles of the other new kernels: docs/investigations/heat2d-locality.md.
inline constexpr double sph_density_cycles[] = {0, 0, 6.5, 16.5}, sph_force_cycles[] = {0, 0, 10, 22.5};

template <int D>
struct sph_particle {
  double x[D], v[D];
  double density, pressure;
};

template <int D>
struct sph_node {
  std::size_t first, last;        // its particles
  std::uint32_t children, count;  // its children's numbers; count 0: a leaf
  double low[D], high[D];         // around the particles
};

template <int D>
class sph_water {
 public:
  using particle = sph_particle<D>;
  using node = sph_node<D>;
  static constexpr double gravity = 9.81, rest = 1000;

  // At most n particles: a column a quarter of the box wide, twice as high (three times as deep as wide in space).
  sph_water(std::size_t n, touch how) {
    const double cells = D == 2 ? static_cast<double>(n) / 2 : static_cast<double>(n) / 4;
    side_ = std::max<std::size_t>(static_cast<std::size_t>(D == 2 ? std::sqrt(cells) : std::cbrt(cells)), 2);
    size_ = side_ * side_ * 2;
    if (D == 3) size_ *= 2 * side_;
    spacing_ = 0.25 / static_cast<double>(side_);
    reach_ = 2.4 * spacing_;
    box_[0] = 1;
    box_[1] = 1;
    if constexpr (D == 3) box_[2] = 0.5;
    mass_ = rest;
    for (int d = 0; d < D; ++d) mass_ *= spacing_;
    const double smoothing = reach_ / 2;
    const double scale = D == 2 ? 10 / (7 * 3.14159265358979) : 1 / 3.14159265358979;
    norm_ = scale;
    for (int d = 0; d < D; ++d) norm_ /= smoothing;
    sound_ = 10 * std::sqrt(gravity * 0.5);
    step_ = 0.2 * smoothing / sound_;
    now_ = placed_array<particle>(size_, how);
    sorted_ = placed_array<particle>(size_, how);
    pull_ = placed_array<std::array<double, D>>(size_, how);
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const std::vector<node>& nodes() const { return nodes_; }

  void reset() {
    std::size_t at = 0;
    const std::size_t depth = D == 3 ? 2 * side_ : 1;
    for (std::size_t i = 0; i < side_; ++i) {
      for (std::size_t j = 0; j < 2 * side_; ++j) {
        for (std::size_t k = 0; k < depth; ++k, ++at) {
          particle p{};
          const std::size_t cell[3] = {i, j, k};
          for (int d = 0; d < D; ++d) {
            const double jitter =
                static_cast<double>(mix64(at * 3 + static_cast<std::size_t>(d)) >> 11) * 0x1p-53 - 0.5;
            p.x[d] = (static_cast<double>(cell[d]) + 0.5 + 0.1 * jitter) * spacing_;
          }
          now_[at] = p;
        }
      }
    }
  }

  // Particles in the order of a space-filling curve, and the tree over them.
  void build() {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> keys(size_);
    for (std::size_t i = 0; i < size_; ++i) keys[i] = {key_of(now_[i]), static_cast<std::uint32_t>(i)};
    std::sort(keys.begin(), keys.end());
    for (std::size_t i = 0; i < size_; ++i) sorted_[i] = now_[keys[i].second];
    std::swap(now_, sorted_);
    nodes_.clear();
    nodes_.push_back({0, size_, 0, 0, {}, {}});
    for (std::size_t i = 0; i < nodes_.size(); ++i) split(i, keys);
    for (std::size_t i = nodes_.size(); i-- > 0;) bound(nodes_[i]);
  }

  // Computes the densities and pressures of a leaf's particles, and then the forces on them. May run for all leaves at
  // the same time, one pass after the other.
  void density(const node& leaf) {
    if (!begin(leaf, sph_density_cycles[D])) return;
    const neighbours near = around(leaf);
    const double smoothing = reach_ / 2;
    const double stiffness = rest * sound_ * sound_ / 7;
    for (std::size_t i = leaf.first; i < leaf.last; ++i) {
      particle& p = now_[i];
      double sum = 0;
      for (const auto& [first, last] : near) {
        for (std::size_t j = first; j < last; ++j) {
          const double square = squared_distance(p, now_[j]);
          if (square < reach_ * reach_) sum += weight(std::sqrt(square) / smoothing);
        }
      }
      p.density = mass_ * norm_ * sum;
      const double compressed = p.density / rest;
      const double cube = compressed * compressed * compressed;
      p.pressure = std::max(0.0, stiffness * (cube * cube * compressed - 1));
    }
  }
  void force(const node& leaf) {
    if (!begin(leaf, sph_force_cycles[D])) return;
    const neighbours near = around(leaf);
    const double smoothing = reach_ / 2;
    for (std::size_t i = leaf.first; i < leaf.last; ++i) {
      const particle& p = now_[i];
      std::array<double, D> sum{};
      const double own = p.pressure / (p.density * p.density);
      for (const auto& [first, last] : near) {
        for (std::size_t j = first; j < last; ++j) {
          const particle& o = now_[j];
          const double square = squared_distance(p, o);
          if (square >= reach_ * reach_ || square == 0) continue;  // a particle itself has distance 0
          const double r = std::sqrt(square), q = r / smoothing;
          double approach = 0;
          for (int d = 0; d < D; ++d) approach += (p.v[d] - o.v[d]) * (p.x[d] - o.x[d]);
          double push = own + o.pressure / (o.density * o.density);
          if (approach < 0) {  // viscosity
            const double mu = smoothing * approach / (square + 0.01 * smoothing * smoothing);
            push -= 0.1 * sound_ * mu / ((p.density + o.density) / 2);
          }
          const double factor = -mass_ * push * norm_ * slope(q) / (smoothing * r);
          for (int d = 0; d < D; ++d) sum[static_cast<std::size_t>(d)] += factor * (p.x[d] - o.x[d]);
        }
      }
      sum[1] -= gravity;
      pull_[i] = sum;
    }
  }
  void move(std::size_t first, std::size_t last) {
    if (told::only()) return;
    for (std::size_t i = first; i < last; ++i) {
      particle& p = now_[i];
      for (int d = 0; d < D; ++d) {
        p.v[d] += step_ * pull_[i][static_cast<std::size_t>(d)];
        p.x[d] += step_ * p.v[d];
        if (p.x[d] < 0) p.x[d] = -p.x[d], p.v[d] = -0.5 * p.v[d];
        if (p.x[d] > box_[d]) p.x[d] = 2 * box_[d] - p.x[d], p.v[d] = -0.5 * p.v[d];
      }
    }
  }

  [[nodiscard]] const particle* particles() const { return now_.data(); }
  [[nodiscard]] const std::array<double, D>& pull(std::size_t i) const { return pull_[i]; }

  [[nodiscard]] std::uint64_t checksum() const {
    digest d;
    for (const particle& p : now_) {
      for (const double x : p.x) d.add(std::bit_cast<std::uint64_t>(x));
    }
    return d.value();
  }

 private:
  using neighbours = std::vector<std::pair<std::size_t, std::size_t>>;
  static constexpr int bits = 20;  // of each coordinate in a key

  std::uint64_t key_of(const particle& p) const {
    std::uint64_t key = 0;
    for (int d = 0; d < D; ++d) {
      const double scaled = std::clamp(p.x[d], 0.0, 1.0) * ((1 << bits) - 1);
      const auto cell = static_cast<std::uint64_t>(scaled);
      for (int b = 0; b < bits; ++b) key |= (cell >> b & 1) << (b * D + d);
    }
    return key;
  }

  // By the digit of the keys below those that all its particles share.
  void split(std::size_t index, const std::vector<std::pair<std::uint64_t, std::uint32_t>>& keys) {
    const std::size_t first = nodes_[index].first, last = nodes_[index].last;
    if (last - first <= sph_leaf) return;
    const std::uint64_t differ = keys[first].first ^ keys[last - 1].first;
    if (differ == 0) return;
    const int shift = (std::bit_width(differ) - 1) / D * D;
    nodes_[index].children = static_cast<std::uint32_t>(nodes_.size());
    for (std::size_t begin = first; begin < last;) {
      const std::uint64_t digit = keys[begin].first >> shift;
      std::size_t end = begin;
      while (end < last && keys[end].first >> shift == digit) ++end;
      nodes_.push_back({begin, end, 0, 0, {}, {}});
      ++nodes_[index].count;
      begin = end;
    }
  }
  void bound(node& n) const {
    for (int d = 0; d < D; ++d) n.low[d] = 1e30, n.high[d] = -1e30;
    if (n.count == 0) {
      for (std::size_t i = n.first; i < n.last; ++i) {
        for (int d = 0; d < D; ++d)
          n.low[d] = std::min(n.low[d], now_[i].x[d]), n.high[d] = std::max(n.high[d], now_[i].x[d]);
      }
    }
    for (std::uint32_t c = n.children; c < n.children + n.count; ++c) {
      for (int d = 0; d < D; ++d)
        n.low[d] = std::min(n.low[d], nodes_[c].low[d]), n.high[d] = std::max(n.high[d], nodes_[c].high[d]);
    }
  }

  // Returns the leaves that may hold something within reach of `leaf`, in the order of the tree.
  neighbours around(const node& leaf) const {
    neighbours found;
    collect(nodes_[0], leaf, found);
    return found;
  }
  void collect(const node& at, const node& leaf, neighbours& found) const {
    for (int d = 0; d < D; ++d) {
      if (at.low[d] > leaf.high[d] + reach_ || leaf.low[d] > at.high[d] + reach_) return;
    }
    if (at.count == 0) found.emplace_back(at.first, at.last);
    for (std::uint32_t c = at.children; c < at.children + at.count; ++c) collect(nodes_[c], leaf, found);
  }

  // Declares the cost of a pass over a leaf. Returns false if the pass must not be computed.
  bool begin(const node& leaf, double cycles) const {
    if (told::model() == nullptr) [[likely]]
      return true;
    double pairs = 0;
    for (const auto& [first, last] : around(leaf)) {
      told::read(now_.data() + first, (last - first) * sizeof(particle));
      pairs += static_cast<double>(last - first) * static_cast<double>(leaf.last - leaf.first);
    }
    told::write(now_.data() + leaf.first, (leaf.last - leaf.first) * sizeof(particle));
    told::cycles(cycles * pairs);
    return !told::only();
  }

  static double squared_distance(const particle& a, const particle& b) {
    double sum = 0;
    for (int d = 0; d < D; ++d) sum += (a.x[d] - b.x[d]) * (a.x[d] - b.x[d]);
    return sum;
  }
  static double weight(double q) {
    if (q < 1) return 1 - 1.5 * q * q + 0.75 * q * q * q;
    return 0.25 * (2 - q) * (2 - q) * (2 - q);
  }
  static double slope(double q) {
    if (q < 1) return -3 * q + 2.25 * q * q;
    return -0.75 * (2 - q) * (2 - q);
  }

  std::size_t side_, size_;
  double spacing_, reach_, mass_, norm_, sound_, step_;
  double box_[D];
  placed_array<particle> now_, sorted_;
  placed_array<std::array<double, D>> pull_;
  std::vector<node> nodes_;
};

}  // namespace heddle::bench
