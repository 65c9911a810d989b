// Quantisation: each feature is cut into at most 256 bins of about equally many rows, once,
// before training, as LightGBM does (Ke et al. 2017), which the source of the trainer names;
// it leaves the choice of bins open itself. A value becomes one byte; a row of 28 features
// and its label becomes 32 bytes, half a cache line, and is read in no other form again.
#pragma once

#include "dataset.hpp"
#include "executor.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace heddle::bench::decision_tree {

inline constexpr std::size_t most_bins = 256;

// Cuts in ascending order; unused ones are infinite. The bin of a value is the number of cuts below it.
using feature_cuts = std::array<float, most_bins - 1>;

// Cuts of one feature from a sample of its values, which it sorts. A value with more
// than a bin's share of the rows gets a bin of its own; the others share the rest
// evenly. Cuts lie half-way between neighbouring values. bins in [2, most_bins].
[[nodiscard]] feature_cuts find_cuts(std::vector<float>& sample, std::size_t bins);

// The search for a value's bin, prepared for one feature: the upper half of a float's bits leads to the few cuts that
// share it, which are searched without branches in as many steps as the most crowded place of this feature needs.
class quantiser {
 public:
  explicit quantiser(feature_cuts const& cuts);

  // Bins of `count` finite values into out[0], out[stride], ...
  void apply(float const* values, std::size_t count, std::uint8_t* out, std::size_t stride) const;

 private:
  std::array<float, 2 * most_bins> cuts_;  // padded with infinity for searches that begin near the end
  std::array<std::uint8_t, 65536> start_;  // by key: number of cuts with a smaller key
  std::uint32_t first_step_ = 0;           // power of two
};

// A row is `features` bins and the label, padded so that rows are copied in blocks of 16 bytes.
struct row_layout {
  std::size_t features = 0;
  std::size_t stride = 0;

  explicit row_layout(std::size_t of = 0) : features(of), stride((of + 1 + 15) / 16 * 16) {}
};

inline constexpr std::size_t sampled_rows = 16384;

template <executor Executor>
std::vector<feature_cuts> find_all_cuts(Executor& run, dataset const& data, std::size_t bins) {
  std::vector<feature_cuts> cuts(data.features());
  std::size_t const taken = std::min(data.rows(), sampled_rows);
  run.parallel_for(0, data.features(), 1, [&](std::size_t first, std::size_t last) {
    std::vector<float> sample(taken);
    for (std::size_t feature = first; feature < last; ++feature) {
      for (std::size_t i = 0; i < taken; ++i) sample[i] = data.columns[feature][i * data.rows() / taken];
      cuts[feature] = find_cuts(sample, bins);
    }
  });
  return cuts;
}

// Fills rows.size() / stride rows. `grain` counts rows.
template <executor Executor>
void bin_rows(Executor& run, dataset const& data, std::vector<feature_cuts> const& cuts, row_layout layout,
              std::uint8_t* rows, std::size_t grain) {
  std::vector<std::unique_ptr<quantiser>> quantisers(layout.features);
  run.parallel_for(0, layout.features, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t feature = first; feature < last; ++feature)
      quantisers[feature] = std::make_unique<quantiser>(cuts[feature]);
  });
  // a block of binned rows stays in the first-level cache while its columns are filled
  constexpr std::size_t block = 512;
  run.parallel_for(0, (data.rows() + block - 1) / block, std::max<std::size_t>(1, grain / block),
                   [&](std::size_t first, std::size_t last) {
                     for (std::size_t row = first * block; row < std::min(last * block, data.rows()); row += block) {
                       std::size_t const count = std::min(block, data.rows() - row);
                       std::uint8_t* const out = rows + row * layout.stride;
                       for (std::size_t feature = 0; feature < layout.features; ++feature) {
                         quantisers[feature]->apply(data.columns[feature].data() + row, count, out + feature,
                                                    layout.stride);
                       }
                       for (std::size_t i = 0; i < count; ++i) {
                         std::uint8_t* const tail = out + i * layout.stride + layout.features;
                         *tail = data.labels[row + i];
                         std::memset(tail + 1, 0, layout.stride - layout.features - 1);
                       }
                     }
                   });
}

}  // namespace heddle::bench::decision_tree
