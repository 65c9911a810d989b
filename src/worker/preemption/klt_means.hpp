// How KLT-switching puts kernel threads to sleep and finds others, where the papers do it in more ways than one
// (preemption.md). What a field holds from the start is what is used; anything else is in comparison/.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::worker {

struct klt_means {
  bool straight{true};     // from a preempted thread's carrier straight to the next one's
  bool keeps_pools{true};  // spare carriers go to a pool of their worker's, bound to its processing unit
  // How a carrier sleeps with its thread until `signal` is not `expected`, and how it is woken. Null: a futex.
  void (*sleep)(std::atomic<std::uint32_t>& signal, std::uint32_t expected) noexcept {nullptr};
  void (*wake)(int kernel_thread) noexcept {nullptr};
};

}  // namespace heddle::worker
