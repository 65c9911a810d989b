// A memory channel or a link. It serves one request after the other, at a rate.
//
// The simulator requests all lines of a call at once. A call may span microseconds of virtual time in which other cores
// make requests, too, later in the program's run but earlier in virtual time. One number, "free again at", would make
// those wait behind requests of the future. So time is cut into short slots, and each slot knows how much of it is
// used. A request takes free time from its own time on. Total throughput is exact; the order within a slot is not kept.
#pragma once

#include <cstdint>
#include <vector>

namespace heddle::sim {

class service_queue {
 public:
  // A slot holds `slot` ns.
  explicit service_queue(double slot) : width_(slot), ring_(64) {}

  // Returns when the service begins of a request that takes `busy` ns and comes at `at`; not before `at`. No request
  // before `oldest` comes any more, so knowledge about earlier times may be dropped. `oldest` never decreases, and is
  // not above `at`.
  double serve(double at, double busy, double oldest);

  std::uint64_t bytes() const noexcept { return ring_.capacity() * sizeof(slot); }

 private:
  struct slot {
    // Since time 0. If it is another number than the one looked for, the slot looked for is unused.
    std::uint64_t number{0};
    float used{0};          // ns
    std::uint32_t skip{1};  // for a full slot: the steps to the next one that may not be full
  };

  slot& at_number(std::uint64_t number);
  std::uint64_t first_with_room(std::uint64_t number);
  void grow(std::uint64_t number);

  double width_;
  double told_{0};           // the last `oldest`
  std::uint64_t oldest_{0};  // a slot's number
  std::uint64_t top_{0};     // highest slot in use
  std::vector<slot> ring_;   // by number modulo size; spans [oldest_, top_]
};

}  // namespace heddle::sim
