// Gangs: threads of which all have a worker of their own at once, or none has ([gang:1] to [gang:17] of gangs.md). Owns
// the order of all gangs of a runtime, and decides which worker each of their threads has. The threads that may run
// stand in their workers' lists (`pinned`). Any kernel thread may call, with preemption off, unless a comment says
// otherwise. Promise: a gang that wants workers gets them as soon as enough of them are free for it and no gang before
// it wants them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <heddle/detail/wait.hpp>

#include "worker/worker.hpp"

namespace heddle::worker {

struct gang;

// A thread's seat in a gang. All members are under gangs::lock_ unless a comment says otherwise.
struct seat {
  gang* of{nullptr};
  thread* holder{nullptr};  // set before the holder comes
  // The holder's seat in the gang that it is in besides, and waits in.
  seat* outer{nullptr};
  // The next seat at the same worker, of a gang in which this seat's gang is nested.
  seat* below{nullptr};
  unsigned worker{0};  // while the gang is on; before that, the worker where it last was
  // The worker to which the holder is pinned by its maker; -1 if there is none.
  int own_worker{-1};
  bool has_come{false};
  bool active{false};    // the holder runs or is ready
  bool withheld{false};  // the holder is ready and stands in no list
  bool listed{false};    // the holder stands in its worker's list; under that list's lock
  unsigned ticks{0};     // ticks that found the holder running, since the gang was put on
};

struct gang {
  gang(runtime& owner, unsigned n) : home(owner), seats(new seat[n]), room(n) {}

  runtime& home;
  const std::unique_ptr<seat[]> seats;
  const unsigned room;
  // Under gangs::lock_:
  gang* parent{nullptr};  // the gang that it is nested in: the one of the thread that began it
  unsigned level{0};      // how deep it is nested
  std::uint64_t id{0};    // a younger gang has a greater one
  unsigned size{0};
  unsigned to_come{0};  // threads that have yet to come
  unsigned left{0};
  unsigned active{0};
  unsigned near{0};  // the worker on which it was begun
  // It was begun by a foreign kernel thread, which takes part, and has that worker's processor.
  bool beside{false};
  bool on{false};        // each of its threads has its worker
  bool waits{false};     // it waits to be put on
  bool is_sliced{true};  // all of its threads are preemptive
  bool ending{false};    // its time slice is over: its threads are withheld as they are interrupted
  // When it was put off for others; 0 if it was not, since it was last on.
  std::uint64_t lap{0};
  gang* next{nullptr};  // in the list of gangs that wait, or of gangs that are on
};

class gangs {
 public:
  // `most`: the largest number of workers. `by_load`: [gang:17].
  gangs(const worker_list& workers, unsigned most, bool by_load);

  // True if some thread was ever in a gang.
  bool are_used() const noexcept { return used_.load(std::memory_order_relaxed); }  // known with the first thread
  void use() noexcept { used_.store(true); }

  // Begins a gang of n threads, of which none is there yet; n <= room. `by` began it, on worker `near`. If `by` is
  // null, a foreign kernel thread began it, on the processor of `near`.
  void begin(gang& g, unsigned n, const thread* by, unsigned near) noexcept;
  // `t`, which is not ready or is the caller, belongs to the gang from now on; it comes when it becomes ready.
  void take_in(seat& s, thread& t) noexcept;
  // The same for the caller, which runs on worker `rank`. Returns false if its gang has no workers yet, or if its seat
  // is at another worker; the caller then has to be made ready.
  [[nodiscard]] bool enter(seat& s, thread& t, unsigned rank) noexcept;
  // The thread runs, and leaves its gang. Returns false if it is in an outer gang again and its seat there is at
  // another worker; it then has to be made ready anew. The gang that it has left may be gone by then.
  [[nodiscard]] bool leave(thread& t, unsigned rank) noexcept;

