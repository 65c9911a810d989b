// A worker: a virtual core of the runtime. It runs user-level threads, one at a time, on the stack of each; between
// threads it is on the stack of its carrier, looking for work.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "arch/arch.hpp"
#include "base/contracts.hpp"
#include "fiber/preemptible.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/stack_pool.hpp"
#include "fiber/thread.hpp"
#include "platform/platform.hpp"
#include "queue/askers.hpp"
#include "queue/fork_queue.hpp"
#include "trace/emit.hpp"
#include "worker/aging.hpp"
#include "worker/block_cache.hpp"
#include "worker/child_blocks.hpp"
#include "worker/inbox.hpp"
#include "worker/packing.hpp"
#include "worker/pinned.hpp"
#include "worker/worker_state.hpp"

namespace heddle::worker {

class runtime;
class task_meter;
struct carrier;

using detail::entry;
using fiber::thread;

// An entry is a job, a spawner's continuation or a ready thread: told apart by its low bits.
inline constexpr entry continuation_tag = 1;
inline constexpr entry ready_tag = 2;
inline entry continuation_of(thread& t) noexcept { return reinterpret_cast<entry>(&t) | continuation_tag; }
inline entry ready_entry(thread& t) noexcept { return reinterpret_cast<entry>(&t) | ready_tag; }

class worker : public worker_state {
 public:
  worker(runtime& home, unsigned rank, int processing_unit, std::uint64_t seed);
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  // The worker that the calling code is on: the runtime's code, or that of a thread which is not preemptive. To be
  // asked again after every call that may switch. Who may be called by others, too, asks `caller`.
  [[gnu::always_inline]] static worker& current() noexcept {
    detail::fork_queue* const queue = detail::current_queue();
    HEDDLE_AUDIT_CHECK(queue != nullptr && queue->stands_for == nullptr, "this code is on no worker");
    return static_cast<worker&>(*queue);
  }
  // The same for code of the runtime that foreign kernel threads run, too: null there.
  [[gnu::always_inline]] static worker* current_or_null() noexcept {
    detail::fork_queue* const queue = detail::current_queue();
    HEDDLE_AUDIT_CHECK(queue == nullptr || queue->stands_for == nullptr, "a preemptive thread uses a worker");
    return static_cast<worker*>(queue);
  }

  // Leaves `self` (suspended or finished) for the next thread. `after(a, b)` runs when self's context is complete.
  void switch_away(thread& self, void (*after)(void*, void*), void* a, void* b, bool last = false) noexcept;
  // The same, straight to a thread that the caller has chosen and owns; to the run loop.
  void switch_to(thread& self, thread& next, void (*after)(void*, void*), void* a, void* b) noexcept;
  void switch_to_run_loop(thread& self, void (*after)(void*, void*), void* a, void* b) noexcept;

  // Child first: runs entry(child) on `stack_top` of the child's stack. after(self) runs there first, when self can be
  // resumed. Returns when entry returned to us (came_back) or when somebody else resumed self.
  void spawn(thread& self, thread& child, void* stack_top, void (*after)(thread*), void (*entry)(thread*)) noexcept;
  // Last act of a child whose spawner nobody else has: its entry returns right after.
  void came_back(thread& child, thread& spawner) noexcept;

  // Joins by a call: runs entry(t), which ends by returning, when `t` has not begun and is where its maker, this
  // worker, put it. False: `self` has to wait for it. The caller may come back on another worker.
  [[nodiscard]] bool call(thread& self, thread& t, void (*entry)(thread*)) noexcept;

  // The end of a thread: what its entry calls last, before it returns. Then `after(self, b)` runs on another stack, and
  // `next` goes on, or, when null, the run loop.
  void depart(thread& self, thread* next, void (*after)(void*, void*), void* b = nullptr) noexcept;
  arch::departure* departing(thread& self) noexcept;

