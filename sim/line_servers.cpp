#include "sim/line_servers.hpp"

#include <algorithm>
#include <utility>

namespace heddle::sim {

line_servers::server& line_servers::of(std::uint32_t block) {
  const std::size_t mask = servers_.size() - 1;
  std::size_t at = static_cast<std::size_t>((block * std::uint64_t{0x9E3779B97F4A7C15}) >> 32) & mask;
  while (servers_[at].block != none && servers_[at].block != block) at = (at + 1) & mask;
  return servers_[at];
}

// Services that have ended before `oldest` are forgotten; the table grows where that does not help.
void line_servers::make_room(double oldest) {
  const auto kept = static_cast<std::size_t>(std::count_if(
      servers_.begin(), servers_.end(), [&](const server& s) { return s.block != none && s.end > oldest; }));
  std::size_t size = 64;
  while (size < 4 * (kept + 1)) size *= 2;
  const std::vector<server> old = std::exchange(servers_, std::vector<server>(size));
  for (const server& s : old) {
    if (s.block != none && s.end > oldest) of(s.block) = s;
  }
  used_ = kept;
}

double line_servers::serve(std::uint32_t block, double at, double busy, double oldest) {
  server* s = &of(block);
  if (s->block == none) {
    if (2 * (used_ + 1) > servers_.size()) {
      make_room(oldest);
      s = &of(block);
    }
    ++used_;
    *s = {block, at, at};
  }
  if (at < s->begin) return at;
  if (at > s->end) s->begin = s->end = at;
  const double start = s->end;
  s->end += busy;
  return start;
}

}  // namespace heddle::sim
