// Substitutes: workers beside those of the runtime, which run what waits while all workers sit in system calls.
// Owns the substitutes, and what was last seen of each worker's kernel thread. The service clock's kernel thread looks,
// lends and takes back; a substitute itself robs. Promise: while a runtime has no worker in a system call for longer
// than the bound, no substitute runs longer than to its next boundary. Protocol and argument: substitutes.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "platform/platform.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

class timekeeping;

// The last look at a worker's kernel thread. The clock's own.
struct last_seen {
  int kernel_thread{0};
  std::uint64_t picks{0}, ticks{0};
  platform::nanoseconds used{0};   // processor time of the kernel thread
  platform::nanoseconds since{0};  // when it was first seen like this
};

struct substitute {
  // Throws std::bad_alloc.
  substitute(runtime& home, unsigned rank);

  // Called by itself when it has found nothing for a while, or by the clock: it gives all that it has to the runtime's
  // workers, at its next choice or boundary.
  void retire() noexcept;

  worker its;
  // It has no carrier and no work. Set by its last carrier, with all of the worker's state; cleared by the clock.
  std::atomic<bool> rests{true};
  last_seen seen;
  substitute* next{nullptr};  // written before the substitute is in the list, and never again
};

class substitutes {
 public:
  // `bound`: how long all workers have to be in system calls; 0 means that there are no substitutes.
  substitutes(runtime& home, const worker_list& workers, timekeeping& time, platform::nanoseconds bound,
              unsigned most) noexcept
      : home_(home), workers_(workers), time_(time), bound_(bound), most_(most) {}
  ~substitutes();
  substitutes(const substitutes&) = delete;
  substitutes& operator=(const substitutes&) = delete;

  // By the clock. Lends a substitute, or takes them back. Returns true if the clock has to look again after one bound.
  // Sets `busy` if a substitute runs.
  [[nodiscard]] bool look(bool& busy) noexcept;
  // By the runtime's destructor, when the clock has ended.
  void end() noexcept;
  // Called inside exit() for the runtime that has no destructor; waits for nothing.
  void end_with_process() noexcept;

  // By a substitute that looks for work, or at ticks: takes from the queues of other workers and substitutes.
  [[nodiscard]] entry rob(worker& thief) noexcept;
  // True if the worker is to rob at ticks: it is a substitute, or some worker sits beside work.
  bool helps_at_ticks(const worker& w) const noexcept {
    return w.stands_in != nullptr || work_stands_still_.load(std::memory_order_relaxed);  // a hint
  }

  // Calls f(worker) for each substitute. Any kernel thread.
  template <class F>
  void for_each(F&& f) const {
    for (const substitute* s = first_.load(); s != nullptr; s = s->next) f(s->its);
  }

 private:
  [[nodiscard]] bool sits(const worker& w, last_seen& seen, platform::nanoseconds now) const noexcept;
  [[nodiscard]] bool some_worker_is_free(platform::nanoseconds now) noexcept;
  [[nodiscard]] bool all_are_in_system_calls() const noexcept;
  [[nodiscard]] bool something_waits() const noexcept;
  [[nodiscard]] bool may_lend() const noexcept;
  [[nodiscard]] bool lend() noexcept;
  [[nodiscard]] substitute* take_resting() noexcept;
  void tell() noexcept;

  runtime& home_;
  const worker_list& workers_;
  timekeeping& time_;
  const platform::nanoseconds bound_;
  const unsigned most_;
  std::atomic<substitute*> first_{nullptr};     // pushed by the clock
  std::atomic<bool> work_stands_still_{false};  // written by the clock
  unsigned count_{0};                           // the clock's, as the rest
  std::vector<last_seen> seen_;                 // by rank
  platform::kernel_thread teller_;              // prints the warning
  std::atomic<bool> has_teller_{false};         // teller_ is written
};

}  // namespace heddle::worker
