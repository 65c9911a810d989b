// splitmix64 (Steele, Lea, Flood 2014): the one source of inputs, so that every runtime, the Rust
// one too, sees the same.
#pragma once

#include <cstdint>

namespace heddle::bench {

constexpr std::uint64_t mix64(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// A hash that depends on the order of what is fed to it.
class digest {
 public:
  void add(std::uint64_t value) { state_ = mix64(state_ ^ value); }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace heddle::bench