  // The run loop, on the carrier's stack, of whichever worker the carrier has at the moment.
  enum class end : std::uint8_t {
    stopped,  // the runtime stops
    lent,     // in blocking(): the worker went, the carrier has come back
    passed,   // the worker went to a carrier that sleeps with a thread of its own; this one is nobody's
    pooled,   // the same, and it stands in the worker's pool; it may have a new worker already
  };
  [[nodiscard]] static end run(carrier& by) noexcept;
  // From the carrier's stack into a thread; returns when a thread leaves for the run loop.
  void dive(thread& next) noexcept;

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
    const std::uint64_t tick = picks.load(std::memory_order_relaxed) + 1;  // own counter
    picks.store(tick, std::memory_order_relaxed);
    return tick;
  }
  // Newest entry of the own queue; 0: none.
  [[nodiscard]] entry take_newest() noexcept {
    bool published = false;
    const entry item = queue::take_newest(*this, published);
    if (published) [[unlikely]]
      announce_work();
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
    return aside.load(std::memory_order_relaxed) % 2 != 0;
  }  // seen at the next look
  // `self`, whose turn is over, waits among the ready for its next one; `item` runs. `what`: the tick has interrupted
  // its code, just now; null: it has been remembered until the end of a section.
  void switch_from_preempted(thread& self, entry item, platform::interrupted* what) noexcept;

  // A child that its spawner does not run at once.
  void queue_child(thread& t) noexcept;

  // All that is common becomes this worker's; the first of it is not queued. Null: nothing.
  [[nodiscard]] thread* adopt_inbox() noexcept;

  // Someone asked and got: make sure that somebody is awake to take it.
  void announce_work() noexcept;
  // The same of an entry that a request has made public.
  void announce_answer() noexcept;
  // What was given to this worker; 0: nothing. By itself.
  [[nodiscard]] entry take_given() noexcept;

  // AddressSanitizer: handed to the far side of a switch, what must happen there before the new context goes on.
  struct crossing {
    thread* to;
    fiber::native_stack* native;
    void (*after)(void*, void*);
    void* a;
    void* b;
  };

  thread* current_thread() const noexcept { return static_cast<thread*>(running); }
  // What runs here has a turn although something above it is ready, because it had waited for long: [aging:4].
  bool protects_turn() const noexcept { return aging_.protects_turn(); }
  // The preemptive thread that is on this worker is below that level.
  bool runs_below(int level) const noexcept {
    const thread* self = current_thread();
    return self != nullptr && self->preemptive != nullptr && self->preemptive->how.preemptive() &&
           self->level.load() < level;
  }

  // A thread that runs here, and has a word, has ended as a task: tells the policy.
  void end_task(thread& t) noexcept;

  // The thread that runs here waits for one that it made and that is here no more.
  void learn_from_join() noexcept;

