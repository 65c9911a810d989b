// How much CPU time the code between two moments took, cheaply enough to be asked at every scheduling point.
#pragma once

#include <cstdint>

#include "platform/sim/strand.hpp"

namespace heddle::sim {

class cpu_meter {
 public:
  // Measures its own overhead and the counter's rate.
  void start() noexcept;
  void mark() noexcept { mark_ = counter(); }
  // Since mark(); time during which the process had no processor is left out as far as it is found.
  picoseconds lap() noexcept;

 private:
  static std::uint64_t counter() noexcept;

  std::uint64_t mark_{0};
  std::uint64_t overhead_{0};  // counter's difference between a mark and a lap with nothing between
  double picoseconds_per_count_{1};
  std::uint64_t checked_{0};      // counter and CPU time when they were last compared
  std::uint64_t checked_cpu_{0};  // ns
};

}  // namespace heddle::sim
