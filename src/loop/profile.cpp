#include <heddle/detail/loop_profile.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heddle::detail {

namespace {

constexpr double whole_range = 4294967296.0;  // in the unit of borders
constexpr float tolerance = 0.05f;  // a share of the loop's work: an imbalance that is not worth other borders

}  // namespace

// The k-th border as a fraction of the range.
double loop_grid::border(unsigned k) const noexcept {
  if (k == 0 || k == profile_cells) return k == 0 ? 0 : 1;
  if (is_even()) return static_cast<double>(k) / profile_cells;
  return borders_[k].load(std::memory_order_relaxed) / whole_range;  // relaxed: a hint
}

// Returns true if the part to the left of every border took about its share of the time.
bool loop_grid::is_level(const shares& of) noexcept {
  float sum = 0;
  for (unsigned c = 0; c + 1 < profile_cells; ++c) {
    sum += of[c];
    if (std::abs(sum - static_cast<float>(c + 1) / profile_cells) > tolerance) return false;
  }
  return true;
}

// Computes new borders with an equal part of `work` in each cell. Within a present cell work is taken to be even.
void loop_grid::move_borders(const shares& work) noexcept {
  std::array<double, profile_cells + 1> now;
  for (unsigned k = 0; k <= profile_cells; ++k) now[k] = border(k);
  bool skewed = false;
  unsigned c = 0;
  double left_of_cell = 0;
  for (unsigned k = 1; k < profile_cells; ++k) {
    const double wanted = static_cast<double>(k) / profile_cells;
    while (c + 1 < profile_cells && left_of_cell + work[c] < wanted) left_of_cell += work[c++];
    const double part = work[c] > 0 ? std::clamp((wanted - left_of_cell) / work[c], 0.0, 1.0) : 0;
    const double at = now[c] + part * (now[c + 1] - now[c]);
    skewed = skewed || std::abs(at - wanted) > tolerance;
    // Rounded up, so that a border at a whole iteration is found there again.
    borders_[k].store(static_cast<std::uint32_t>(std::min(std::ceil(at * whole_range), whole_range - 1)),
                      std::memory_order_relaxed);  // a hint
  }
  skewed_.store(skewed, std::memory_order_relaxed);  // a hint
}

// All accesses are to hints. Two loops of a site that learn at the same time may leave a mixture of both their
// measurements, which `begin` puts in order and the next measured loops correct.
bool loop_grid::learn(const loop_profile& seen) noexcept {
  const double total = static_cast<double>(std::accumulate(seen.took_.begin(), seen.took_.end(), std::uint64_t{0}));
  if (total <= 0) return false;
  shares now;
  std::transform(seen.took_.begin(), seen.took_.end(), now.begin(),
                 [&](std::uint64_t cycles) { return static_cast<float>(static_cast<double>(cycles) / total); });
  const bool doubted = doubted_.load(std::memory_order_relaxed);
  if (is_level(now)) {
    if (doubted) doubted_.store(false, std::memory_order_relaxed);
    return false;
  }
  if (doubted) {
    shares both;
    float sum = 0;
    for (unsigned c = 0; c < profile_cells; ++c) {
      both[c] = std::min(now[c], before_[c].load(std::memory_order_relaxed));
      sum += both[c];
    }
    for (float& share : both) share /= std::max(sum, 1e-6f);
    if (sum > 0.5f && !is_level(both)) {
      move_borders(both);
      doubted_.store(false, std::memory_order_relaxed);
      return true;
    }
  }
  for (unsigned c = 0; c < profile_cells; ++c) before_[c].store(now[c], std::memory_order_relaxed);
  doubted_.store(true, std::memory_order_relaxed);
  return !doubted;  // times that vary from loop to loop are no reason to measure each loop
}

void loop_profile::begin(const loop_grid& grid, std::size_t n) noexcept {
  border_[0] = 0;
  for (unsigned k = 1; k <= profile_cells; ++k) {
    border_[k] = std::max(border_[k - 1], grid.border(k) * static_cast<double>(n));
  }
  took_.fill(0);
}

// The last cell that begins at or before a position. Cells without a width are skipped.
unsigned loop_profile::cell_of(double position) const noexcept {
  unsigned c = 0;
  for (unsigned step = profile_cells / 2; step != 0; step /= 2) {
    if (border_[c + step] <= position) c += step;
  }
  return c;
}

double loop_profile::work_before(double position) const noexcept {
  if (position >= border_[profile_cells]) return profile_cells;
  const unsigned c = cell_of(position);
  const double width = border_[c + 1] - border_[c];
  return width > 0 ? c + (position - border_[c]) / width : c;
}

std::size_t loop_profile::middle(std::size_t low, std::size_t high) const noexcept {
  const double wanted = (work_before(static_cast<double>(low)) + work_before(static_cast<double>(high))) / 2;
  const unsigned c = std::min(static_cast<unsigned>(wanted), profile_cells - 1);
  const double at = border_[c] + (wanted - c) * (border_[c + 1] - border_[c]);
  std::size_t first = at > static_cast<double>(low) ? static_cast<std::size_t>(at - static_cast<double>(low) + 0.5) : 0;
  constexpr std::size_t line = 16, many = 4 * line;  // as loop_middle does
  if (first >= many && low + first + many <= high) first = (first + line / 2) & ~(line - 1);
  return low + std::clamp(first, std::size_t{1}, high - low - 1);
}

void loop_profile::add(std::size_t low, std::size_t high, std::uint64_t cycles) noexcept {
  const double from = static_cast<double>(low), to = static_cast<double>(high);
  for (unsigned c = cell_of(from); c < profile_cells && border_[c] < to; ++c) {
    const double inside = std::min(to, border_[c + 1]) - std::max(from, border_[c]);
    if (inside <= 0) continue;
    const auto part = static_cast<std::uint64_t>(static_cast<double>(cycles) * inside / (to - from));
    // relaxed: read after the joins of all pieces
    std::atomic_ref(took_[c]).fetch_add(part, std::memory_order_relaxed);
  }
}

}  // namespace heddle::detail
