// A meter of the CPU time of the code between two moments, cheap enough to be read at every scheduling point.
#pragma once

#include <cstdint>

#include "platform/sim/strand.hpp"

namespace heddle::sim {

class cpu_meter {
 public:
  // Measures its own overhead and the counter's rate.
  void start() noexcept;
  void mark() noexcept { mark_ = counter(); }
  // The time since mark(). Time during which the process had no processor is left out as far as it is detected.
  picoseconds lap() noexcept;

 private:
  static std::uint64_t counter() noexcept;

  std::uint64_t mark_{0};
  std::uint64_t overhead_{0};  // the counter's difference between a mark and a lap with nothing between
  double picoseconds_per_count_{1};
  std::uint64_t checked_{0};      // counter and CPU time at the last comparison
  std::uint64_t checked_cpu_{0};  // ns
};

}  // namespace heddle::sim