 private:
  // In the run loop, on the way to pick, and free to: nothing has been chosen yet that it must go on with.
  bool will_pick() const noexcept { return running == nullptr && first == nullptr && passing_to == nullptr; }
  [[nodiscard]] thread* find_work() noexcept;
  // Something is queued that this worker may take. A hint.
  [[nodiscard]] bool sees_something() const noexcept;
  // [wake:4]: it has found something and searches no more. What else it sees somebody else shall look for. `listed`: it
  // has been in the idle set, asleep or only about to be, so somebody may have left something to it.
  void pass_search_on(bool listed) noexcept;
  [[nodiscard]] thread* stand_aside() noexcept;
  [[nodiscard]] end pass_on(carrier& mine) noexcept;
  [[nodiscard]] thread* thread_of_job(entry item) noexcept;
  [[nodiscard]] entry look_everywhere(bool insist) noexcept;
  void sort_ready() noexcept;
  [[nodiscard]] entry pick_fairly() noexcept;
  [[nodiscard]] entry pick_specially(const thread* stays, std::uint64_t tick) noexcept;
  [[nodiscard]] entry pick_by_turns(bool evens) noexcept;
  [[nodiscard]] entry pick_starved(const thread* stays) noexcept;
  [[nodiscard]] bool make_ready_specially(thread& t, bool ends_turn) noexcept;
  void make_ready_slowly(thread& t) noexcept;
  void make_new_ready_slowly(thread& t) noexcept;
  // Where picks_specially is set: the thread that runs here, which joins one, has to go through pick.
  [[nodiscard]] bool something_may_come_first() const noexcept;
  [[nodiscard]] thread* pick_packed() noexcept;
  // Level of the highest pinned thread that is ready and may run now, or pinned_threads::none.
  [[nodiscard]] int pinned_level() noexcept;
  [[nodiscard]] thread* take_pinned(int least) noexcept;
  // One of the normal level, if it is their turn.
  [[nodiscard]] thread* take_pinned_by_turns() noexcept;
  // Of a level above, and below, the normal one: pinned ones, and as `priorities` does.
  [[nodiscard]] thread* take_high(int least) noexcept;
  [[nodiscard]] thread* take_low(int least, bool even = false) noexcept;
  bool sleep() noexcept;
  void wait_for_token() noexcept;
  void share_ready() noexcept;
  void answer_askers(queue::askers& all) noexcept;
  void tell_of_ready() noexcept;
  // once the visitor of the queue has gone; apart: the short path saves no registers
  [[gnu::noinline]] void make_ready_later(thread& t) noexcept;
  [[gnu::noinline]] void switch_watched(thread& self, thread& next, void (*after)(void*, void*), void* a,
                                        void* b) noexcept;
  // Of switches that are watched, before they happen: for the trace, and for the meter.
  [[gnu::noinline]] void note_switch(thread* from, thread* to) noexcept;
  [[gnu::noinline]] void note_spawn(thread& self, thread& child) noexcept;
  [[gnu::noinline]] void note_return(thread& child, thread& parent) noexcept;
  [[gnu::noinline]] void note_departure(thread& self, thread* to) noexcept;
  template <bool Watched = true>
  void cross(thread* from, thread* to, void (*after)(void*, void*), void* a, void* b, bool last) noexcept;
  void charge_switch(thread* to) const noexcept;

  arch::departure departure_{};
  thread* departing_to_{nullptr};
#if defined(HEDDLE_ASAN)
  crossing asan_crossing_{};
#endif
 public:
  // At the beginning of a cache line; what follows is in the line of its last fields.
  [[no_unique_address]] block_cache blocks;

 private:
  unsigned spin_us_;

 public:
  child_blocks children;

 private:
  std::uint64_t shared_new_at_{0};  // platform::ticks: a lone new thread, last
  std::uint64_t least_slept_;       // platform::ticks: the shortest sleep of late
  bool queue_first_{false};         // after a tick
  unsigned turns_ended_{0};         // that have ended here since it last took one over
  unsigned next_looked_at_{0};      // where it begins to look for one
  packing_turns turns_;
  aging aging_;                  // in programs with priorities
  bool looks_elsewhere_{false};  // the last pick wants the run loop to look at other workers
  unsigned raised_seen_{0};      // of precedence::raised
  std::int8_t turn_of_{0};       // level of what the last pick took from below normal
  bool pinned_next_{false};      // at the next choice between pinned threads and others
  detail::slot* memory_{nullptr};

 public:
  pinned_threads pinned;  // those that are ready
  // What the policy wants to know of the tasks that run here, or null. Set before the worker starts. watches_switches
  // may be false all the same.
  task_meter* meter{nullptr};
};

// Of a runtime, by rank.
using worker_list = std::vector<std::unique_ptr<worker>>;

// The first time that a thread which is nobody's child, or a foreign thread's, becomes ready.
void start_root(thread& t, const void* label) noexcept;
// The same of a pinned one, always. `ends_turn`: its turn has just ended.
void make_pinned_ready(thread& t, bool ends_turn) noexcept;
// Makes a thread ready from anywhere: worker of its runtime, of another one, or foreign kernel thread.
void make_ready_anywhere(thread& t) noexcept;

}  // namespace heddle::worker
