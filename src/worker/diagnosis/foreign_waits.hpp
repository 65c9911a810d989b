// Kernel threads outside of the workers that sleep until they are woken: for dumps.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <heddle/detail/wait.hpp>

#include "platform/platform.hpp"

namespace heddle::worker {

struct foreign_wait_place {
  std::atomic<const void*> stack{nullptr};  // of the waiter; null while the place is free
  // The words from here on are written by the kernel thread that has the place.
  std::atomic<const char*> what{nullptr};
  std::atomic<const void*> object{nullptr}, code{nullptr};
  std::atomic<std::uint64_t> process{0};  // its fork count: a parent's waiters do not wait here
};

// A copy of the waiter's words, in a table of the process, from before the kernel thread sleeps until after. A reader
// may meet a place that is being taken or given up. It then copies a mixture, each part of which was true of some wait:
// a hint, like everything that a dump says. Nothing is locked, and no memory of the waiter's is read, because its stack
// may be gone.
class foreign_wait {
 public:
  explicit foreign_wait(const detail::waiter& w) noexcept {
    for (foreign_wait_place& p : places) {
      const void* nobody = nullptr;
      // relaxed: whether the place is free is decided by the exchange
      if (p.stack.load(std::memory_order_relaxed) != nullptr || !p.stack.compare_exchange_strong(nobody, &w)) continue;
      p.what.store(w.what, std::memory_order_relaxed);  // hints
      p.object.store(w.object, std::memory_order_relaxed);
      p.code.store(w.place, std::memory_order_relaxed);
      p.process.store(platform::fork_count(), std::memory_order_relaxed);
      mine_ = &p;
      return;
    }
  }
  ~foreign_wait() {
    if (mine_ != nullptr) mine_->stack.store(nullptr);
  }
  foreign_wait(const foreign_wait&) = delete;
  foreign_wait& operator=(const foreign_wait&) = delete;

  // Calls f(stack address, what, object, code) for each of this process. Kernel threads beyond the number of places are
  // not known.
  template <class F>
  static void for_each(F&& f) {
    for (const foreign_wait_place& p : places) {
      const void* const stack = p.stack.load();
      const char* const what = p.what.load(std::memory_order_relaxed);  // hints
      if (stack == nullptr || what == nullptr || p.process.load(std::memory_order_relaxed) != platform::fork_count())
        continue;
      f(stack, what, p.object.load(std::memory_order_relaxed), p.code.load(std::memory_order_relaxed));
    }
  }

 private:
  static inline constinit std::array<foreign_wait_place, 64> places{};

  foreign_wait_place* mine_{nullptr};
};

}  // namespace heddle::worker
