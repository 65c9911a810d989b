// A worker: a virtual core of the runtime. It runs user-level threads, one at a time, on the stack of each; between
// threads it is on the stack of its carrier, looking for work.
// Four layers, each of which calls only those below it:
//
//   worker            the run loop: what a worker does between threads and without work; the calls that need all of it
//   worker_agenda     the ready threads and queued entries here, and the choice of the next one
//   worker_switching  the switch from one thread to another
//   worker_state      the state of the worker, which others may see
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/contracts.hpp"
#include "platform/platform.hpp"
#include "worker/worker_agenda.hpp"

namespace heddle::worker {

class worker : public worker_agenda {
 public:
  worker(runtime& home, unsigned rank, int processing_unit, std::uint64_t seed);
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  // The worker that the calling code is on. The caller is the runtime's code, or that of a thread which is not
  // preemptive. Must be asked again after every call that may switch. A function that others may call, too, asks
  // `caller`.
  [[gnu::always_inline]] static worker& current() noexcept {
    detail::fork_queue* const queue = detail::current_queue();
    HEDDLE_AUDIT_CHECK(queue != nullptr && queue->stands_for == nullptr, "this code is on no worker");
    return static_cast<worker&>(*queue);
  }
  // The same for code of the runtime that foreign kernel threads run, too, for which it returns null.
  [[gnu::always_inline]] static worker* current_or_null() noexcept {
    detail::fork_queue* const queue = detail::current_queue();
    HEDDLE_AUDIT_CHECK(queue == nullptr || queue->stands_for == nullptr, "a preemptive thread uses a worker");
    return static_cast<worker*>(queue);
  }

  // Leaves `self` (suspended or finished) for the next thread. `after(a, b)` runs when self's context is complete.
  void switch_away(thread& self, void (*after)(void*, void*), void* a, void* b, bool last = false) noexcept;
  // The time slice of `self` is over: it waits among the ready threads for its next one, and `item` runs. If `what` is
  // not null, the tick has just interrupted the code of `self`. If it is null, the tick was remembered until the end of
  // a section.
  void switch_from_preempted(thread& self, entry item, platform::interrupted* what) noexcept;

  // Joins by a call: runs body(t), which ends by returning, if `t` has not begun and is where its maker, this worker,
  // put it. Returns false if `self` has to wait for `t`. The caller may come back on another worker.
  [[nodiscard]] bool call(thread& self, thread& t, void (*body)(thread*)) noexcept;

  // The run loop, on the carrier's stack, of whichever worker the carrier has at the moment.
  enum class end : std::uint8_t {
    stopped,      // the runtime stops
    handed_over,  // in blocking(): the worker went, the carrier has come back
    passed,       // the worker went to a carrier that sleeps with a thread of its own; this carrier is nobody's
    left,         // the worker is an arena's, which rests or waits to be carried anew; another carrier may have it
    pooled,  // the same as `passed`, and this carrier stands in the worker's pool; it may have a new worker already
  };
  [[nodiscard]] static end run(carrier& by) noexcept;
  // By the maker of an arena's worker, before anybody knows of it: it rests.
  void rest_first(driver& its) noexcept;
  // Returns true if this worker, which carries one of an arena, has work of its own runtime, or is switched off.
  [[nodiscard]] bool has_other_work() const noexcept;
  // A thread that runs here, and has a tag, has ended as a task: tells the policy.
  void end_task(thread& t) noexcept;
  // [wake:5]: returns true if this worker leaves the inbox to another one for a while.
  bool leaves_inbox() const noexcept;

 private:
  [[nodiscard]] thread* find_work() noexcept;
  // Returns true if work is queued that this worker may take. A hint.
  [[nodiscard]] bool sees_something() const noexcept;
  // [wake:4]: the worker has found something and searches no more. If it sees more work, it sees to it that another
  // worker looks for that. `listed` means that it has been in the idle set, asleep or only about to be, so others may
  // have relied on it.
  void leave_search(bool listed) noexcept;
  [[nodiscard]] thread* stay_inactive() noexcept;
  // Gives away all that the worker has, but for pinned threads, in the order in which it would have run here.
  void give_away_all() noexcept;
  // A substitute's search, and its end: substitutes.md.
  [[nodiscard]] thread* find_as_substitute() noexcept;
  void rest_as_substitute(carrier& mine) noexcept;
  [[nodiscard]] end pass_on(carrier& mine) noexcept;
  [[nodiscard]] entry look_everywhere(bool insist) noexcept;
  enum class sleep_end : std::uint8_t { saw_something, woken, rests };
  [[nodiscard]] sleep_end sleep() noexcept;
  [[nodiscard]] bool rest() noexcept;
  void leave() noexcept;
  void park() noexcept;

  bool rests_{false};  // [arena:3]: an arena's worker was asleep, and goes on searching when it is carried
  unsigned spin_us_;
  std::uint64_t least_slept_;  // platform::cycles: the shortest sleep of late
  detail::slot* memory_{nullptr};
};

inline worker& worker_state::whole() noexcept { return static_cast<worker&>(*this); }

// The workers of a runtime, by rank.
using worker_list = std::vector<std::unique_ptr<worker>>;

// Called the first time that a thread becomes ready which is nobody's child, or a foreign thread's. `work` and `bytes`
// are the maker's hints on it.
void start_root(thread& t, const void* label, double work = policy::not_given, std::size_t bytes = 0) noexcept;
// Makes a pinned thread ready, the first time and later. `ends_slice` means that its time slice has just ended.
void make_pinned_ready(thread& t, bool ends_slice) noexcept;
// The same for a thread that is in no gang, or that its gang lets run.
void push_pinned(thread& t, bool ends_slice) noexcept;
// [pin:3]: called after a thread was put into that worker's list.
void wake_for_pinned(worker& w) noexcept;
// Makes a thread ready from anywhere: on a worker of its runtime or of another one, or on a foreign kernel thread.
void make_ready_anywhere(thread& t) noexcept;

}  // namespace heddle::worker
