#include "binning.hpp"

#include "../harness/cost.hpp"

#include <bit>
#include <limits>
#include <utility>

namespace heddle::bench::decision_tree {

namespace {

// A float v with below <= v < above, so that "value <= v" separates the two whatever the rounding.
float between(float below, float above) {
  float const middle = below / 2 + above / 2;
  return (middle >= below && middle < above ? middle : below) + 0.0f;  // no -0: see key_of
}

// The bits, arranged to grow with the value. -0 comes before 0, which is
// harmless: no cut is -0, and runs of equal values are found by comparison.
std::uint32_t ordered(float value) {
  auto const bits = std::bit_cast<std::uint32_t>(value);
  auto const sign = static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31);
  return bits ^ (sign | 0x80000000u);
}

std::uint32_t key_of(float value) { return ordered(value) >> 16; }

// Radix sort, 11 bits at a time: several times faster here than comparing, whose branches nothing predicts.
void sort(std::vector<float>& values) {
  constexpr unsigned digit_bits = 11;
  constexpr std::uint32_t digits = 1u << digit_bits;
  std::vector<float> other(values.size());
  for (unsigned shift = 0; shift < 32; shift += digit_bits) {
    std::array<std::uint32_t, digits> place{};
    for (float value : values) ++place[(ordered(value) >> shift) % digits];
    std::uint32_t sum = 0;
    for (std::uint32_t& at : place) sum += std::exchange(at, sum);
    for (float value : values) other[place[(ordered(value) >> shift) % digits]++] = value;
    values.swap(other);
  }
}

}  // namespace

feature_cuts find_cuts(std::vector<float>& sample, std::size_t bins) {
  feature_cuts cuts;
  cuts.fill(std::numeric_limits<float>::infinity());
  if (told::model() != nullptr) [[unlikely]] {
    for (int pass = 0; pass < 3; ++pass) told::write(sample.data(), sample.size() * sizeof(float));
    told::cycles(12 * static_cast<double>(sample.size()));
  }
  sort(sample);
  std::size_t const total = sample.size();

  struct run {
    float value;
    std::size_t count;
  };
  std::vector<run> runs;
  for (std::size_t i = 0; i < total;) {
    std::size_t const begin = i;
    while (i < total && sample[i] == sample[begin]) ++i;
    runs.push_back({sample[begin], i - begin});
  }

  // Greedy: close a bin when it holds its share of what is left, or when the next value alone fills one.
  std::size_t made = 0;
  std::size_t in_bin = 0;
  std::size_t left = total;
  bool const each_its_own = runs.size() <= bins;
  for (std::size_t i = 0; i + 1 < runs.size() && made + 1 < bins; ++i) {
    in_bin += runs[i].count;
    std::size_t const share = std::max<std::size_t>(1, left / (bins - made));
    if (!each_its_own && in_bin < share && runs[i + 1].count < share) continue;
    cuts[made++] = between(runs[i].value, runs[i + 1].value);
    left -= in_bin;
    in_bin = 0;
  }
  return cuts;
}

quantiser::quantiser(feature_cuts const& cuts) {
  cuts_.fill(std::numeric_limits<float>::infinity());
  std::copy(cuts.begin(), cuts.end(), cuts_.begin());
  auto const last = static_cast<std::size_t>(
      std::find(cuts.begin(), cuts.end(), std::numeric_limits<float>::infinity()) - cuts.begin());
  std::size_t most = 0;  // cuts with one key
  std::size_t cut = 0;
  auto filled = start_.begin();
  while (cut < last) {
    std::uint32_t const key = key_of(cuts[cut]);
    std::size_t const first = cut;
    while (cut < last && key_of(cuts[cut]) == key) ++cut;
    most = std::max(most, cut - first);
    auto const next = start_.begin() + key + 1;
    std::fill(filled, next, static_cast<std::uint8_t>(first));
    filled = next;
  }
  std::fill(filled, start_.end(), static_cast<std::uint8_t>(last));
  first_step_ = static_cast<std::uint32_t>(std::bit_floor(most));
}

void quantiser::apply(float const* values, std::size_t count, std::uint8_t* out, std::size_t stride) const {
  if (told::model() != nullptr) [[unlikely]] {
    told::read(values, count * sizeof(float));
    told::write(out, count * stride);
    told::cycles(6 * static_cast<double>(count));
  }
  // Several values at a time: a search is a chain of dependent loads, and chains overlap.
  constexpr std::size_t lanes = 8;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    std::array<std::uint32_t, lanes> bin;
    for (std::size_t lane = 0; lane < lanes; ++lane) bin[lane] = start_[key_of(values[i + lane])];
    for (std::uint32_t step = first_step_; step != 0; step /= 2) {
      for (std::size_t lane = 0; lane < lanes; ++lane)
        bin[lane] += cuts_[bin[lane] + step - 1] < values[i + lane] ? step : 0;
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) out[(i + lane) * stride] = static_cast<std::uint8_t>(bin[lane]);
  }
  for (; i < count; ++i) {
    std::uint32_t bin = start_[key_of(values[i])];
    for (std::uint32_t step = first_step_; step != 0; step /= 2) bin += cuts_[bin + step - 1] < values[i] ? step : 0;
    out[i * stride] = static_cast<std::uint8_t>(bin);
  }
}

}  // namespace heddle::bench::decision_tree
