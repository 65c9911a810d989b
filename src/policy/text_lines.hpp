// A reader of text files of words in lines, with messages that name file, line and word.
#pragma once

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace heddle::policy {

// Returns the whole file. Throws std::invalid_argument.
inline std::string text_of_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::invalid_argument(file + ": " + std::strerror(errno));
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (in.bad() || in.fail()) throw std::invalid_argument(file + " cannot be read");
  return text;
}

// Goes through a text line by line and each line word by word. Empty lines, and text after a #, are skipped.
class text_lines {
 public:
  text_lines(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  // Goes to the next line that has a word. Returns false if there is none.
  bool next_line() {
    while (!rest_.empty()) {
      const std::size_t end = rest_.find('\n');
      line_ = rest_.substr(0, end);
      rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
      line_ = line_.substr(0, line_.find('#'));
      ++number_;
      skip();
      if (!line_.empty()) return true;
    }
    ++number_;
    return false;
  }
  bool has_word() const noexcept { return !line_.empty(); }
  // Returns "" at the end of the line.
  std::string_view word() {
    const std::size_t end = line_.find_first_of(" \t\r");
    const std::string_view found = line_.substr(0, end);
    line_ = end == std::string_view::npos ? std::string_view() : line_.substr(end);
    skip();
    return found;
  }
  std::string_view rest_of_line() {
    std::string_view found = line_;
    line_ = {};
    while (!found.empty() && (found.back() == ' ' || found.back() == '\t' || found.back() == '\r'))
      found.remove_suffix(1);
    return found;
  }
  void expect(std::string_view wanted) {
    const std::string_view found = word();
    if (found != wanted) refuse("expected '" + std::string(wanted) + "', not '" + std::string(found) + "'");
  }
  void expect_end() {
    if (has_word()) refuse("'" + std::string(word()) + "' is one word too many");
  }
  template <class Number>
  Number number(const char* what, Number least, Number most) {
    return number_in(word(), what, least, most);
  }
  template <class Number>
  Number number_in(std::string_view text, const char* what, Number least, Number most) const {
    Number value{};
    const auto [behind, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || behind != text.data() + text.size() || !(value >= least && value <= most))
      refuse(std::string(what) + ": '" + std::string(text) + "' is no number from " + std::to_string(least) + " to " +
             std::to_string(most));
    return value;
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw std::invalid_argument(name_ + ":" + std::to_string(number_) + ": " + what);
  }

 private:
  void skip() {
    const std::size_t first = line_.find_first_not_of(" \t\r");
    line_ = first == std::string_view::npos ? std::string_view() : line_.substr(first);
  }

  std::string_view rest_, line_;
  std::string name_;
  unsigned number_{0};
};

}  // namespace heddle::policy
