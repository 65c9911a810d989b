#include "cli/calibrate/ring.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <numeric>
#include <vector>

#include "base/random.hpp"

namespace heddle::cli::calibrate {

buffer::buffer(std::size_t bytes) {
  constexpr std::size_t alignment = std::size_t{2} << 20;
  memory_.reset(std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment));
  if (memory_ == nullptr) throw std::bad_alloc();
}

void* make_ring(char* memory, std::size_t bytes, std::size_t line) {
  const std::size_t lines = bytes / line, window = std::size_t{32} * 4096 / line;
  std::vector<std::uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0u);
  base::random_source random(1);
  for (std::size_t begin = 0; begin < lines; begin += window) {
    const std::size_t count = std::min(window, lines - begin);
    for (std::size_t i = count; i > 1; --i)
      std::swap(order[begin + i - 1], order[begin + random.below(static_cast<std::uint32_t>(i))]);
  }
  for (std::size_t i = 0; i < lines; ++i) {
    *reinterpret_cast<void**>(memory + order[i] * line) = memory + order[i + 1 == lines ? 0 : i + 1] * line;
  }
  return memory + order[0] * line;
}

void* chase(void* from, std::size_t steps) {
  void** at = static_cast<void**>(from);
  for (std::size_t i = 0; i < steps; i += 16) {
    for (int unrolled = 0; unrolled < 16; ++unrolled) at = static_cast<void**>(*at);
  }
  return at;
}

}  // namespace heddle::cli::calibrate
