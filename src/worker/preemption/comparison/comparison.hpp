// The means that options choose, by name, for comparison in place of the usual ones: README.md.
#pragma once

#include <string>

#include "platform/ticks.hpp"
#include "worker/preemption/klt_means.hpp"

namespace heddle::worker::comparison {

// Accepts "naive", "futex" and "local". For any other name it returns the means that heddle uses.
klt_means klt_means_named(const std::string& name);
// Accepts "uintr". Returns null for any other name.
const platform::tick_source* tick_source_named(const std::string& name);

}  // namespace heddle::worker::comparison
