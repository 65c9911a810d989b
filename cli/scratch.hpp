// Files that go away with the object that stands for them.
#pragma once

#include <filesystem>
#include <string>

namespace heddle::cli {

// In the system's folder for such files; `name` is the beginning of its own. Throws std::system_error.
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
