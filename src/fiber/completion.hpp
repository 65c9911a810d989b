// The result word of a thread [fiber:3]: whether it has ended, and which waiter waits for that.
//
//   running -> finished                       it ended before it was joined
//   running -> awaited by a waiter -> finished  a joiner sleeps; the thread's end wakes it
//   running -> detached                       the handle was given up; the end frees the block
//   running -> called                         its joiner runs it by a call, and nothing waits
//
// The thread's last act and its joiner write it. It publishes everything that the thread did.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::detail {
struct waiter;
}

namespace heddle::fiber {

class completion {
 public:
  // The value of the word at one moment.
  class state {
   public:
    bool is_finished() const noexcept { return word_ == finished; }
    bool is_detached() const noexcept { return word_ == detached; }
    bool is_called() const noexcept { return word_ == called; }
    // Returns the waiter that sleeps until the end, or null if there is none.
    detail::waiter* awaited_by() const noexcept {
      return word_ > called ? reinterpret_cast<detail::waiter*>(word_) : nullptr;
    }

   private:
    friend class completion;
    explicit state(std::uintptr_t word) noexcept : word_(word) {}
    std::uintptr_t word_;
  };

  // acquire pairs with await: the waiter; acquire pairs with finish: what the thread did
  state now() const noexcept { return state(word_.load(std::memory_order_acquire)); }

  // --- the maker ---
  // relaxed: published with the thread itself
  void renew() noexcept { word_.store(running, std::memory_order_relaxed); }

  // --- the joiner; false means that the thread has ended ---
  [[nodiscard]] bool await(detail::waiter& w) noexcept { return leave_running(reinterpret_cast<std::uintptr_t>(&w)); }
  [[nodiscard]] bool detach() noexcept { return leave_running(detached); }
  // Called by the joiner, which alone can reach the thread and runs it, before the thread has begun.
  void call() noexcept { word_.store(called, std::memory_order_relaxed); }  // relaxed: read by the thread alone

  // --- the thread, in its last act ---
  state finish() noexcept { return state(word_.exchange(finished)); }
  // Does the same for a thread that is awaited.
  void finish_awaited() noexcept { word_.store(finished, std::memory_order_release); }  // pairs with now

 private:
  static constexpr std::uintptr_t running = 0;
  static constexpr std::uintptr_t finished = 1;
  static constexpr std::uintptr_t detached = 2;
  static constexpr std::uintptr_t called = 3;

  bool leave_running(std::uintptr_t for_what) noexcept {
    std::uintptr_t expected = running;
    return word_.compare_exchange_strong(expected, for_what);
  }

  std::atomic<std::uintptr_t> word_{running};
};

}  // namespace heddle::fiber
