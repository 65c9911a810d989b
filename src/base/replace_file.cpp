#include "base/replace_file.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace heddle::base {

namespace fs = std::filesystem;

// Returns 0 or an errno value.
static int write_whole(const std::string& path, std::string_view bytes) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return errno;
  errno = 0;
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fflush(file) == 0;
  const int error = written ? 0 : errno != 0 ? errno : EIO;
  return std::fclose(file) == 0 || error != 0 ? error : errno;
}

void replace_file(const std::string& path, std::string_view bytes) {
  std::error_code ignored;
  const bool direct = fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
  // a name that no other writer of the same file has
  static std::atomic<unsigned> count{0};
  const std::string part =
      direct ? path : path + "." + std::to_string(::getpid()) + "." + std::to_string(count.fetch_add(1)) + ".part";
  int error = write_whole(part, bytes);
  if (error == 0 && !direct && std::rename(part.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  if (!direct) fs::remove(part, ignored);
  throw std::system_error(error, std::generic_category(), path + ": cannot be written");
}

}  // namespace heddle::base
