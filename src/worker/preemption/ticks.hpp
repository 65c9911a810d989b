// When the workers of a runtime get ticks, and from whom: ticks.md. Times, groups and the chain are those of Section
// 3.2.2 of S. Shiina's thesis (docs/papers.md); what differs: a timer runs only while somebody in its group runs a
// preemptive thread.
#pragma once

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
    creation,    // a timer a worker, from the moment the worker was made
    aligned,     // a timer a worker, their phases spread over the interval
    one_to_all,  // a timer; whose tick it is passes it on to all workers that run preemptive threads
    chain,       // a timer a group; its tick goes from worker to worker, along those that run preemptive threads
  };
  source from{source::aligned};
  unsigned groups{1};                            // of the chain; their timers' phases are spread over the interval
  const platform::tick_source* timers{nullptr};  // null: the system's; others are in comparison/
  platform::nanoseconds interval{1'000'000};
  bool shortens{false};  // turns are short while threads spin ([turn:4]): nobody has asked for a certain interval
};

// "creation", "aligned", "one-to-all", "chain", "hybrid:GROUPS",
// or what comparison/ has (aligned). Throws std::invalid_argument.
tick_plan tick_plan_from(const std::string& text, std::uint64_t interval);

// A worker that is about to run a preemptive thread's code wants ticks. With a timer a worker, its carrier's timer then
// runs. With a timer a group, the first worker that wants ticks owns the group's timer (`owners_`), which is that of
// its carrier, until a tick finds nobody in the group that wants any. Ticks are hints: one that is lost or comes twice
// changes when something happens, not what.
class ticks {
 public:
  ticks(const tick_plan& plan, unsigned workers);

  // The worker's carrier, on the way to preemptive code. `once`: the thread will keep the kernel thread when it is
  // preempted, so a periodic timer would go on for nothing. `not_before`: see begin_turn.
  void want(worker& w, bool once, platform::nanoseconds not_before = 0) noexcept;
  // The calling kernel thread has got the worker.
  void took_over(worker& w) noexcept;
  // A tick came to the worker's kernel thread: its own timer's, or
  // one that was passed on. `wanted`: a preemptive thread runs here.
  void came(worker& w, bool by_timer, bool wanted) noexcept;
  // A turn of `self` begins, at the end of a tick's handler: sets how long it lasts at least. At short intervals half
  // an interval, so that code runs between the handlers ([turn:2]); where ticks have cut a system call short, twice as
  // long as the last turn, up to a limit ([turn:3]).
  void begin_turn(worker& w, fiber::preemptible& self) noexcept;
  // How long a turn lasts at present on that worker, whose carrier calls.
  platform::nanoseconds turn_on(worker& w) const noexcept {
    return turns_are_short(w) ? spinning_turn : plan_.interval;
  }
  // A thread that ticks find spinning for so long, without a call of the runtime, does not give way by itself: half a
  // usual turn, and more than the some 100 us after which loops of libraries do.
  static constexpr platform::nanoseconds spinning_counts = 500'000;
  // A tick has found such a thread: [turn:4].
  void saw_spinning() noexcept { spun_at_.store(platform::now(), std::memory_order_relaxed); }  // a hint
  // A tick came to `self`, which computes: it is too early to end the turn. `sent`: not by its carrier's own timer.
  bool is_early(const fiber::preemptible& self, bool sent) const noexcept;
  // From now on ticks come by this signal (listen_for_ticks). If it is another than before, workers that run get no
  // more ticks by their timers. Each is sent one here, which makes its timer anew. Any kernel thread.
  void come_by(runtime& home, int signal) noexcept;
  // The calling kernel thread, the carrier's, gives its worker away.
  static void stop(carrier& c) noexcept;

  const tick_plan& plan() const noexcept { return plan_; }

 private:
  bool per_worker() const noexcept { return plan_.from <= tick_plan::source::aligned; }
  unsigned group_of(unsigned rank) const noexcept { return rank / group_size_; }
  void start(worker& w, bool once, platform::nanoseconds not_before = 0) noexcept;
  bool pass_on(worker& w, bool by_timer) noexcept;
  bool turns_are_short(worker& w) const noexcept;

  // Where handling a tick takes microseconds, shorter intervals may leave nothing between two.
  static constexpr platform::nanoseconds short_interval = 100'000;
  // Turns are stretched up to this for the sake of system calls: 20 times the usual slack of 50 us.
  static constexpr platform::nanoseconds longest_stretch = 1'000'000;
  // [turn:4]. As short as can be had where a tick takes 20 us (of virtual machines), and less than the loops of some
  // 100 us after which libraries ask the system.
  static constexpr platform::nanoseconds spinning_turn = 60'000;
  // One usual turn of each of 16 threads: who spins again after the turns of all others is found before it is over.
  static constexpr platform::nanoseconds spinning_lasts = 16'000'000;

  const tick_plan plan_;
  const unsigned workers_;
  const unsigned group_size_;
  const platform::nanoseconds begin_;
  // the one by which ticks came when a preemptive thread was last made; 0: none was
  std::atomic<int> signal_{0};
  std::atomic<platform::nanoseconds> spun_at_{0};  // when a tick last found a thread that spins; 0: none has
  // by group: rank of the worker whose carrier's timer is the group's; -1: it stands still
  std::unique_ptr<std::atomic<int>[]> owners_;
};

}  // namespace heddle::worker
