// Lines that go from core to core: each serves one request after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::sim {

// A block whose ownership changes is not free again before the one who got it last is done with it. Kept are the last
// services of some thousand blocks, in a table that stays in the caches of the machine that simulates: sixty-four cores
// have some hundred lines on the way at once. Of four blocks that meet in a place of it, the one that was free first
// gives way to a fifth.
class line_servers {
 public:
  // When the service of the block begins that is asked for at `at` and takes `busy` ns. One that comes before the
  // service that is going on began is of an earlier time, which a long call has overtaken: it does not wait for what
  // comes after it.
  double serve(std::uint32_t block, double at, double busy);

  std::uint64_t bytes() const noexcept { return servers_.capacity() * sizeof(server); }

 private:
  static constexpr std::uint32_t none = ~0u;
  static constexpr std::size_t places = 1024, in_place = 4;
  // A service without a pause: [begin, end), ns.
  struct server {
    std::uint32_t block{none};
    double begin{0}, end{0};
  };

  std::vector<server> servers_ = std::vector<server>(places * in_place);
};

}  // namespace heddle::sim
