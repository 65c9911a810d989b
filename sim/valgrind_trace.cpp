#include "sim/valgrind_trace.hpp"

#include <charconv>

namespace heddle::sim {

std::optional<traced_access> parse_traced_access(const char* begin, const char* end) noexcept {
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

}  // namespace heddle::sim
