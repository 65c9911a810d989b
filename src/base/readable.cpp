#include "base/readable.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <string_view>

namespace heddle::base {

namespace {

void drop(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
}

bool operator_before(const std::string& text, std::size_t at) {
  return at >= 8 && text.compare(at - 8, 8, "operator") == 0;
}

// Time slices "f<a<b>, c>(d)" into "f<..>(d)", by `open` and `close`.
std::string without_insides(const std::string& text, char open, char close) {
  std::string result;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool arrow = c == '>' && i > 0 && text[i - 1] == '-';
    if (c == open && !operator_before(text, i)) {
      if (depth++ == 0) (result += open) += "..";
    } else if (c == close && depth > 0 && !arrow) {
      if (--depth == 0) result += close;
    } else if (depth == 0) {
      result += c;
    }
  }
  return result;
}

}  // namespace

std::string readable(const char* symbol, std::size_t most) {
  int status = 0;
  char* const plain = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string name = status == 0 ? plain : symbol;
  std::free(plain);
  drop(name, "(anonymous namespace)::");
  drop(name, " [clone .constprop.0]");
  if (name.size() > most) name = without_insides(name, '<', '>');
  if (name.size() > most) name = without_insides(name, '(', ')');
  if (name.size() > most) name = name.substr(0, most - 2) + "..";
  return name;
}

}  // namespace heddle::base
