// The files of sim/machines, which the build turns into text of the program: they are found wherever it runs.
#pragma once

#include <span>
#include <string_view>

namespace heddle::machine {

struct shipped_file {
  std::string_view name;  // "skylake-4x16.toml"
  std::string_view text;
};

// Defined by the build: cmake/heddle_machine.cmake.
std::span<const shipped_file> shipped_files() noexcept;

// Null when there is none of this name.
const shipped_file* find_shipped(std::string_view name) noexcept;

inline constexpr std::string_view shipped_prefix = "shipped:";  // before the name in messages

}  // namespace heddle::machine
