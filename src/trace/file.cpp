#include "trace/file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>

#include "base/replace_file.hpp"
#include "trace/binary.hpp"
#include "trace/chrome.hpp"

namespace heddle::trace {
namespace {

struct closer {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using file = std::unique_ptr<std::FILE, closer>;

bool ends_with(std::string_view path, std::string_view ending) {
  return path.size() > ending.size() && path.ends_with(ending);
}

std::string system_message() { return std::strerror(errno); }

}  // namespace

bool is_trace_name(const std::string& path) { return ends_with(path, ".heddle") || ends_with(path, ".json"); }

void save(const recording& what, const std::string& path) {
  if (!is_trace_name(path))
    throw trace_error(
        fmt::format("{}: the name of a trace ends in .heddle (for heddle report) or .json (for Perfetto)", path));
  const std::string bytes = ends_with(path, ".json") ? to_chrome(what) : encode_binary(what);
  try {
    base::replace_file(path, bytes);
  } catch (const std::system_error& e) {
    throw trace_error(fmt::format("{}: cannot write the trace: {}", path, e.code().message()));
  }
}

recording load(const std::string& path) {
  file in(std::fopen(path.c_str(), "rb"));
  if (!in)
    throw trace_error(
        fmt::format("{}: cannot open: {}; give the .heddle file a traced program wrote", path, system_message()));
  std::string bytes;
  char block[1 << 16];
  for (std::size_t n; (n = std::fread(block, 1, sizeof block, in.get())) > 0;) bytes.append(block, n);
  if (std::ferror(in.get()))
    throw trace_error(fmt::format("{}: cannot read: {}; give a .heddle file", path, system_message()));
  try {
    return decode_binary(bytes);
  } catch (const trace_error& e) {
    throw trace_error(fmt::format("{}: {}", path, e.what()));
  }
}

}  // namespace heddle::trace
