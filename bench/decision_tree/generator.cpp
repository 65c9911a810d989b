#include "generator.hpp"

#include "../harness/random.hpp"

#include <algorithm>
#include <cstdlib>

namespace heddle::bench::decision_tree {

namespace {

using fixed = std::int64_t;  // 2^-15, unless said otherwise
constexpr fixed one = fixed{1} << 15;

// Draws of one row: hash of (seed, row, position), 16 bits at a time.
class draws {
 public:
  draws(std::uint64_t seed, std::uint64_t row) : key_(mix64(mix64(seed) ^ row)) {}

  fixed bits16() {
    if (left_ == 0) {
      word_ = mix64(key_ + ++used_);
      left_ = 4;
    }
    fixed const value = static_cast<fixed>(word_ & 0xffff);
    word_ >>= 16;
    --left_;
    return value;
  }

  // Sum of four uniform draws, standard deviation 1.15.
  fixed bell() { return bits16() + bits16() + bits16() + bits16() - 131070; }

  // Positive, skewed to the right, mean near 1.
  fixed skewed() {
    fixed const a = bits16();
    fixed const b = bits16();
    return one / 4 + ((a * b) >> 16) / 2 + (((a * a) >> 16) * b >> 17);
  }

 private:
  std::uint64_t key_;
  std::uint64_t used_ = 0;
  std::uint64_t word_ = 0;
  unsigned left_ = 0;
};

constexpr fixed times(fixed a, fixed b) { return (a * b) / one; }

// Angles take the whole circle to [-one, one).
constexpr fixed wrapped_distance(fixed a, fixed b) {
  fixed const d = a < b ? b - a : a - b;
  return d > one ? 2 * one - d : d;
}

// one at the centre, falling to 0 at `width` from it.
constexpr fixed window(fixed x, fixed centre, fixed width) {
  fixed const d = x < centre ? centre - x : x - centre;
  return d >= width ? 0 : one - d * one / width;
}

// Returns the invariant mass of two massless objects, with the hyperbolic cosine and the cosine cut after the square.
fixed pair_mass(fixed momentum_a, fixed momentum_b, fixed rapidity_distance, fixed angle_distance) {
  fixed const opening = times(rapidity_distance, rapidity_distance) / 2 + 3 * times(angle_distance, angle_distance);
  return times(times(momentum_a, momentum_b), opening) / 2;
}

}  // namespace

generated_row generate_row(std::uint64_t seed, std::uint64_t row) {
  draws draw(seed, row);
  constexpr std::size_t objects = 5;  // a lepton and four jets
  std::array<fixed, objects> momentum{};
  std::array<fixed, objects> rapidity{};
  std::array<fixed, objects> angle{};
  std::array<fixed, objects> tag{};
  for (std::size_t i = 0; i < objects; ++i) {
    momentum[i] = draw.skewed();
    rapidity[i] = draw.bell();
    angle[i] = draw.bits16() - one;
    fixed const kind = draw.bits16();
    tag[i] = kind < 30000 ? 0 : kind < 48000 ? one + one / 12 : 2 * one + one / 6;
  }
  fixed const missing = draw.skewed();
  fixed const missing_angle = draw.bits16() - one;

  auto const mass = [&](std::size_t a, std::size_t b) {
    return pair_mass(momentum[a], momentum[b], std::abs(rapidity[a] - rapidity[b]),
                     wrapped_distance(angle[a], angle[b]));
  };
  std::array<fixed, 7> derived{};
  derived[0] = mass(1, 2);
  derived[1] = mass(3, 4);
  derived[2] = mass(1, 3);
  derived[3] = mass(2, 4);
  derived[4] = times(times(momentum[0], missing), wrapped_distance(angle[0], missing_angle)) * 2;
  derived[5] = (derived[0] + derived[2] + mass(2, 3)) / 2;
  derived[6] = (derived[1] + derived[4] + derived[3]) / 2;

  fixed score = -one / 10;
  score += window(derived[0], one * 3 / 4, one * 2 / 3) * 3 / 2;
  score += window(derived[1], one * 5 / 4, one * 3 / 4);
  score -= window(derived[4], one / 4, one / 4);
  score += (times(rapidity[0], rapidity[1]) > 0) == (tag[1] > tag[2]) ? one / 4 : -one / 4;
  score += (wrapped_distance(angle[1], angle[2]) - one / 2) * 2 / 3;
  score += tag[3] != 0 && momentum[3] < momentum[0] ? one / 3 : -one / 6;
  score -= std::min(derived[6], 3 * one) / 5;

  // Even far from the border 8 % of the labels are wrong.
  fixed const chance = std::clamp(one / 2 + score * 4 / 5, one * 8 / 100, one * 92 / 100);
  std::uint8_t const label = draw.bits16() < 2 * chance ? 1 : 0;

  generated_row result{{}, label};
  std::size_t next = 0;
  auto const put = [&](fixed value) { result.features[next++] = static_cast<float>(value) / static_cast<float>(one); };
  for (std::size_t i = 0; i < objects; ++i) {
    put(momentum[i]);
    put(rapidity[i]);
    put(angle[i]);
  }
  for (std::size_t i = 1; i < objects; ++i) put(tag[i]);
  put(missing);
  put(missing_angle);
  for (fixed value : derived) put(std::min(value, 256 * one));  // 24 bits hold it exactly
  return result;
}

void generate_rows(std::uint64_t seed, std::size_t first, std::size_t last, dataset& into) {
  for (std::size_t row = first; row < last; ++row) {
    generated_row const made = generate_row(seed, row);
    for (std::size_t feature = 0; feature < generated_features; ++feature)
      into.columns[feature][row] = made.features[feature];
    into.labels[row] = made.label;
  }
}

}  // namespace heddle::bench::decision_tree
