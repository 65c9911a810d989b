#include "machine/small_file.hpp"

#include <cstdio>
#include <cstring>
#include <memory>

namespace heddle::machine {

namespace {

struct close {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using opened = std::unique_ptr<std::FILE, close>;

}  // namespace

std::optional<std::string> read_small_file(const std::string& file) {
  char buffer[4096];
  const opened in(std::fopen(file.c_str(), "re"));
  if (in == nullptr) return std::nullopt;
  std::setvbuf(in.get(), nullptr, _IONBF, 0);
  std::string text;
  while (const std::size_t length = std::fread(buffer, 1, sizeof buffer, in.get())) text.append(buffer, length);
  return text;
}

std::optional<std::string> read_first_line(const std::string& file) {
  char buffer[4096], line[4096];
  const opened in(std::fopen(file.c_str(), "re"));
  if (in == nullptr) return std::nullopt;
  std::setvbuf(in.get(), buffer, _IOFBF, sizeof buffer);
  std::string text;
  while (std::fgets(line, sizeof line, in.get()) != nullptr) {
    text += line;
    if (text.ends_with('\n')) {
      text.pop_back();
      break;
    }
  }
  return text;
}

}  // namespace heddle::machine
