// Columns of small numbers as text: LEB128, then base64.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::trace {

class number_stream {
 public:
  void put(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
    ++count_;
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  [[nodiscard]] std::string base64() const {
    static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes_.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes_.size(); i += 3) {
      std::uint32_t three = 0;
      for (std::size_t k = 0; k < 3; ++k)
        three = three << 8 | (i + k < bytes_.size() ? static_cast<unsigned char>(bytes_[i + k]) : 0u);
      for (std::size_t k = 0; k < 4; ++k)
        out.push_back(i + k > bytes_.size() ? '=' : letters[three >> (18 - 6 * k) & 63]);
    }
    return out;
  }

 private:
  std::string bytes_;
  std::uint64_t count_ = 0;
};

}  // namespace heddle::trace
