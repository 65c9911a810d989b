// Files that exist as long as the object that stands for them.
#pragma once

#include <filesystem>
#include <string>

namespace heddle::cli {

// Lies in the system's folder for temporary files; `name` is the beginning of its own name. Throws std::system_error.
class scratch_folder {
 public:
  explicit scratch_folder(const std::string& name);
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace heddle::cli
