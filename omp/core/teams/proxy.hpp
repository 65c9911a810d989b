// A user-level thread that has a seat in a region's gang in place of a leader that is a kernel thread: it keeps a
// worker and sleeps in the kernel, so that the leader has that worker's processor. [region_gang:6] of README.md.
#pragma once

#include <atomic>
#include <memory>

#include <heddle/thread.hpp>

#include "omp/seam.hpp"

namespace heddle::omp {

class proxy {
 public:
  // Returns null if a preemptive thread cannot be made here.
  static std::unique_ptr<proxy> make();
  ~proxy();
  proxy(const proxy&) = delete;

  // The leader calls these functions. await_rest returns when the proxy has left its last gang.
  void await_rest() noexcept;
  // Makes the proxy take that seat of a gang that has begun.
  void enter(heddle::detail::gang_handle* gang, unsigned number) noexcept;
  // Makes the proxy leave the gang.
  void leave() noexcept;

 private:
  proxy() = default;
  void live() noexcept;
  static bool rest(void* self, heddle::detail::waiter& w) noexcept;

  std::atomic<heddle::detail::waiter*> rests_{
      nullptr};                            // while it is in no gang: its wait, until the leader has seen it
  heddle::detail::waiter* seen_{nullptr};  // the one that the leader has taken
  // 1 while it is in a gang; it sleeps there on this word.
  std::atomic<int> wanted_{0};
  bool stops_{false};  // published by its waking
  heddle::thread thread_;
};

}  // namespace heddle::omp
