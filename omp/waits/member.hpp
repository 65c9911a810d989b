// Who calls, and what heddle is told when a member waits here.
#pragma once

#include <cerrno>
#include <utility>

#include <heddle/blocking.hpp>

#include "omp/seam.hpp"

// In libheddle_omp.so, which counts the threads that want a processor.
HEDDLE_OMP_ENTRY void heddle_omp_rests(int change) noexcept;
HEDDLE_OMP_ENTRY bool heddle_omp_is_crowded() noexcept;

namespace heddle::omp::waits {

// In a child that a member has made by fork(): what the member is there is no thread of heddle's any more.
inline constinit std::atomic<const void*> orphan{nullptr};

// A user-level thread of a team, in the program's own code. All others get the C library's function.
[[gnu::always_inline]] inline bool is_member() noexcept {
  const heddle::detail::fork_queue* const queue = heddle::detail::current_queue();
  if (queue == nullptr) [[likely]]
    return false;
  return runs_own_code(queue) && current_slot.get() != nullptr &&
         orphan.load(std::memory_order_relaxed) != queue;  // set before the child goes on
}

// The member wants no processor meanwhile. Its errno stays, as few of the C library's functions here touch it.
class resting {
 public:
  resting() noexcept { heddle_omp_rests(-1); }
  ~resting() {
    heddle_omp_rests(+1);
    errno = errno_;
  }
  resting(const resting&) = delete;
  resting& operator=(const resting&) = delete;

  void keep_errno() noexcept { errno_ = errno; }

 private:
  int errno_{errno};
};

// A member: the call keeps its kernel thread, and its worker goes on with others on another one.
template <class F>
auto in_kernel(F call) {
  resting now;
  return heddle::blocking([&] {
    const auto result = call();
    now.keep_errno();
    return result;
  });
}

}  // namespace heddle::omp::waits
