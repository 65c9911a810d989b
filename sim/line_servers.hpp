// Lines that go from core to core: each serves one request after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::sim {

// A block whose ownership changes is not free again before the one who got it last is done with it. Only blocks that
// somebody waited for, or may have to, are kept: those of the last `history` ns of virtual time.
class line_servers {
 public:
  // When the service of the block begins that is asked for at `at` and takes `busy` ns. No request before `oldest`
  // comes any more. One that comes before the service that is going on began is of an earlier time, which a long call
  // has overtaken: it does not wait for what comes after it.
  double serve(std::uint32_t block, double at, double busy, double oldest);

  std::uint64_t bytes() const noexcept { return servers_.capacity() * sizeof(server); }

 private:
  static constexpr std::uint32_t none = ~0u;
  // A service without a pause: [begin, end), ns.
  struct server {
    std::uint32_t block{none};
    double begin{0}, end{0};
  };

  server& of(std::uint32_t block);
  void make_room(double oldest);

  std::size_t used_{0};
  std::vector<server> servers_ = std::vector<server>(64);  // open addressing, linear probing, at most half full
};

}  // namespace heddle::sim
