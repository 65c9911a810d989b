// The socket that worked last on each part of a program's data, for CAB: a component of bi_tier. Data is identified by
// its range (Eq. 4.5), not by tasks. So trees of unlike shapes, and the several trees of one iteration, find the same
// socket for the same data.
//
// Source: Chen, Guo (2017), section 4.6.1, has the ranges, for LAWS; CAB leaves open which socket takes a subtree. A
// socket that takes a subtree from another socket becomes the home of its data, so an uneven distribution evens out
// within some iterations.
//
// All accesses are relaxed, because homes are hints: a task that goes to an older home runs all the same.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <heddle/policy.hpp>
#include "policy/sockets/tier_partition.hpp"

namespace heddle::policy {

class socket_homes {
 public:
  void note(const data_range& r, unsigned socket) noexcept {
    const auto home = static_cast<std::uint16_t>(socket + 1);
    const std::uint64_t end = std::max(place(r.to, r.parts), place(r.from, r.parts) + 1);
    // relaxed: hints. The load before the store keeps the line shared if nothing changes.
    for (std::uint64_t i = place(r.from, r.parts); i < end; ++i) {
      if (homes_[i].load(std::memory_order_relaxed) != home) homes_[i].store(home, std::memory_order_relaxed);
    }
  }
  // The home of the range's first part, or of its middle; nobody if no socket worked on it yet.
  unsigned of_begin(const data_range& r) const noexcept { return at(place(r.from, r.parts)); }
  unsigned of_middle(const data_range& r) const noexcept { return at(place(r.from + r.to, 2 * r.parts)); }

 private:
  static constexpr std::uint64_t parts = 1024;
  static std::uint64_t place(std::uint64_t at, std::uint64_t of) noexcept {
    return std::min(at * parts / of, parts);  // ranges have 2^44 parts at most
  }
  unsigned at(std::uint64_t where) const noexcept {
    const unsigned home = homes_[std::min(where, parts - 1)].load(std::memory_order_relaxed);  // a hint
    return home == 0 ? nobody : home - 1;
  }

  // The last one is for a range at the end that is shorter than a part.
  std::atomic<std::uint16_t> homes_[parts + 1]{};
};

}  // namespace heddle::policy
