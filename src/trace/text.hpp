// Texts put together from parts, without a formatting library: libheddle.so carries none.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::trace {

inline void append_part(std::string& out, std::string_view text) { out += text; }
inline void append_part(std::string& out, char letter) { out += letter; }
template <std::unsigned_integral Number>
void append_part(std::string& out, Number number) {
  char digits[20];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// Appends texts, letters and unsigned integers.
template <class... Parts>
void append(std::string& out, const Parts&... parts) {
  (append_part(out, parts), ...);
}

template <class... Parts>
[[nodiscard]] std::string text_of(const Parts&... parts) {
  std::string out;
  append(out, parts...);
  return out;
}

// 0x and hexadecimal digits.
[[nodiscard]] inline std::string hexadecimal(std::uint64_t number) {
  char digits[16];
  return "0x" + std::string(digits, std::to_chars(digits, digits + sizeof digits, number, 16).ptr);
}

// The shortest text that reads back as this number, with an exponent if it is very large or small.
[[nodiscard]] inline std::string shortest(double number) {
  const double size = std::fabs(number);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  char text[32];
  const auto end =
      std::to_chars(text, text + sizeof text, number, plain ? std::chars_format::fixed : std::chars_format::scientific);
  return {text, end.ptr};
}

}  // namespace heddle::trace
