#include "cli/report/source_lines.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "process/run.hpp"

namespace heddle::cli {

namespace {

// Returns addr2line's answer for an address in a file: "/folder/file.cpp:12 (discriminator 3)" or "??:0".
std::string said_by_addr2line(const std::string& module, std::uint64_t offset) {
  try {
    const process::ended said =
        process::run({"addr2line", "-e", module, fmt::format("{:#x}", offset)},
                     {.searched = true, .output = process::stream::kept, .errors = process::stream::dropped});
    return said.status == 0 ? said.output : std::string();
  } catch (const std::exception&) {
    return {};  // it is not installed
  }
}

}  // namespace

trace::line_finder source_lines(const trace::recording& of) {
  return [&of](std::uint64_t address) -> std::string {
    const auto place = of.places.find(address);
    // The name comes from a file that may have been sent by somebody else. So it must not be an option, and must name a
    // local file.
    if (place == of.places.end() || !place->second.module.starts_with('/') ||
        access(place->second.module.c_str(), R_OK) != 0)
      return {};
    std::string line = said_by_addr2line(place->second.module, place->second.offset);
    line.resize(std::min(line.find_first_of(" \n"), line.size()));
    const std::size_t colon = line.rfind(':');
    if (line.starts_with('?') || colon == std::string::npos || line.substr(colon) == ":?" || line.substr(colon) == ":0")
      return {};
    return line.substr(line.rfind('/') + 1);
  };
}

}  // namespace heddle::cli
