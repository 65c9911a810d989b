#include "cli/report/source_lines.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "process/run.hpp"

namespace heddle::cli {

namespace {

// A function's code is looked through for a place of the user's in steps of this many bytes.
constexpr std::uint64_t step = 8, steps = 64;

// Returns addr2line's answer for addresses in a file: for each the address, then a line with a function and a line like
// "/folder/file.cpp:12 (discriminator 3)" for each frame that is inlined there, the innermost first.
std::string said_by_addr2line(const std::string& module, std::uint64_t offset, std::uint64_t addresses) {
  std::vector<std::string> command{"addr2line", "-a", "-i", "-f", "-e", module};
  for (std::uint64_t i = 0; i < addresses; ++i) command.push_back(fmt::format("{:#x}", offset + i * step));
  try {
    const process::ended said =
        process::run(command, {.searched = true, .output = process::stream::kept, .errors = process::stream::dropped});
    return said.status == 0 ? said.output : std::string();
  } catch (const std::exception&) {
    return {};  // it is not installed
  }
}

bool is_the_users(std::string_view place) {
  return !place.starts_with('?') && place.find("/include/heddle/") == std::string_view::npos &&
         place.find("/include/c++/") == std::string_view::npos;
}

// "/folder/file.cpp:12 (discriminator 3)" is "file.cpp:12". Returns nothing if the line is not known.
std::string short_place(std::string_view place) {
  place = place.substr(0, place.find(' '));
  const std::size_t colon = place.rfind(':');
  if (place.starts_with('?') || colon == std::string_view::npos || place.substr(colon) == ":?" ||
      place.substr(colon) == ":0")
    return {};
  return std::string(place.substr(place.rfind('/') + 1));
}

}  // namespace

std::string users_place(std::string_view said) {
  struct frame {
    std::string_view function, place;
  };
  std::string_view begins_in;  // the function that has the first address
  const auto next_line = [&said] {
    const std::size_t end = said.find('\n');
    const std::string_view line = said.substr(0, end);
    said.remove_prefix(end == std::string_view::npos ? said.size() : end + 1);
    return line;
  };
  next_line();  // the first address
  while (!said.empty()) {
    std::vector<frame> frames;
    while (!said.empty()) {
      const std::string_view function = next_line();
      if (function.starts_with("0x")) break;
      const std::string_view place = next_line();
      frames.push_back({function, place});
    }
    if (frames.empty()) continue;
    if (begins_in.empty()) begins_in = frames.back().function;
    if (frames.back().function != begins_in) return {};  // the next function
    for (const frame& f : frames) {
      if (std::string at = is_the_users(f.place) ? short_place(f.place) : std::string(); !at.empty()) return at;
    }
  }
  return {};
}

trace::line_finder source_lines(const trace::recording& of) {
  return [&of](std::uint64_t address) -> std::string {
    const auto place = of.places.find(address);
    // The name comes from a file that may have been sent by somebody else. So it must not be an option, and must name a
    // local file.
    if (place == of.places.end() || !place->second.module.starts_with('/') ||
        access(place->second.module.c_str(), R_OK) != 0)
      return {};
    return users_place(said_by_addr2line(place->second.module, place->second.offset, steps));
  };
}

}  // namespace heddle::cli
