// The calls that a policy gets by the clock (policy::beat, policy::workers_changed), and the measurement of how fast
// workers are. Both run on a kernel thread of the runtime's own, where the policy wants either, because workers may all
// be busy, or all asleep, when the time has come: [usage:4] of usage.md. Owns that kernel thread, and the previous
// measurements of workers.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "platform/platform.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

class capacity;
class policy_host;

class beat {
 public:
  beat(const worker_list& workers, policy_host& host, capacity& size) noexcept
      : workers_(workers), host_(host), capacity_(size) {}
  beat(const beat&) = delete;
  beat& operator=(const beat&) = delete;

  // All workers have carriers. Returns 0, also if the policy wants nothing of this; otherwise the error for which the
  // kernel thread could not start.
  [[nodiscard]] int start();
  // No thread is left. From this call on the policy gets no more such calls.
  void end() noexcept;

  // A measurement of a worker's kernel thread. `share_between` returns the part of the time between two of them that it
  // had a processor. The result is negative if the two say nothing, because the worker slept meanwhile, or changed its
  // kernel thread.
  struct look {
    int kernel_thread{0};
    std::uint64_t parks{0};
    bool sleeps{true};
    platform::nanoseconds at{0}, used{0};
  };
  static double share_between(const look& before, const look& now) noexcept;

 private:
  static void run(void* self) noexcept;
  void serve() noexcept;
  look look_at(const worker& w) const noexcept;
  [[nodiscard]] bool measure() noexcept;  // true if some speed has moved by more than the policy's step

  const worker_list& workers_;
  policy_host& host_;
  capacity& capacity_;
  platform::kernel_thread kernel_;
  std::atomic<bool> ends_{false};
  struct seen {
    look last;
    double share{1};  // smoothed
    double told{0};   // speed that the policy has heard of
  };
  std::vector<seen> seen_;  // of the workers; the kernel thread's own
};

}  // namespace heddle::worker
