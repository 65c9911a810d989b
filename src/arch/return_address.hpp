// Recognises return addresses among other words that look like addresses of code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heddle::arch {

using bytes_before = std::array<unsigned char, 8>;

// Returns true if a call instruction ends with these eight bytes, which lie before an address.
inline bool is_call(const bytes_before& bytes) noexcept {
#if defined(__x86_64__)
  if (bytes[3] == 0xe8) return true;  // call rel32
  // call r/m64 (FF /2), of 2 to 7 bytes with its operand; a REX prefix does not change the bytes that are checked
  const auto of = [&bytes](std::size_t length, int mod) {
    return bytes[8 - length] == 0xff && (bytes[9 - length] >> 3 & 7) == 2 && bytes[9 - length] >> 6 == mod;
  };
  return of(2, 3) || of(2, 0) || of(3, 1) || of(3, 0) || of(4, 1) || of(6, 2) || of(6, 0) || of(7, 2);
#else
  std::uint32_t last;
  std::memcpy(&last, bytes.data() + 4, sizeof last);
  return (last & 0xfc000000u) == 0x94000000u || (last & 0xfffffc1fu) == 0xd63f0000u;  // bl, blr
#endif
}

}  // namespace heddle::arch
