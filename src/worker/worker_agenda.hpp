// What a worker has to do, and what of it comes next: the third of its layers (worker.hpp). Here threads become ready
// and entries are queued and taken; nothing here switches.
#pragma once

#include <cstdint>

#include "queue/askers.hpp"
#include "queue/fork_queue.hpp"
#include "worker/gangs/pinned.hpp"
#include "worker/order/aging.hpp"
#include "worker/order/packing.hpp"
#include "worker/worker_switching.hpp"

namespace heddle::worker {

using detail::entry;

// An entry is a job, a spawner's continuation or a ready thread: told apart by its low bits.
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

  // A ready thread goes to this worker's queue, or to all when somebody
  // asked for work; one with a priority to where its level is.
  void make_ready(thread& t) noexcept;
  // The same, of one that the thread which runs here has just made.
  void make_new_ready(thread& t) noexcept;
  // The same for one that is neither packed nor has a priority.
  void make_ready_here(thread& t) noexcept;
  // The same for the thread whose turn just ended: behind its equals, if it is one of them that runs now.
  void requeue(thread& t) noexcept;
  // The same for one whose turn was ended by a tick: the policy may want it elsewhere.
  void requeue_preempted(thread& t) noexcept;
  // A thread that this worker took and cannot run now.
  void put_back(thread& t) noexcept;
  // What the worker itself would run next; 0: go and search. Takes from its queue, its ready threads, the inbox.
  // `stays`: the caller, which could go on as well; nothing below its level is taken then.
  [[nodiscard]] entry pick(const thread* stays = nullptr) noexcept;
  // The same where picks_specially is not set, which the caller has seen.
  [[nodiscard]] entry pick_ordinarily() noexcept;
  // The number of this pick.
  std::uint64_t count_pick() noexcept {
    const std::uint64_t count = picks.load(std::memory_order_relaxed) + 1;  // own counter
    picks.store(count, std::memory_order_relaxed);
    return count;
  }
  // Newest entry of the own queue; 0: none.
  [[nodiscard]] entry take_newest() noexcept {
    bool published = false;
    const entry item = queue::take_newest(*this, published);
    if (published) [[unlikely]]
      announce_queued();
    return item;
  }
  // The thread to switch to for an entry (a fresh one for a job); null
  // for 0, and for one that only the run loop can go to (must_pass).
  [[nodiscard]] thread* thread_for(entry item) noexcept;

  // What runs next when a tick has ended a thread's turn; 0: nothing is at hand.
  [[nodiscard]] entry pick_after_tick(const thread& self) noexcept;
  // At a tick that ends a turn: a thread that waits for its turn at
  // another worker, where more of them do. Null: all have what is theirs.
  [[nodiscard]] thread* take_over_turn() noexcept;
  // To be asked after a pick that gave nothing: the caller shall go to the run loop even so. The run loop looks at
  // other workers, or the worker stands aside.
  bool must_look() const noexcept { return looks_elsewhere_ || stands_aside(); }
  // To be asked after thread_for, also when that gave null: it has met a thread that is bound to a sleeping carrier,
  // and only the run loop can go to that one (pass_on).
  bool must_pass() const noexcept { return passing_to != nullptr; }
  // Switched off (set_active_workers): the run loop gives away what the worker has, and sleeps.
  bool stands_aside() const noexcept {
    return aside.load(std::memory_order_relaxed) % 2 != 0;  // seen at the next look
  }
  // A child that its spawner does not run at once.
  void queue_child(thread& t) noexcept;

  // All that is common becomes this worker's; the first of it is not queued. Null: nothing.
  [[nodiscard]] thread* adopt_inbox() noexcept;
  // The same, but the oldest ready thread comes before it, if there is one.
  [[nodiscard]] thread* adopt_inbox_behind_ready() noexcept;
  // A job from outside; 0: there is none.
  [[nodiscard]] entry take_submitted() noexcept;

