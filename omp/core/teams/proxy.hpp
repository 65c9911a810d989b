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
  // Null: a preemptive thread cannot be made here.
  static std::unique_ptr<proxy> make();
  ~proxy();
  proxy(const proxy&) = delete;

  // All by the leader. Returns when it has left its last gang.
  void await_rest() noexcept;
  // It takes that seat of a gang that has begun.
  void enter(heddle::detail::gang_handle* gang, unsigned number) noexcept;
  // It leaves the gang.
  void leave() noexcept;

 private:
  proxy() = default;
  void live() noexcept;
  static bool rest(void* self, heddle::detail::waiter& w) noexcept;

  std::atomic<heddle::detail::waiter*> rests_{
      nullptr};                            // while it is in no gang: its wait, until the leader has seen it
  heddle::detail::waiter* seen_{nullptr};  // by the leader
  std::atomic<int> wanted_{0};             // 1: it is in a gang; what it sleeps on there
  bool stops_{false};                      // published by its waking
  heddle::thread thread_;
};

}  // namespace heddle::omp
