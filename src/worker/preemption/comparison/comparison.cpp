#include "worker/preemption/comparison/comparison.hpp"

#include "platform/comparison.hpp"

namespace heddle::worker::comparison {

// Each means is the one before and one improvement. The last improvement gives the means that heddle uses.
klt_means klt_means_named(const std::string& name) {
  klt_means means;
  means.straight = name != "naive" && name != "futex" && name != "local";
  means.keeps_pools = name != "naive" && name != "futex";
  if (name == "naive") {
    means.sleep = platform::wait_for_tick;
    means.wake = platform::send_tick;
  }
  return means;
}

const platform::tick_source* tick_source_named(const std::string& name) {
  return name == "uintr" ? &platform::user_interrupts() : nullptr;
}

}  // namespace heddle::worker::comparison
