#include "sim/line_servers.hpp"

namespace heddle::sim {

double line_servers::serve(std::uint32_t block, double at, double busy) {
  const auto hash = static_cast<std::size_t>((block * std::uint64_t{0x9E3779B97F4A7C15}) >> 32);
  server* const place = &servers_[hash % places * in_place];
  server* s = place;
  for (server* one = place; one != place + in_place; ++one) {
    if (one->block == block) {
      s = one;
      break;
    }
    if (one->end < s->end) s = one;
  }
  if (s->block != block) *s = {block, at, at};
  if (at < s->begin) return at;
  if (at > s->end) s->begin = s->end = at;
  const double start = s->end;
  s->end += busy;
  return start;
}

}  // namespace heddle::sim
