// Memory accesses as `valgrind --tool=lackey --trace-mem=yes` prints them.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>

namespace heddle::sim {

struct traced_access {
  enum class kind : std::uint8_t { instruction, load, store, modify };  // modify: load and store by one instruction
  kind what;
  std::uint64_t address;
  std::uint64_t bytes;
};

// A line of the trace: "I  04001130,3", " L 1ffeffe7e,8", " S ..", "
// M ..". Other lines (valgrind's own messages) give nothing.
std::optional<traced_access> parse_traced_access(const char* begin, const char* end) noexcept;

// Calls f(access) for each access of the stream.
template <class F>
void read_trace(std::istream& in, F&& f) {
  char line[256];
  while (in.getline(line, sizeof line) || in.gcount() > 0) {
    if (in.fail() && !in.eof()) in.clear();  // a longer line: a message, read on behind it
    if (const auto access = parse_traced_access(line, line + in.gcount())) f(*access);
    if (in.eof()) break;
  }
}

}  // namespace heddle::sim
