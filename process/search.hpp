// The search for a program that is named as in a shell.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace heddle::process {

// Returns a name with a slash unchanged, whether there is such a file or not. Looks for any other name in PATH.
inline std::optional<std::filesystem::path> find_in_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  for (std::string rest = path == nullptr ? "/usr/bin:/bin" : path; !rest.empty();) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::filesystem::path candidate = std::filesystem::path(rest.substr(0, colon)) / name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.erase(0, colon + 1);
  }
  return std::nullopt;
}

}  // namespace heddle::process
