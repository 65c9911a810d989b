// The binary trace format (formats.md). Any build writes it, and any build of the same format version or a newer one
// reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/recording.hpp"

namespace heddle::trace {

inline constexpr std::string_view binary_magic{"heddle\x1at", 8};
inline constexpr std::uint32_t binary_version = 3;

[[nodiscard]] std::string encode_binary(const recording& what);

// Throws trace_error (without a file name) for anything that is not a complete, intact trace of this format version or
// an older one.
[[nodiscard]] recording decode_binary(std::string_view bytes);

// Returns FNV-1a over 64-bit words, the last one filled up with zeros. It finds damage, not forgery.
[[nodiscard]] std::uint64_t checksum(std::string_view bytes) noexcept;

}  // namespace heddle::trace
