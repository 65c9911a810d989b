// The two arrays between which the kernels of section 5.5.1 of the
// ADWS thesis partition: one with the problem, one for the other side.
#pragma once

#include <cstddef>

#include "backend/common.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/placement.hpp"

namespace heddle::bench {

template <class T>
struct two_buffers {
  explicit two_buffers(const context& c)
      : how(touch_of(c.options().touch, touch::interleave)), from(c.n(), how), other(c.n(), how) {}

  // In setup, inside the runtime: from[i] becomes make(i), other[i]
  // zero, as a loop over pieces of at most `piece` bytes.
  template <class Backend, class Make>
  void fill(std::size_t piece, const Make& make) const {
    settle(from, how);
    settle(other, how);
    for_halves<Backend>(0, from.size(), sizeof(T), 2 * sizeof(T), piece, [&](std::size_t first, std::size_t last) {
      told::write(&from[first], (last - first) * sizeof(T));
      told::write(&other[first], (last - first) * sizeof(T));
      for (std::size_t i = first; i < last; ++i) {
        from[i] = make(i);
        other[i] = {};
      }
    });
  }

  touch how;
  placed_array<T> from, other;
};

}  // namespace heddle::bench
