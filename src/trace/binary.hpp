// The binary trace format (formats.md). Any build writes it, and any build of the same format version or a newer one
// reads it (tools/trace/reading.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/recording.hpp"

namespace heddle::trace {

inline constexpr std::string_view binary_magic{"heddle\x1at", 8};
inline constexpr std::uint32_t binary_version = 4;

// In a file, a record's words are differences to those of the last record of the same event of the same worker.
struct last_words {
  std::uint64_t a = 0, b = 0;
};
// A difference is folded so that small ones of both signs are small numbers.
constexpr std::uint64_t folded(std::uint64_t difference) noexcept {
  return difference << 1 ^ (std::uint64_t{0} - (difference >> 63));
}
constexpr std::uint64_t unfolded(std::uint64_t word) noexcept { return word >> 1 ^ (std::uint64_t{0} - (word & 1)); }

[[nodiscard]] std::string encode_binary(const recording& what);

// Returns FNV-1a over 64-bit words, the last one filled up with zeros. It finds damage, not forgery.
[[nodiscard]] std::uint64_t checksum(std::string_view bytes) noexcept;

}  // namespace heddle::trace
