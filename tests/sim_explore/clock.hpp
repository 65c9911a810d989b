// Parts of scenarios with a service clock (src/worker/searching/service.md).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <heddle/heddle.hpp>
#include <heddle/pause.hpp>

#include "platform/explored.hpp"
#include "platform/platform.hpp"
#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {

// A runtime whose clock notices after a few microseconds that something waits.
inline runtime_options clocked(std::size_t n) {
  platform::has_service_clock = true;
  runtime_options o = workers(n);
  o.service_bound = std::chrono::microseconds(10);
  o.blocked_bound = std::chrono::microseconds(10);
  return o;
}

// A call of the system that blocks the kernel thread until end() is called.
class system_call {
 public:
  void wait() {
    while (ended_.load() == 0) platform::wait_on(ended_, 0);
  }
  void end() {
    ended_.store(1);
    platform::wake_all(ended_);
  }

 private:
  std::atomic<std::uint32_t> ended_{0};
};

// About a microsecond of a computation. The pause lets other kernel threads go on in schedules that force few switches.
inline void compute() {
  for (int i = 0; i < 5; ++i) platform::charge(platform::operation::look);
  this_thread::pause();
}

}  // namespace heddle::sim
