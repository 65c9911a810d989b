// A carrier: the kernel thread that runs a worker at the moment. A worker changes carriers when its thread makes a
// blocking call.
#pragma once

#include <atomic>
#include <cstdint>

#include "fiber/sanitizer.hpp"
#include "platform/platform.hpp"

namespace heddle::worker {

class worker;
class runtime;

struct carrier {
  explicit carrier(runtime& owner) noexcept : home(owner) {}

  runtime& home;
  void* stack_pointer{nullptr};           // of its own stack, while it runs a user-level thread
  fiber::native_stack native;
  platform::kernel_thread kernel;
  worker* assigned{nullptr};              // written before `signal` is raised
  std::atomic<std::uint32_t> signal{0};   // 1: a worker is assigned, 2: end; futex word of a spare carrier
  carrier* next_spare{nullptr};           // under the runtime's carrier mutex
  carrier* next_all{nullptr};             // under the runtime's carrier mutex
};

}  // namespace heddle::worker
