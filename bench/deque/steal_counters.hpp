// The counts of a thief, and its memory of a victim.
#pragma once

#include <cstdint>

namespace deque_bench {

struct steal_counters {
  std::uint64_t taken = 0;              // jobs stolen
  std::uint64_t lost = 0;               // CAS lost to the owner or another thief
  std::uint64_t requests = 0;           // requests posted
  std::uint64_t barriers = 0;           // membarrier calls
  std::uint64_t last_resort_taken = 0;  // jobs stolen without the owner's help

  steal_counters& operator+=(const steal_counters& o) noexcept {
    taken += o.taken, lost += o.lost, requests += o.requests, barriers += o.barriers,
        last_resort_taken += o.last_resort_taken;
    return *this;
  }
};

// The last public state seen, and since when. A deque without requests ignores it.
struct victim_memory {
  std::uint64_t seen = 0;
  std::uint64_t since = 0;
};

}  // namespace deque_bench
