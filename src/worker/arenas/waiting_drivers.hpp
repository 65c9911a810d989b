// The arenas of a runtime that wait for one of its workers: a list of drivers, those of a higher level first, then in
// order of arrival. Anybody pushes; a worker takes the first one that it may carry.
#pragma once

#include <atomic>
#include <memory>

#include <heddle/detail/spin_word.hpp>

#include "worker/arenas/arena.hpp"

namespace heddle::worker {

class sleepers;

class waiting_drivers {
 public:
  // `workers`: of the runtime.
  explicit waiting_drivers(unsigned workers) : for_worker_(new std::atomic<unsigned>[workers] {}), workers_(workers) {}

  // Any kernel thread. It ends with a full fence: the caller may look for sleepers right after it.
  void push(driver& d) noexcept;
  // By worker `rank`. Returns the first driver that it may carry, or null if there is none.
  [[nodiscard]] driver* take(unsigned rank) noexcept;
  // There is one for that worker. A hint, or exact after a heavy fence.
  bool any_for(unsigned rank) const noexcept {
    return for_all_.load(std::memory_order_relaxed) != 0 || for_worker_[rank].load(std::memory_order_relaxed) != 0;
  }
  // Some driver waits that not every worker may carry. As above.
  bool any_limited() const noexcept { return limited_.load(std::memory_order_relaxed) != 0; }
  // Wakes a sleeper for each such driver, which may carry it.
  void wake_for_limited(sleepers& all) noexcept;

 private:
  void count(const driver& d, unsigned by) noexcept;

  detail::spin_word lock_;
  driver* first_{nullptr};  // under lock_
  // All three are written under lock_, and read by all who search.
  std::atomic<unsigned> for_all_{0};                           // drivers that every worker may carry
  std::atomic<unsigned> limited_{0};                           // the others
  const std::unique_ptr<std::atomic<unsigned>[]> for_worker_;  // of the others, those that this worker may carry
  const unsigned workers_;
};

}  // namespace heddle::worker
