// Writing of files that are either complete or absent.
#pragma once

#include <string>
#include <string_view>

namespace heddle::base {

// Writes `bytes` to a file beside `path`, and moves it to `path` when all of it is on the way to the disk. So a full
// disk leaves the old file as it was. If `path` is no regular file (/dev/stdout, a pipe) it is written to directly.
// Throws std::system_error whose text names the file.
void replace_file(const std::string& path, std::string_view bytes);

}  // namespace heddle::base
