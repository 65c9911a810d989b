/// Thread slots: words that a user-level thread carries along, for libraries built on heddle.
#pragma once

#include <cstddef>
#include <type_traits>

#include <heddle/detail/current.hpp>
#include <heddle/detail/fork_queue.hpp>
#include <heddle/export.hpp>

namespace heddle {

namespace detail {

inline constexpr unsigned thread_slots = 4;
inline constexpr std::size_t slots_of_thread = 352;  // the offset of the slots in a fiber::thread

}  // namespace detail

}  // namespace heddle

extern "C" {
// The slots of a kernel thread that carries no worker. The last word is not null while it has the slots of a user-level
// thread (blocking). Never use it by its name; see heddle/detail/current.hpp.
extern HEDDLE_API thread_local constinit void* heddle_foreign_slots[heddle::detail::thread_slots + 1]
    __attribute__((tls_model("initial-exec")));
}

namespace heddle {

namespace detail {

[[gnu::always_inline]] inline void** foreign_slots() noexcept {
  void** slots;
#if defined(__x86_64__)
  asm volatile("movq heddle_foreign_slots@gottpoff(%%rip), %0\n\taddq %%fs:0, %0" : "=r"(slots) : : "cc", "memory");
#elif defined(__aarch64__)
  void* offset;
  asm volatile(
      "mrs %0, tpidr_el0\n\tadrp %1, :gottprel:heddle_foreign_slots\n\t"
      "ldr %1, [%1, #:gottprel_lo12:heddle_foreign_slots]\n\tadd %0, %0, %1"
      : "=&r"(slots), "=&r"(offset)
      :
      : "memory");
#endif
  return slots;
}

// Returns the slots of the calling thread. They stay at this address as long as the same thread calls.
[[gnu::always_inline]] inline void** slots_here() noexcept {
  const fork_queue* const queue = current_queue();
  if (queue == nullptr) [[unlikely]]
    return foreign_slots();
  return reinterpret_cast<void**>(static_cast<char*>(queue->running) + slots_of_thread);
}

// Throws std::length_error.
HEDDLE_API unsigned claim_slot();
HEDDLE_API bool keep_in_slot(unsigned number, void* value) noexcept;
struct claimed_slot {
  unsigned number;
};
inline constexpr claimed_slot slot_of_openmp{0};  // never given to other slots

}  // namespace detail

/// A pointer for each user-level thread, which moves with the thread and is read in three loads from any code.
/// thread_local variables cannot do that, because they belong to the kernel thread that runs the thread at the moment
/// (unless the thread has storage of its own, tls::own). It is meant for libraries that are built on heddle and need
/// their own "current thread" or "current team". A process has few slots, and a slot is never given back, so a program
/// should keep all its data of this kind behind one pointer.
///
/// A value is bound for a scope:
///
///     inline heddle::thread_slot<team> my_team;
///     heddle::thread t([&] {
///       const heddle::thread_slot<team>::scope bound(my_team, &red);
///       work();  // my_team.get() == &red here and in all that it calls, wherever the thread goes
///     });
///
/// *Threads.* A thread begins with null, and so does the thread that runs a call from outside (`runtime::run`). *Tasks*
/// (second halves of forks, children of groups, pieces of loops) may run on the thread that waits for them or on
/// another one. On the first they see what is bound there when they begin, and on the second they see null. So a task
/// sees a value of its own, or one that was bound by code that waits for it, or null. It never sees the value of
/// another task. A library that wants a task to see something binds it inside the task.
///
/// Thread context of every function but `keep`: any. A signal handler may call only `get`.
template <class T>
class thread_slot {
 public:
  /// Throws std::length_error if all slots are taken.
  thread_slot() : number_(detail::claim_slot()) {}
  constexpr explicit thread_slot(detail::claimed_slot which) noexcept : number_(which.number) {}
  thread_slot(const thread_slot&) = delete;
  thread_slot& operator=(const thread_slot&) = delete;

  /// Returns what is bound here, or null if nothing is.
  [[gnu::always_inline]] T* get() const noexcept { return static_cast<T*>(detail::slots_here()[number_]); }

  /// Binds a value from its construction to its destruction, and then restores what was bound before. It must be a
  /// variable in a function that ends on the thread on which it began: it must be neither kept elsewhere nor in the
  /// frame of a C++20 coroutine.
  class [[nodiscard]] scope {
   public:
    scope(const thread_slot& slot, T* value) noexcept : place_(detail::slots_here() + slot.number_), before_(*place_) {
      *place_ = const_cast<std::remove_cv_t<T>*>(value);
    }
    ~scope() { *place_ = before_; }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

   private:
    void** place_;
    void* before_;
  };

  /// Binds a value on the calling foreign kernel thread, until that thread ends or binds another value. On a user-level
  /// thread and inside `blocking` it does nothing and returns false; there values are bound for a scope.
  bool keep(T* value) const noexcept { return detail::keep_in_slot(number_, const_cast<std::remove_cv_t<T>*>(value)); }

 private:
  unsigned number_;
};

}  // namespace heddle
