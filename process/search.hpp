// Where a program is that is named as a shell would name it.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace heddle::process {

// A name with a slash is a path already, whether there is such a file or not. Others are looked for in PATH.
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
