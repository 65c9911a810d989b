// A small molecular dynamics program: atoms with the Lennard-Jones potential in a periodic
// box, cell lists, velocity Verlet. Reduced units. Potential and integrator as in Allen,
// Tildesley, "Computer Simulation of Liquids" (2nd edition, 2017), chapters 1, 3 and 5.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace insitu {

struct point {
  double x{0}, y{0}, z{0};
};

class fluid {
 public:
  static constexpr double density = 0.8442, cutoff = 2.5, step_length = 0.004;

  // 4 side^3 atoms on a face-centred cubic lattice, velocities at
  // random with the given temperature and no total momentum. side >= 5.
  explicit fluid(unsigned side, double temperature = 1.0, std::uint64_t seed = 1)
      : box_(side * std::cbrt(4 / density)),
        per_side_(static_cast<std::size_t>(box_ / cutoff)),
        first_(per_side_ * per_side_ * per_side_ + 1) {
    const double a = box_ / side;
    for (unsigned i = 0; i < side; ++i) {
      for (unsigned j = 0; j < side; ++j) {
        for (unsigned k = 0; k < side; ++k) {
          for (const point& p : {point{0, 0, 0}, point{.5, .5, 0}, point{.5, 0, .5}, point{0, .5, .5}}) {
            at_.push_back({(i + p.x + .25) * a, (j + p.y + .25) * a, (k + p.z + .25) * a});
          }
        }
      }
    }
    const auto uniform = [&seed] {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      return static_cast<double>(seed >> 11) * 0x1p-53 - 0.5;
    };
    point sum;
    for (std::size_t i = 0; i < at_.size(); ++i) {
      velocity_.push_back({uniform(), uniform(), uniform()});
      sum.x += velocity_[i].x, sum.y += velocity_[i].y, sum.z += velocity_[i].z;
    }
    const auto n = static_cast<double>(at_.size());
    for (point& v : velocity_) v.x -= sum.x / n, v.y -= sum.y / n, v.z -= sum.z / n;
    const double scale = std::sqrt(1.5 * n * temperature / kinetic_energy());
    for (point& v : velocity_) v.x *= scale, v.y *= scale, v.z *= scale;
    force_.resize(at_.size());
    sort_into_cells();
    potential_ = compute_forces(0, 1, 1);
  }

  std::size_t atoms() const { return at_.size(); }
  double box() const { return box_; }
  const std::vector<point>& positions() const { return at_; }
  double total_energy() const { return potential_ + kinetic_energy(); }
  double kinetic_energy() const {
    double sum = 0;
    for (const point& v : velocity_) sum += v.x * v.x + v.y * v.y + v.z * v.z;
    return sum / 2;
  }

  // One step of velocity Verlet. for_parts(f) calls f(part, parts) for all
  // parts, in any order or at once, and returns when all have returned.
  template <class ForParts>
  void step(unsigned parts, ForParts&& for_parts) {
    for (std::size_t i = 0; i < at_.size(); ++i) {
      kick(i);
      at_[i].x = wrap(at_[i].x + step_length * velocity_[i].x);
      at_[i].y = wrap(at_[i].y + step_length * velocity_[i].y);
      at_[i].z = wrap(at_[i].z + step_length * velocity_[i].z);
    }
    sort_into_cells();
    energies_.assign(parts, {});
    for_parts([this](unsigned part, unsigned of) { energies_[part].value = compute_forces(part, part + 1, of); });
    potential_ = 0;
    for (const auto& e : energies_) potential_ += e.value;
    for (std::size_t i = 0; i < at_.size(); ++i) kick(i);
  }

 private:
  struct alignas(64) partial {
    double value{0};
  };

  void kick(std::size_t i) {
    velocity_[i].x += step_length / 2 * force_[i].x;
    velocity_[i].y += step_length / 2 * force_[i].y;
    velocity_[i].z += step_length / 2 * force_[i].z;
  }
  double wrap(double x) const { return x < 0 ? x + box_ : x >= box_ ? x - box_ : x; }
  double nearest(double d) const { return d > box_ / 2 ? d - box_ : d < -box_ / 2 ? d + box_ : d; }
  std::size_t slice(double x) const {
    return std::min(static_cast<std::size_t>(x / box_ * static_cast<double>(per_side_)), per_side_ - 1);
  }
  std::size_t cell_of(const point& p) const { return (slice(p.x) * per_side_ + slice(p.y)) * per_side_ + slice(p.z); }

  void sort_into_cells() {
    std::fill(first_.begin(), first_.end(), 0);
    for (const point& p : at_) ++first_[cell_of(p) + 1];
    for (std::size_t c = 1; c < first_.size(); ++c) first_[c] += first_[c - 1];
    filled_.assign(first_.begin(), first_.end() - 1);
    index_.resize(at_.size());
    for (std::size_t i = 0; i < at_.size(); ++i) index_[filled_[cell_of(at_[i])]++] = i;
    sorted_.resize(at_.size());
    for (std::size_t i = 0; i < at_.size(); ++i) sorted_[i] = at_[index_[i]];
  }

