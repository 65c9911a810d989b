// When the workers of a runtime get ticks, and from which timers: ticks.md. Times, groups and the chain are those of
// Section 3.2.2 of S. Shiina's thesis (docs/papers.md). One thing differs: a timer runs only while some worker in its
// group runs a preemptive thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

#include "fiber/preemptible.hpp"
#include "platform/platform.hpp"
#include "worker/carriers/carrier.hpp"

namespace heddle::worker {

class worker;

struct tick_plan {
  enum class source : std::uint8_t {
    creation,    // one timer per worker, from the moment the worker was made
    aligned,     // one timer per worker, their phases spread over the interval
    one_to_all,  // one timer; the worker that gets its tick passes it on to all workers that run preemptive threads
    chain,       // one timer per group; its tick goes along the workers that run preemptive threads
  };
  source from{source::aligned};
  unsigned groups{1};  // of the chain; their timers' phases are spread over the interval
  // Null means the system's timers; other sources are in comparison/.
  const platform::tick_source* timers{nullptr};
  platform::nanoseconds interval{1'000'000};
  // Time slices are short while threads spin ([slice:4]). Set if nobody has asked for a certain interval.
  bool shortens{false};
};

// Accepts "creation", "aligned", "one-to-all", "chain", "hybrid:GROUPS", or a name from comparison/ (which ticks as
// "aligned" does). Throws std::invalid_argument.
tick_plan tick_plan_from(const std::string& text, std::uint64_t interval);

// A worker that is about to run a preemptive thread's code wants ticks. With one timer per worker, the timer of its
// carrier then runs. With one timer per group, the first worker that wants ticks owns the group's timer (`owners_`),
// which is that of its carrier, until a tick finds no worker in the group that wants ticks. Ticks are hints: a tick
// that is lost or comes twice changes when something happens, but not what happens.
class ticks {
 public:
  ticks(const tick_plan& plan, unsigned workers);

  // Called by the worker's carrier, on the way to preemptive code. `once` means that the thread will keep the kernel
  // thread when it is preempted, so a periodic timer would go on for nothing. `not_before`: see begin_slice.
  void want(worker& w, bool once, platform::nanoseconds not_before = 0) noexcept;
  // The calling kernel thread has become the worker's carrier.
  void took_over(worker& w) noexcept;
  // A tick came to the worker's kernel thread: from its own timer (`by_timer`), or passed on by another worker.
  // `wanted` means that a preemptive thread runs here.
  void came(worker& w, bool by_timer, bool wanted) noexcept;
  // A time slice of `self` begins, at the end of a tick's handler. Sets its least length. At short intervals that is
  // half an interval, so that code runs between the handlers ([slice:2]). Where ticks have cut a system call short, it
  // is twice the length of the last time slice, up to a limit ([slice:3]).
  void begin_slice(worker& w, fiber::preemptible& self) noexcept;
  // The length that a time slice has at present on that worker, whose carrier calls.
  platform::nanoseconds slice_on(worker& w) const noexcept { return slices_are_short(w) ? spinning_slice : interval(); }
  // The usual length of a time slice: that of the plan, or longer, so that ticks take a tenth of the time at most
  // ([slice:5]).
  platform::nanoseconds interval() const noexcept {
    return std::max(plan_.interval, least_interval_.load(std::memory_order_relaxed));  // a number
  }
  // Called before the first preemptive thread of the runtime. Measures what a tick costs, once a process, if the
  // interval is so short that it may matter.
  void know_cost() noexcept;
  // If ticks find a thread spinning for so long, without a call of the runtime, it counts as one that does not give way
  // by itself. The value is half a usual time slice, and more than the some 100 us after which loops of libraries give
  // way.
  static constexpr platform::nanoseconds spinning_counts = 500'000;
  // A tick has found such a thread: [slice:4].
  void saw_spinning() noexcept { spun_at_.store(platform::now(), std::memory_order_relaxed); }  // a hint
  // A tick came to `self`, which computes. Returns true if it is too early to end the time slice. `sent` means that the
  // tick is not from the timer of its own carrier.
  bool is_early(const fiber::preemptible& self, bool sent) const noexcept;
  // From this call on ticks come by this signal (listen_for_ticks). If it is not the signal of before, workers that run
  // get no more ticks by their timers. Each is sent one here, which makes its timer anew. Any kernel thread may call.
  void come_by(runtime& home, int signal) noexcept;
  // The calling kernel thread, which is the carrier's, gives its worker away.
  static void stop(carrier& c) noexcept;

  const tick_plan& plan() const noexcept { return plan_; }

 private:
  bool per_worker() const noexcept { return plan_.from <= tick_plan::source::aligned; }
  unsigned group_of(unsigned rank) const noexcept { return rank / group_size_; }
  void start(worker& w, bool once, platform::nanoseconds not_before = 0) noexcept;
  bool pass_on(worker& w, bool by_timer) noexcept;
  bool slices_are_short(worker& w) const noexcept;

  // Where handling a tick takes microseconds, shorter intervals may leave no time between two ticks.
  static constexpr platform::nanoseconds short_interval = 100'000;
  // Time slices are stretched up to this for the sake of system calls: 20 times the usual slack of 50 us.
  static constexpr platform::nanoseconds longest_stretch = 1'000'000;
  // [slice:4]. As short as is possible where a tick takes 20 us (on virtual machines), and less than the loops of some
  // 100 us after which libraries ask the system.
  static constexpr platform::nanoseconds spinning_slice = 60'000;
  // One usual time slice of each of 16 threads: a thread that spins again after the time slices of all others is found
  // before this time is over.
  static constexpr platform::nanoseconds spinning_lasts = 16'000'000;

  // The runtimes' intervals are at least ten times what a tick was found to cost; 0 before that is known.
  inline static std::atomic<platform::nanoseconds> least_interval_{0};
  // No tick is so slow that it takes a tenth of a longer interval.
  static constexpr platform::nanoseconds never_too_short = 1'000'000;

  const tick_plan plan_;
  const unsigned workers_;
  const unsigned group_size_;
  const platform::nanoseconds begin_;
  // The signal by which ticks came when a preemptive thread was last made; 0 if none was made.
  std::atomic<int> signal_{0};
  // When a tick last found a thread that spins; 0 if none has.
  std::atomic<platform::nanoseconds> spun_at_{0};
  // By group: the rank of the worker whose carrier's timer is the group's; -1 while the timer stands still.
  std::unique_ptr<std::atomic<int>[]> owners_;
};

}  // namespace heddle::worker
