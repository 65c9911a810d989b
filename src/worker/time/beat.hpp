// What a policy hears by the clock (policy::beat, policy::workers_changed), and how fast workers are: on a kernel
// thread of the runtime's own, where the policy wants either. For workers may all be busy, or all asleep, when the time
// has come: [usage:4] of usage.md. Owns that kernel thread, and what was seen of workers before.
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

  // All workers have carriers. 0, also if the policy wants nothing of this; else why the kernel thread could not start.
  [[nodiscard]] int start();
  // No thread is left. From here on the policy hears nothing of this any more.
  void end() noexcept;

  // Of a worker's kernel thread between two looks: the part of the time that it had a processor; negative where that
  // says nothing, for the worker slept meanwhile, or changed its kernel thread.
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
  [[nodiscard]] bool measure() noexcept;  // true: some speed has moved by more than the policy's step

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