  // A thread of a gang has become ready, for the first time or again.
  void make_ready(thread& t) noexcept;
  // A thread of a gang that ran waits from this call on.
  void wait(thread& t) noexcept;
  // A thread that is ready at a busy worker goes to worker `rank`, which has nothing. Called by that worker. Returns
  // null if no such thread may go there.
  [[nodiscard]] thread* steal(unsigned rank) noexcept;
  // The effect of a tick on a thread of a gang that it finds running ([gang:12], [gang:13]).
  enum class after_tick : std::uint8_t {
    siblings,  // the thread goes on, or one of its gang that is ready at this worker
    anybody,   // the thread may go on only if nothing at all is ready here
    none,      // the thread is withheld
  };
  // May be called in a signal handler, too: the thread was not in the runtime.
  [[nodiscard]] after_tick tick(const thread& t) noexcept;
  // Returns true if `steal` would find a thread; exact after a heavy fence.
  [[nodiscard]] bool can_steal(unsigned rank) noexcept;
  // A thread of a gang is ready at a busy worker: wakes a worker that sleeps and may take the thread.
  void wake_for(unsigned rank) noexcept;
  // The same for all threads of gangs that are ready at busy workers.
  void pass_on() noexcept;

 private:
  // Threads that are to be put into their workers' lists once the lock is free. Linked by `next`, which is free while
  // they stand nowhere. Their gangs are on, so no other code touches them.
  struct threads_to_list {
    thread* first{nullptr};
    gangs* freed{nullptr};  // if not null, seats of it have been given up

    threads_to_list() = default;
    threads_to_list(const threads_to_list&) = delete;
    ~threads_to_list() {
      while (first != nullptr) {
        thread& t = *first;
        first = t.next;  // from the push on it may run, and end
        push_pinned(t, false);
      }
      if (freed == nullptr) return;
      std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with push_pinned's before wake_for: [gang:8]
      freed->pass_on();
    }

    void add(seat& s) noexcept {
      HEDDLE_CHECK(s.of->on, "thread %p is let run while its gang is off", static_cast<const void*>(s.holder));
      s.withheld = false;
      s.holder->ties.belongs.seat(s.worker);
      s.holder->next = first;
      first = s.holder;
    }
  };

  unsigned count() const noexcept { return static_cast<unsigned>(workers_.size()); }
  bool is_free_for(const gang& g, unsigned rank) const noexcept;
  bool may_run(const seat& s) const noexcept;
  void belong(seat& s, thread& t, threads_to_list& out) noexcept;
  void wait_for_workers(gang& g) noexcept;
  void begin_to_run(gang& g, threads_to_list& out) noexcept;
  void serve(threads_to_list& out) noexcept;
  [[nodiscard]] bool put_on(gang& g, seat* stays = nullptr) noexcept;
  [[nodiscard]] unsigned choose(const seat& s, unsigned average) noexcept;
  [[nodiscard]] unsigned load_of(unsigned rank) const noexcept;
  void put_off(gang& g, threads_to_list& out) noexcept;
  void sit_down(seat& s, unsigned rank) noexcept;
  void stand_up(seat& s) noexcept;
  void let_run(unsigned rank, threads_to_list& out) noexcept;
  void rest(seat& s, threads_to_list& out) noexcept;
  void end_slice(gang& g) noexcept;
  void put_off_if_still(gang& g, threads_to_list& out) noexcept;
  [[nodiscard]] seat* find_for(unsigned rank) noexcept;
  [[nodiscard]] bool some_are_listed_beside(unsigned rank) const noexcept;

  const worker_list& workers_;
  const bool by_load_;
  std::atomic<bool> used_{false};  // set once
  detail::spin_word lock_;
  // Under lock_:
  std::uint64_t begun_{0};
  std::uint64_t laps_{0};
  gang* waiting_{nullptr};  // the most urgent first
  gang* on_{nullptr};
  // By rank, the seat of the innermost gang first. Others read it as a hint whether there is any.
  const std::unique_ptr<std::atomic<seat*>[]> seats_at_;
  // By rank: ticks that found threads of gangs running there, since work in no gang last had its turn.
  const std::unique_ptr<unsigned[]> ticks_at_;
  enum class mark : std::uint8_t { taken, free, shared };
  const std::unique_ptr<mark[]> marks_;
};

}  // namespace heddle::worker
