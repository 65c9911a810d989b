// The programs that belong to this one.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heddle::process {

// Returns this program's file.
inline const std::string& own_program() {
  // It is read once, because a build that replaces the file meanwhile would make it "... (deleted)".
  static const std::string path = std::filesystem::read_symlink("/proc/self/exe").string();
  return path;
}

// Returns the folders of its programs: beside it, in the build tree's libexec, or installed.
inline std::vector<std::filesystem::path> folders_beside() {
  const std::filesystem::path here = std::filesystem::path(own_program()).parent_path();
  return {here, here / "libexec" / "heddle", here.parent_path() / "libexec" / "heddle"};
}

// Returns the first program of that name that can be executed.
inline std::optional<std::string> find_program(const std::vector<std::filesystem::path>& folders,
                                               const std::string& name) {
  for (const std::filesystem::path& folder : folders) {
    if (const std::filesystem::path file = folder / name; ::access(file.c_str(), X_OK) == 0) return file.string();
  }
  return std::nullopt;
}

}  // namespace heddle::process
