// The work of a worker, and the choice of what comes next: the third of its layers (worker.hpp). Here threads become
// ready and entries are queued and taken; nothing here switches.
#pragma once

#include <atomic>
#include <cstdint>

#include "queue/askers.hpp"
#include "queue/fork_queue.hpp"
#include "worker/gangs/pinned.hpp"
#include "worker/order/aging.hpp"
#include "worker/order/packing.hpp"
#include "worker/worker_switching.hpp"

namespace heddle::worker {

using detail::entry;

// An entry is a job, a spawner's continuation or a ready thread. The low bits tell which.
inline constexpr entry continuation_tag = 1;
inline constexpr entry ready_tag = 2;
inline entry continuation_of(thread& t) noexcept { return reinterpret_cast<entry>(&t) | continuation_tag; }
inline entry ready_entry(thread& t) noexcept { return reinterpret_cast<entry>(&t) | ready_tag; }
// The thread of a ready entry; null for any other.
inline thread* ready_thread(entry item) noexcept {
  return (item & ready_tag) != 0 ? reinterpret_cast<thread*>(item & ~ready_tag) : nullptr;
}

class worker_agenda : public worker_switching {
 public:
  using worker_switching::worker_switching;

  // A ready thread goes to this worker's queue, or to all workers if one of them has asked for work. A thread with a
  // priority goes to the list of its level.
  void make_ready(thread& t) noexcept;
  // The same for a thread that the running thread has just made.
  void make_new_ready(thread& t) noexcept;
  // The same for a thread that is neither packed nor has a priority.
  void make_ready_here(thread& t) noexcept;
  // The same for the thread whose time slice has just ended: it goes behind its equals, if one of them runs next.
  void requeue(thread& t) noexcept;
  // The same for a thread whose time slice was ended by a tick: the policy may want it elsewhere.
  void requeue_preempted(thread& t) noexcept;
  // Puts back a thread that this worker took and cannot run at the moment.
  void put_back(thread& t) noexcept;
  // Returns what the worker itself would run next; 0 means that it must search. Takes from its queue, its ready
  // threads, the inbox. `stays` is the caller, which could go on as well; nothing below its level is taken then.
  [[nodiscard]] entry pick(const thread* stays = nullptr) noexcept;
  // The same where picks_specially is not set, which the caller has seen.
  [[nodiscard]] entry pick_ordinarily() noexcept;
  // The same for a yield: ready threads come before the worker's own queue. [service:5]
  [[nodiscard]] entry pick_for_yield() noexcept;
  // To be asked by a thread that could go on with the worker's next job itself. Returns false if the worker has to
  // choose anew. Otherwise this counts as a pick.
  [[nodiscard]] bool may_go_on() noexcept;
  // The number of this pick.
  std::uint64_t count_pick() noexcept {
    const std::uint64_t count = picks.load(std::memory_order_relaxed) + 1;  // own counter
    picks.store(count, std::memory_order_relaxed);
    return count;
  }
  // Takes the newest entry of the worker's own queue; 0 if there is none.
  [[nodiscard]] entry take_newest() noexcept {
    bool published = false;
    const entry item = queue::take_newest(*this, published);
    if (published) [[unlikely]]
      announce_queued();
    return item;
  }
  // Returns the thread to switch to for an entry (a fresh one for a job). Returns null for 0, and for an entry that
  // only the run loop can go to (must_pass).
  [[nodiscard]] thread* thread_for(entry item) noexcept;

