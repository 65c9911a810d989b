#include "worker/preemption/klt_means.hpp"

#include <stdexcept>

#include "platform/platform.hpp"

namespace heddle::worker {

namespace {

compared_means& compared() noexcept {
  static constinit compared_means means{};
  return means;
}

[[noreturn]] void refuse(const char* name) {
  throw std::invalid_argument(std::string(name) +
                              " serves comparisons, and is in programs alone that link bench/comparison");
}

}  // namespace

void use_for_comparison(const compared_means& means) noexcept {
  if (means.sleep != nullptr) compared().sleep = means.sleep;
  if (means.user_interrupts != nullptr) compared().user_interrupts = means.user_interrupts;
}

// Each means is the one before and one improvement. The last improvement gives the means that heddle uses.
klt_means klt_means_named(const std::string& name) {
  klt_means means;
  means.straight = name != "naive" && name != "futex" && name != "local";
  means.keeps_pools = name != "naive" && name != "futex";
  if (name != "naive") return means;
#if defined(HEDDLE_SIM)
  means.sleep = platform::sleep_until_tick;
#else
  means.sleep = compared().sleep;
#endif
  if (means.sleep == nullptr) refuse("naive");
  return means;
}

const platform::tick_source* tick_source_named(const std::string& name) {
  if (name != "uintr") return nullptr;
  if (platform::simulated) throw std::invalid_argument("the machine is simulated");
  if (compared().user_interrupts == nullptr) refuse("uintr");
  return compared().user_interrupts;
}

}  // namespace heddle::worker
