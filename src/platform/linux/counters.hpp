// The events of perf_event_open(2), and the figure of a usage_reading to which each belongs. They stand in a file of
// their own so that a test can count events that the kernel makes up, where the processor has no counters.
#pragma once

#include <cstdint>
#include <span>

#include "platform/usage.hpp"

namespace heddle::platform {

struct counted_event {
  std::uint32_t type;
  std::uint64_t config;
  usage_reading::figure figure;
};

// Opens, as one group, those of the events that are available.
void open_events(usage_counters& out, std::span<const counted_event> events) noexcept;

}  // namespace heddle::platform