  // Returns what runs next when a tick has ended a thread's time slice; 0 if nothing is at hand.
  [[nodiscard]] entry pick_after_tick(const thread& self) noexcept;
  // Called at a tick that ends a time slice. Takes a thread that waits for its time slice at another worker, where more
  // of them do. Returns null if all workers have their share.
  [[nodiscard]] thread* take_over_slice() noexcept;
  // To be asked after a pick that gave nothing. True if the caller must go to the run loop even so. The run loop looks
  // at other workers, or the worker is inactive.
  bool must_look() const noexcept { return looks_elsewhere_ || is_inactive(); }
  // To be asked after thread_for, also when that gave null. True if it has met a thread that is bound to a sleeping
  // carrier. The run loop alone can go to such a thread (pass_on).
  bool must_pass() const noexcept { return passing_to != nullptr; }
  // True while the worker is switched off (set_active_workers): the run loop gives away what the worker has, and
  // sleeps.
  bool is_inactive() const noexcept {
    return inactive.load(std::memory_order_relaxed) % 2 != 0;  // seen at the next look
  }
  // Queues a child that its spawner does not run at once.
  void queue_child(thread& t) noexcept;

  // Everything common becomes this worker's; the first of it is returned and not queued. Returns null if there is
  // nothing.
  [[nodiscard]] thread* adopt_inbox() noexcept;
  // The same, but after a call that took from the inbox the oldest ready thread comes first, if there is one.
  [[nodiscard]] thread* adopt_inbox_at_fair_choice() noexcept;
  // Takes a job from outside; 0 if there is none.
  [[nodiscard]] entry take_submitted() noexcept;
  // Takes the driver of an arena's worker, which this one may carry; 0 if there is none.
  [[nodiscard]] entry take_driver() noexcept;

  // A worker takes from each source (sources.hpp) by the following functions. They return null if there is nothing.
  [[nodiscard]] thread* take_pinned(int least) noexcept;
  // Threads of a level above, and below, the normal one: pinned ones, and those of `priorities`.
  [[nodiscard]] thread* take_high(int least) noexcept;
  [[nodiscard]] thread* take_low(int least, bool even = false) noexcept;
  // While threads are packed: from the worker's own pools, and from those that others serve.
  [[nodiscard]] thread* pick_packed() noexcept;
  [[nodiscard]] thread* take_from_any_pool() noexcept;

  // A request was answered: makes sure that some worker is awake to take the work. The source of the work says which
  // work that is (sources::own_queue::announce, sources::ready_threads::announce).
  void announce_work() noexcept;
  // The same for an entry that a request has made public.
  void announce_answer() noexcept;
  void announce_queued() noexcept;

  // True while a thread runs here although something above it is ready, because it had waited for long: [aging:4].
  bool protects_slice() const noexcept { return aging_.protects_slice(); }
  // True if the preemptive thread that is on this worker is below that level.
  bool runs_below(int level) const noexcept {
    const thread* self = current_thread();
    return self != nullptr && self->preemptive != nullptr && self->preemptive->how.preemptive() &&
           self->level.load() < level;
  }

  // [service:1] The running thread is at a boundary of its work, and the bound has passed. Lets one of what waits run,
  // if there is any. Returns true if the caller has been away, perhaps to come back on another worker.
  bool serve() noexcept;
  // [service:6] Whether a thread that was sent to the policy may wait there for this worker. A hint, for any kernel
  // thread.
  bool policy_may_have_thread() const noexcept;
  // True if a kernel thread has reminded the worker.
  bool is_reminded() const noexcept {
    return (picks_specially.load(std::memory_order_relaxed) & something_waits) != 0;  // a hint
  }
  // By any kernel thread: if this worker runs something and has not looked for longer than the bound, it is to look at
  // its next boundary, fork, join or pick. Returns true if it has to.
  bool remind(std::uint64_t now) noexcept;

  // The thread that runs here waits for a thread that it made and that is here no more.
  void learn_from_join() noexcept;

 protected:
  [[nodiscard]] bool is_fair_choice(std::uint64_t count) noexcept;
  [[nodiscard]] bool is_fair_choice_now(std::uint64_t count) noexcept;
  [[nodiscard]] bool make_ready_specially(thread& t, bool ends_slice) noexcept;
  void sort_ready() noexcept;
  // Where picks_specially is set. True if the thread that runs here, which joins another, has to go through pick.
  [[nodiscard]] bool something_may_come_first() const noexcept;

