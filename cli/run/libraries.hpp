// Where the dynamic linker finds a library, as far as that can be told without it.
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
  // `of`: the file that needs it; `chain`: the folders of DT_RPATH of those that have led to `of`, and its own.
  std::optional<std::filesystem::path> find(const std::string& name, const elf_file& of,
                                            const std::vector<std::string>& chain) const;

 private:
  std::vector<std::string> given_;             // LD_LIBRARY_PATH
  std::map<std::string, std::string> cached_;  // /etc/ld.so.cache
  std::vector<std::string> standard_;
};

// "a:b" by its colons, without what is empty.
std::vector<std::string> split_path(const std::string& list);

}  // namespace heddle::cli
