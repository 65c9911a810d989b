// The blocking calls of a runtime's threads: how many may be under way, and how many threads keep a carrier in one.
// Owns both numbers. `admit` and `end` are called by blocking() (src/wait/blocking.cpp). The count of kept carriers is
// changed by the code that takes the worker away and brings the thread back. Promise: no more calls than the limit are
// between `admit` and `end`.
#pragma once

#include <atomic>
#include <cstdint>

#include <heddle/semaphore.hpp>

namespace heddle::worker {

class blocking_calls {
 public:
  explicit blocking_calls(unsigned limit) noexcept : limit_(limit), free_(limit) {}

  // A call is about to be under way. Waits while as many calls as the limit are under way. The caller is a thread that
  // may be preempted; it may be suspended and migrated. Defined beside the means that it waits by:
  // src/wait/blocking.cpp.
  void admit() noexcept;
  // The call is over, or did not come to be. On any kernel thread.
  void end() noexcept { free_.release(1); }

  // A thread keeps the calling kernel thread, and the worker goes on with another carrier.
  void carrier_kept() noexcept { kept_.fetch_add(1); }
  void carrier_left() noexcept { kept_.fetch_sub(1); }
  // True if some thread keeps a carrier. A hint, for the watchdog.
  bool keep_carriers() const noexcept { return kept_.load() != 0; }

 private:
  const unsigned limit_;
  detail::semaphore_core free_;  // calls that may be under way in addition
  std::atomic<bool> told_of_limit_{false};
  std::atomic<std::uint32_t> kept_{0};
};

}  // namespace heddle::worker