 private:
  [[nodiscard]] entry pick_other_after_tick(const thread& self) noexcept;  // its gang's time slices do not decide
  // True in the run loop, on the way to pick, if the worker is free to: nothing has been chosen yet that it must go on
  // with.
  bool will_pick() const noexcept { return running == nullptr && first == nullptr && passing_to == nullptr; }
  [[nodiscard]] thread* thread_of_job(entry item) noexcept;
  [[nodiscard]] entry pick_fairly() noexcept;
  [[nodiscard]] entry take_due() noexcept;
  // As detail::resume of a claimed waiter, but if its thread would be ready here it is returned. Null if it is ready
  // elsewhere.
  [[nodiscard]] thread* take_resumed(detail::waiter& w) noexcept;
  // Called at a fair choice, which is pick number `count`.
  void note_fair_choice(std::uint64_t count) noexcept;
  [[nodiscard]] entry pick_slowly_marked(const thread* stays) noexcept;
  [[nodiscard]] entry pick_waiting(const thread* stays) noexcept;
  [[nodiscard]] entry pick_of_policy() noexcept;
  [[nodiscard]] bool interrupted_goes_first() const noexcept;
  [[nodiscard]] bool something_waits_here() noexcept;
  void come_after_served(thread& t) noexcept;
  [[nodiscard]] entry pick_specially(const thread* stays, std::uint64_t count) noexcept;
  void leave_to_gangs(const thread* stays) noexcept;
  [[nodiscard]] entry pick_alternating(bool evens) noexcept;
  [[nodiscard]] entry pick_starved(const thread* stays) noexcept;
  void make_ready_slowly(thread& t) noexcept;
  void make_new_ready_slowly(thread& t) noexcept;
  // The level of the highest pinned thread that is ready and may run at the moment, or pinned_threads::none.
  [[nodiscard]] int pinned_level() noexcept;
  // Takes a pinned thread of the normal level, if pinned threads come next.
  [[nodiscard]] thread* take_pinned_alternating() noexcept;
  void share_ready() noexcept;
  void answer_askers(queue::askers& all) noexcept;
  void tell_of_ready() noexcept;
  // Called once the visitor of the queue has gone. A function apart, so that the short path saves no registers.
  [[gnu::noinline]] void make_ready_later(thread& t) noexcept;

  // [service:3] The thread that gave way to what runs here. It is the oldest ready thread, unless it was taken.
  thread* interrupted_{nullptr};
  // The number of the pick before which the worker looks at the clock, the picks between two such looks, and the time
  // of the last one.
  std::uint64_t looks_at_pick_{1};
  unsigned look_every_{1};
  std::uint64_t looked_at_{0};
  std::uint64_t fair_pick_{0};  // the number of the last fair choice
  std::uint64_t fair_choices_{0};
  bool took_inbox_{false};    // the last fair choice took from the inbox
  bool policy_first_{false};  // the last service asked the policy first
  // policy_host::threads_sent when the policy last had nothing for a service. Written by the worker.
  std::atomic<unsigned> policy_has_none_of_{0};
  bool took_due_{false};            // the last fair choice looked for a thread whose time limit had passed
  std::uint64_t shared_new_at_{0};  // platform::cycles: when a lone new thread was last shared
  bool queue_first_{false};         // after a tick
  // The time slices that have ended here since the worker last took a thread over.
  unsigned turns_ended_{0};
  unsigned next_looked_at_{0};  // the worker at which it begins to look for one
  aging aging_;                 // in programs with priorities
  // The last pick wants the run loop to look at other workers.
  bool looks_elsewhere_{false};
  std::int8_t slice_level_{0};  // the level of what the last pick took from below normal
  bool pinned_next_{false};     // at the next choice between pinned threads and others
  // The highest level of pinned threads that is chosen from.
  int most_pinned_{pinned_threads::gangs};

 protected:
  served_pool of_pool_;
  bool leaves_{false};       // [arena:5]: an arena's worker goes back to the outer runtime with work left
  unsigned raised_seen_{0};  // the last value seen of precedence::raised

 public:
  pinned_threads pinned;  // the pinned threads that are ready
};

}  // namespace heddle::worker
