// The random source of a worker: xorshift64*, seeded through splitmix64 (Vigna 2016). It is not for cryptography.
#pragma once

#include <cstdint>

namespace heddle::base {

class random_source {
 public:
  explicit random_source(std::uint64_t seed) noexcept {
    std::uint64_t z = seed + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    state_ = (z ^ (z >> 31)) | 1u;
  }

  std::uint64_t next() noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }

  // Returns a uniform number in [0, bound), bound > 0. The bias is below 2^-32 (multiply-shift).
  std::uint32_t below(std::uint32_t bound) noexcept {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace heddle::base
