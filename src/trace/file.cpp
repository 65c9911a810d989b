#include "trace/file.hpp"

#include <string_view>
#include <system_error>

#include "base/replace_file.hpp"
#include "trace/binary.hpp"
#include "trace/chrome.hpp"

namespace heddle::trace {
namespace {

bool ends_with(std::string_view path, std::string_view ending) {
  return path.size() > ending.size() && path.ends_with(ending);
}

}  // namespace

bool is_trace_name(const std::string& path) { return ends_with(path, ".heddle") || ends_with(path, ".json"); }

void save(const recording& what, const std::string& path) {
  if (!is_trace_name(path))
    throw trace_error(path + ": the name of a trace ends in .heddle (for heddle report) or .json (for Perfetto)");
  const std::string bytes = ends_with(path, ".json") ? to_chrome(what) : encode_binary(what);
  try {
    base::replace_file(path, bytes);
  } catch (const std::system_error& e) {
    throw trace_error(path + ": cannot write the trace: " + e.code().message());
  }
}

}  // namespace heddle::trace
