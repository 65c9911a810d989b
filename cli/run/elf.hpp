// The contents of the dynamic section of an ELF file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

struct elf_file {
  // It has a dynamic section with libraries to load, or an interpreter that loads libraries.
  bool dynamic{false};
  std::string interpreter;  // the dynamic linker, for a program
  std::vector<std::string> needed;
  std::vector<std::string> rpath;    // the folders of DT_RPATH, with $ORIGIN replaced
  std::vector<std::string> runpath;  // the folders of DT_RUNPATH
};

// Returns nothing if the file is no ELF file or cannot be read. Throws std::runtime_error for a file of another kind of
// machine, and for one whose tables lie outside it.
std::optional<elf_file> read_elf(const std::filesystem::path& file);

}  // namespace heddle::cli
