// The file where the dynamic linker finds a library, as far as that can be told without the linker.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/run/elf.hpp"

namespace heddle::cli {

class library_finder {
 public:
  library_finder();
  // `of` is the file that needs it. `chain` has the folders of DT_RPATH of the files that have led to `of`, and its
  // own.
  std::optional<std::filesystem::path> find(const std::string& name, const elf_file& of,
                                            const std::vector<std::string>& chain) const;

 private:
  std::vector<std::string> given_;             // LD_LIBRARY_PATH
  std::map<std::string, std::string> cached_;  // /etc/ld.so.cache
  std::vector<std::string> standard_;
};

// Splits "a:b" at its colons and drops empty parts.
std::vector<std::string> split_path(const std::string& list);

}  // namespace heddle::cli
