// The files of sim/machines. The build turns them into text of the program, so they are found wherever it runs.
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

// Returns null if there is no file of this name.
const shipped_file* find_shipped(std::string_view name) noexcept;

inline constexpr std::string_view shipped_prefix = "shipped:";  // before the name in messages

}  // namespace heddle::machine
