// Files that are there whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include <heddle/export.hpp>

namespace heddle::base {

// Writes `bytes` to a file beside `path`, and puts that in its place when all of it is on the way to the disk: a full
// disk leaves what was there before. What is no regular file (/dev/stdout, a pipe) is written to directly. Throws
// std::system_error whose text names the file. Exported for libheddle_policies.so.
HEDDLE_API void replace_file(const std::string& path, std::string_view bytes);

}  // namespace heddle::base