  // What a worker takes for itself from each source (sources.hpp). Null: nothing.
  [[nodiscard]] thread* take_pinned(int least) noexcept;
  // Of a level above, and below, the normal one: pinned ones, and as `priorities` does.
  [[nodiscard]] thread* take_high(int least) noexcept;
  [[nodiscard]] thread* take_low(int least, bool even = false) noexcept;
  // While threads are packed, from its own pools, and from those that others serve.
  [[nodiscard]] thread* pick_packed() noexcept;
  [[nodiscard]] thread* take_from_any_pool() noexcept;

  // Someone asked and got: make sure that somebody is awake to take it. What it is, the source of it says
  // (sources::own_queue::announce, sources::ready_threads::announce).
  void announce_work() noexcept;
  // The same of an entry that a request has made public.
  void announce_answer() noexcept;
  void announce_queued() noexcept;

  // What runs here has a turn although something above it is ready, because it had waited for long: [aging:4].
  bool protects_turn() const noexcept { return aging_.protects_turn(); }
  // The preemptive thread that is on this worker is below that level.
  bool runs_below(int level) const noexcept {
    const thread* self = current_thread();
    return self != nullptr && self->preemptive != nullptr && self->preemptive->how.preemptive() &&
           self->level.load() < level;
  }

  // The thread that runs here waits for one that it made and that is here no more.
  void learn_from_join() noexcept;

 protected:
  [[nodiscard]] bool make_ready_specially(thread& t, bool ends_turn) noexcept;
  void sort_ready() noexcept;
  // Where picks_specially is set: the thread that runs here, which joins one, has to go through pick.
  [[nodiscard]] bool something_may_come_first() const noexcept;

 private:
  [[nodiscard]] entry pick_other_after_tick(const thread& self) noexcept;  // its gang's turns do not decide
  // In the run loop, on the way to pick, and free to: nothing has been chosen yet that it must go on with.
  bool will_pick() const noexcept { return running == nullptr && first == nullptr && passing_to == nullptr; }
  [[nodiscard]] thread* thread_of_job(entry item) noexcept;
  [[nodiscard]] entry pick_fairly() noexcept;
  [[nodiscard]] entry pick_specially(const thread* stays, std::uint64_t count) noexcept;
  void leave_to_gangs(const thread* stays) noexcept;
  [[nodiscard]] entry pick_by_turns(bool evens) noexcept;
  [[nodiscard]] entry pick_starved(const thread* stays) noexcept;
  void make_ready_slowly(thread& t) noexcept;
  void make_new_ready_slowly(thread& t) noexcept;
  // Level of the highest pinned thread that is ready and may run now, or pinned_threads::none.
  [[nodiscard]] int pinned_level() noexcept;
  // One of the normal level, if it is their turn.
  [[nodiscard]] thread* take_pinned_by_turns() noexcept;
  void share_ready() noexcept;
  void answer_askers(queue::askers& all) noexcept;
  void tell_of_ready() noexcept;
  // once the visitor of the queue has gone; apart: the short path saves no registers
  [[gnu::noinline]] void make_ready_later(thread& t) noexcept;

  std::uint64_t shared_new_at_{0};          // platform::cycles: a lone new thread, last
  bool queue_first_{false};                 // after a tick
  unsigned turns_ended_{0};                 // that have ended here since it last took one over
  unsigned next_looked_at_{0};              // where it begins to look for one
  aging aging_;                             // in programs with priorities
  bool looks_elsewhere_{false};             // the last pick wants the run loop to look at other workers
  std::int8_t turn_of_{0};                  // level of what the last pick took from below normal
  bool pinned_next_{false};                 // at the next choice between pinned threads and others
  int most_pinned_{pinned_threads::gangs};  // highest level of pinned threads that is chosen from

 protected:
  packing_turns turns_;
  unsigned raised_seen_{0};  // of precedence::raised

 public:
  pinned_threads pinned;  // those that are ready
};

}  // namespace heddle::worker
