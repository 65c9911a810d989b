// In libheddle.so alone.
#include <stdexcept>
#include <string_view>

#include "platform/platform.hpp"
#include "policy/further.hpp"
#include "policy/plugin.hpp"
#include "policy/registry.hpp"

namespace heddle::policy {

namespace {

constexpr const char* library = HEDDLE_POLICIES_LIBRARY;  // its soname

std::string beside_libheddle() {
  const char* const module = platform::symbol_at(reinterpret_cast<const void*>(&make)).module;
  const std::string_view path = module != nullptr ? module : "";
  return std::string(path.substr(0, path.rfind('/') + 1)) + library;
}

std::span<const registration> load(const std::string& file) {
  if (!file.empty()) return lines_of_plugin(file);
  try {
    return lines_of_plugin(beside_libheddle());
  } catch (const std::invalid_argument& beside) {
    try {
      return lines_of_plugin(library);
    } catch (const std::invalid_argument&) {
      throw beside;  // the message with the place where it ought to be
    }
  }
}

}  // namespace

std::span<const registration> further(const std::string& file) {
  static const std::span<const registration> lines = load(file);
  return lines;
}

}  // namespace heddle::policy
