// By name, what options choose for comparison in the place of what is used: README.md.
#pragma once

#include <string>

#include "platform/ticks.hpp"
#include "worker/preemption/klt_means.hpp"

namespace heddle::worker::comparison {

// "naive", "futex", "local"; any other name: what is used.
klt_means klt_means_named(const std::string& name);
// "uintr"; null for any other name.
const platform::tick_source* tick_source_named(const std::string& name);

}  // namespace heddle::worker::comparison
