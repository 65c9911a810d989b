// Lines that go from core to core. Each serves one request after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::sim {

// A block whose ownership changes is not free again before the path that got it last is done with it. The last services
// of some thousand blocks are kept, in a table that stays in the caches of the host machine: sixty-four cores have some
// hundred lines on the way at once. If four blocks meet in a place of the table, the one that was free first gives way
// to a fifth.
class line_servers {
 public:
  // The time at which the service of the block begins that is requested at `at` and takes `busy` ns. A request that
  // comes before the current service began belongs to an earlier time, which a long call has overtaken: it does not
  // wait for a later service.
  double serve(std::uint32_t block, double at, double busy);

  std::uint64_t bytes() const noexcept { return servers_.capacity() * sizeof(server); }

 private:
  static constexpr std::uint32_t none = ~0u;
  static constexpr std::size_t places = 1024, in_place = 4;
  // A service without pauses: [begin, end), in ns.
  struct server {
    std::uint32_t block{none};
    double begin{0}, end{0};
  };

  std::vector<server> servers_ = std::vector<server>(places * in_place);
};

}  // namespace heddle::sim
