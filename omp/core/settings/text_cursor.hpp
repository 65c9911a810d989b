// A reader for lists of places and of processors.
#pragma once

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::omp {

inline constexpr int most_processors = 1 << 16;  // a greater number or length is a mistake

// Reads a text from the left; blanks between symbols do not count.
class text_cursor {
 public:
  explicit text_cursor(std::string_view text) noexcept : rest_(text) {}

  bool at_end() noexcept {
    skip();
    return rest_.empty();
  }
  bool take(char symbol) noexcept {
    skip();
    if (rest_.empty() || rest_.front() != symbol) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool next_is(char symbol) noexcept {
    skip();
    return !rest_.empty() && rest_.front() == symbol;
  }
  std::optional<int> number(bool with_sign = false) noexcept {
    skip();
    if (with_sign && !rest_.empty() && rest_.front() == '+') rest_.remove_prefix(1);
    int value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || (value < 0 && !with_sign) || std::abs(value) >= most_processors) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  std::string word() {
    skip();
    std::string result;
    while (!rest_.empty() && (std::isalpha(static_cast<unsigned char>(rest_.front())) != 0 || rest_.front() == '_')) {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(rest_.front())));
      rest_.remove_prefix(1);
    }
    return result;
  }

 private:
  void skip() noexcept {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

}  // namespace heddle::omp
