// Memory accesses as `valgrind --tool=lackey --trace-mem=yes` prints them.
#pragma once

#include <charconv>
#include <cstdint>
#include <istream>
#include <optional>

namespace heddle::sim {

struct traced_access {
  // modify: load and store by one instruction
  enum class kind : std::uint8_t { instruction, load, store, modify };
  kind what;
  std::uint64_t address;
  std::uint64_t bytes;
};

// Reads a line of the trace: "I  04001130,3", " L 1ffeffe7e,8", " S ..", " M ..". Other lines (valgrind's own messages)
// give nothing.
inline std::optional<traced_access> parse_traced_access(const char* begin, const char* end) noexcept {
  if (end - begin < 6 || begin[2] != ' ') return std::nullopt;
  traced_access access{};
  if (begin[0] == 'I' && begin[1] == ' ') access.what = traced_access::kind::instruction;
  else if (begin[0] == ' ' && begin[1] == 'L') access.what = traced_access::kind::load;
  else if (begin[0] == ' ' && begin[1] == 'S') access.what = traced_access::kind::store;
  else if (begin[0] == ' ' && begin[1] == 'M') access.what = traced_access::kind::modify;
  else return std::nullopt;
  const auto address = std::from_chars(begin + 3, end, access.address, 16);
  if (address.ec != std::errc() || address.ptr == end || *address.ptr != ',') return std::nullopt;
  const auto size = std::from_chars(address.ptr + 1, end, access.bytes);
  if (size.ec != std::errc() || access.bytes == 0) return std::nullopt;
  return access;
}

// Calls f(access) for each access of the stream.
template <class F>
void read_trace(std::istream& in, F&& f) {
  char line[256];
  while (in.getline(line, sizeof line) || in.gcount() > 0) {
    if (in.fail() && !in.eof()) in.clear();  // the line is longer, so it is a message; reading goes on behind it
    if (const auto access = parse_traced_access(line, line + in.gcount())) f(*access);
    if (in.eof()) break;
  }
}

}  // namespace heddle::sim
