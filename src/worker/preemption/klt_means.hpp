// The means by which KLT-switching puts kernel threads to sleep and finds others (preemption.md). The papers use more
// means than one. The initial value of each field is the one that heddle uses; the other values are in comparison/.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::worker {

struct klt_means {
  bool straight{true};     // goes straight from a preempted thread's carrier to the next one's
  bool keeps_pools{true};  // spare carriers go to their worker's pool, bound to its processing unit
  // How a carrier sleeps with its thread until `signal` is not `expected`, and how it is woken. Null means a futex.
  void (*sleep)(std::atomic<std::uint32_t>& signal, std::uint32_t expected) noexcept {nullptr};
  void (*wake)(int kernel_thread) noexcept {nullptr};
};

}  // namespace heddle::worker