  // Computes the forces on the atoms of a share of the cells. Each share computes both directions of
  // its pairs itself, so that shares write no common data. Returns the share's potential energy. The potential is
  // cut and shifted, with its force, so that both are continuous: energy is conserved.
  double compute_forces(unsigned begin, unsigned end, unsigned of) {
    const std::size_t cells = first_.size() - 1;
    constexpr double r6 = 1 / (cutoff * cutoff * cutoff * cutoff * cutoff * cutoff);
    constexpr double force_at_cut = 24 * (2 * r6 * r6 - r6) / cutoff, energy_at_cut = 4 * (r6 * r6 - r6);
    double energy = 0;
    for (std::size_t c = cells * begin / of; c < cells * end / of; ++c) {
      const std::array<std::size_t, 3> at{c / (per_side_ * per_side_), c / per_side_ % per_side_, c % per_side_};
      for (std::size_t a = first_[c]; a < first_[c + 1]; ++a) {
        const point p = sorted_[a];
        point f;
        for (std::size_t n = 0; n < 27; ++n) {
          const std::size_t i = (at[0] + n / 9 + per_side_ - 1) % per_side_,
                            j = (at[1] + n / 3 % 3 + per_side_ - 1) % per_side_,
                            k = (at[2] + n % 3 + per_side_ - 1) % per_side_,
                            other = (i * per_side_ + j) * per_side_ + k;
          for (std::size_t b = first_[other]; b < first_[other + 1]; ++b) {
            const double dx = nearest(p.x - sorted_[b].x), dy = nearest(p.y - sorted_[b].y),
                         dz = nearest(p.z - sorted_[b].z);
            const double rr = dx * dx + dy * dy + dz * dz;
            if (rr >= cutoff * cutoff || a == b) continue;
            const double r = std::sqrt(rr), s6 = 1 / (rr * rr * rr), push = 24 * (2 * s6 * s6 - s6) / r - force_at_cut;
            f.x += push * dx / r, f.y += push * dy / r, f.z += push * dz / r;
            energy += 2 * (s6 * s6 - s6) - energy_at_cut / 2 + force_at_cut * (r - cutoff) / 2;
          }
        }
        force_[index_[a]] = f;
      }
    }
    return energy;
  }

  double box_;
  std::size_t per_side_;  // cells along an edge
  std::vector<point> at_, velocity_, force_, sorted_;
  std::vector<std::size_t> first_, filled_, index_;
  std::vector<partial> energies_;
  double potential_{0};
};

// Distances between atoms, counted: the radial distribution function g(r) up to half the box, when normalised.
class radial_distribution {
 public:
  static constexpr std::size_t bins = 128;
  using counts = std::array<std::uint64_t, bins>;

  explicit radial_distribution(unsigned parts) : counts_(parts) {}
  void take(const fluid& from) {
    at_.assign(from.positions().begin(), from.positions().end());
    box_ = from.box();
    for (counts& c : counts_) c.fill(0);
  }
  // Counts one share of the pairs. It touches only its own counts and numbers on its stack.
  void count(unsigned part) {
    counts& mine = counts_[part];
    const double per_length = 2 * bins / box_;
    for (std::size_t i = part; i < at_.size(); i += counts_.size()) {
      for (std::size_t j = 0; j < i; ++j) {
        const double dx = nearest(at_[i].x - at_[j].x), dy = nearest(at_[i].y - at_[j].y),
                     dz = nearest(at_[i].z - at_[j].z);
        const auto bin = static_cast<std::size_t>(std::sqrt(dx * dx + dy * dy + dz * dz) * per_length);
        if (bin < bins) ++mine[bin];
      }
    }
  }
  unsigned parts() const { return static_cast<unsigned>(counts_.size()); }
  // Returns g of a bin. It is 1 where atoms are as frequent as in a uniform distribution.
  double g(std::size_t bin) const {
    std::uint64_t sum = 0;
    for (const counts& c : counts_) sum += c[bin];
    const double width = box_ / 2 / bins, inner = static_cast<double>(bin) * width, outer = inner + width;
    const auto n = static_cast<double>(at_.size());
    const double shell = 4 * std::numbers::pi / 3 * (outer * outer * outer - inner * inner * inner);
    return static_cast<double>(sum) / (n * (n - 1) / 2 * shell / (box_ * box_ * box_));
  }
  double radius(std::size_t bin) const { return (static_cast<double>(bin) + .5) * box_ / 2 / bins; }

 private:
  double nearest(double d) const { return d > box_ / 2 ? d - box_ : d < -box_ / 2 ? d + box_ : d; }
  std::vector<point> at_;
  std::vector<counts> counts_;
  double box_{1};
};

}  // namespace insitu
