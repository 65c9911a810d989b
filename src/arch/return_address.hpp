// Tells return addresses from other words that look like addresses of code.
#pragma once

#include <cstdint>
#include <cstring>

namespace heddle::arch {

// Does a call instruction end right before `code`? Reads the eight bytes before it.
inline bool follows_call(const void* code) noexcept {
#if defined(__x86_64__)
  unsigned char before[8];
  std::memcpy(before, static_cast<const char*>(code) - sizeof before, sizeof before);
  if (before[3] == 0xe8) return true;  // call rel32
  // call r/m64 (FF /2), of 2 to 7 bytes with its operand; a REX prefix makes no difference to what is looked for.
  const auto is_call = [&before](int length, int mod) {
    return before[8 - length] == 0xff && (before[9 - length] >> 3 & 7) == 2 && before[9 - length] >> 6 == mod;
  };
  return is_call(2, 3) || is_call(2, 0) || is_call(3, 1) || is_call(3, 0) || is_call(4, 1) || is_call(6, 2) ||
         is_call(6, 0) || is_call(7, 2);
#else
  std::uint32_t before;
  std::memcpy(&before, static_cast<const char*>(code) - sizeof before, sizeof before);
  return (before & 0xfc000000u) == 0x94000000u || (before & 0xfffffc1fu) == 0xd63f0000u;  // bl, blr
#endif
}

}  // namespace heddle::arch
