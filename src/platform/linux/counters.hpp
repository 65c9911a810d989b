// Events of perf_event_open(2), and which figure of a usage_reading each is for. Apart, so that a test can count events
// that the kernel makes up, where the processor has no counters.
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

// Opens one group of those of the events that can be had.
void open_events(usage_counters& out, std::span<const counted_event> events) noexcept;

}  // namespace heddle::platform
