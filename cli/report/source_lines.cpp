#include "cli/report/source_lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "cli/child.hpp"

namespace heddle::cli {

namespace {

// What addr2line says of an address in a file: "/folder/file.cpp:12 (discriminator 3)" or "??:0".
std::string said_by_addr2line(const std::string& module, std::uint64_t offset) {
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) return {};
  std::string text;
  try {
    const std::string address = fmt::format("{:#x}", offset);
    child_process child("addr2line", [&] {
      dup2(out[1], STDOUT_FILENO);
      const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
      if (nothing >= 0) dup2(nothing, STDERR_FILENO);
      execlp("addr2line", "addr2line", "-e", module.c_str(), address.c_str(), static_cast<char*>(nullptr));
    });
    close(out[1]);
    out[1] = -1;
    char block[512];
    for (ssize_t n; (n = read(out[0], block, sizeof block)) > 0;) text.append(block, static_cast<std::size_t>(n));
    if (child.wait() != 0) text.clear();
  } catch (const std::exception&) {
    text.clear();  // not installed
  }
  close(out[0]);
  if (out[1] >= 0) close(out[1]);
  return text;
}

}  // namespace

trace::line_finder source_lines(const trace::recording& of) {
  return [&of](std::uint64_t address) -> std::string {
    const auto place = of.places.find(address);
    // The name comes out of a file that somebody may have sent: no option, and nothing beside the local files.
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
