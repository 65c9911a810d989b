// One line on standard error, written at once.
#pragma once

#include <cstdio>
#include <string>

namespace heddle::omp {

inline void write_text(const std::string& text) noexcept { std::fwrite(text.data(), 1, text.size(), stderr); }
inline void write_line(const std::string& line) noexcept { write_text(line + '\n'); }

}  // namespace heddle::omp
