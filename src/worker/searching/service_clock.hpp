// A kernel thread that reminds it at workers which have not looked at what waits for longer than the bound, because the
// code that they run reads no clock: service.md. Owns that kernel thread. Promise: while some worker computes and
// something waits, each worker is reminded or looks itself. It also tells the pool of stacks that time passes.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/platform.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

class substitutes;
class timekeeping;

class service_clock {
 public:
  service_clock(const worker_list& workers, timekeeping& time, substitutes& spare, fiber::stack_pool& stacks,
                platform::nanoseconds bound) noexcept
      : workers_(workers), time_(time), substitutes_(spare), stacks_(stacks), bound_(bound) {}
  service_clock(const service_clock&) = delete;
  service_clock& operator=(const service_clock&) = delete;

  // Returns 0, or the error for which the kernel thread could not start.
  [[nodiscard]] int start() noexcept;
  void end() noexcept;

  // By a worker that has found work: the clock looks from now on.
  void worker_begins() noexcept {
    if (sleeps_.load(std::memory_order_relaxed)) [[unlikely]]  // a hint: a look that is missed is made by the next one
      call();
  }
  // By a kernel thread that has put something where all workers see it, and no worker is idle. Reminds the workers
  // that have not looked for longer than the bound. Of the others the clock sees to it that they look in time.
  void sent_in() noexcept;

 private:
  static void run(void* self) noexcept;
  void serve() noexcept;
  void call() noexcept;
  void age_stacks(platform::nanoseconds now) noexcept;
  // Reminds workers where something waits. Returns false in `busy` if no worker runs anything.
  [[nodiscard]] bool look(bool& busy) noexcept;

  const worker_list& workers_;
  timekeeping& time_;
  substitutes& substitutes_;
  fiber::stack_pool& stacks_;
  const platform::nanoseconds bound_;
  platform::kernel_thread kernel_;
  std::atomic<std::uint32_t> calls_{0};             // a futex word: raised by a call
  std::atomic<bool> sleeps_{false};                 // no worker has run anything for some looks
  std::atomic<platform::nanoseconds> looks_at_{0};  // the time of the next look; a hint
  std::atomic<bool> ends_{false};
  platform::nanoseconds stacks_age_at_{0};
};

}  // namespace heddle::worker
