// Texts on standard error and, for what a program asked to see, on standard output; each written at once.
#pragma once

#include <cstdio>
#include <string>

namespace heddle::omp {

inline void write_text(const std::string& text) noexcept { std::fwrite(text.data(), 1, text.size(), stderr); }
inline void print_line(const std::string& line) noexcept {
  const std::string whole = line + '\n';
  std::fwrite(whole.data(), 1, whole.size(), stdout);
}
inline void write_line(const std::string& line) noexcept { write_text(line + '\n'); }

}  // namespace heddle::omp
