// The time that a message takes from one worker to another, on simulated machines whose thieves send messages over
// links (src/platform/messages.hpp). It is 0 everywhere else, and between workers of one node.
#pragma once

#include "machine/topology.hpp"
#include "platform/messages.hpp"

namespace heddle::worker {

inline platform::nanoseconds message_time([[maybe_unused]] const machine::topology* machine,
                                          [[maybe_unused]] unsigned from, [[maybe_unused]] unsigned to) noexcept {
  if constexpr (platform::simulated) {
    const double latencies = platform::link_messages();
    if (latencies == 0 || machine == nullptr) return 0;
    const machine::view all = machine->view();
    if (all.unit_of(from).numa == all.unit_of(to).numa) return 0;
    return static_cast<platform::nanoseconds>(latencies * all.latency(from, to));
  }
  return 0;
}

// A request to a victim, and the answer. Both pass on the thief's clock, because the thief waits for them.
class round_trip {
 public:
  explicit round_trip(platform::nanoseconds one_way) noexcept : one_way_(one_way) {
    if constexpr (platform::simulated) platform::pass_message(one_way_);
  }
  ~round_trip() {
    if constexpr (platform::simulated) platform::pass_message(one_way_);
  }
  round_trip(const round_trip&) = delete;
  round_trip& operator=(const round_trip&) = delete;

 private:
  const platform::nanoseconds one_way_;
};

}  // namespace heddle::worker
