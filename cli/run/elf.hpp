// What the dynamic section of an ELF file says.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

struct elf_file {
  bool dynamic{false};      // it has a dynamic section with libraries to load, or an interpreter that does
  std::string interpreter;  // the dynamic linker; of a program
  std::vector<std::string> needed;
  std::vector<std::string> rpath;    // folders, with what $ORIGIN stands for; those of DT_RPATH
  std::vector<std::string> runpath;  // and of DT_RUNPATH
};

// Nothing if the file is no ELF file, or cannot be read. Throws std::runtime_error for one of another kind of machine,
// and for one whose tables lie outside of it.
std::optional<elf_file> read_elf(const std::filesystem::path& file);

}  // namespace heddle::cli
