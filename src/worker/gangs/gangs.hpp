// Gangs: threads of which all have a worker of their own at once, or none has ([gang:1] to [gang:16] of gangs.md). Owns
// the order of all gangs of a runtime and which worker each of their threads has; the threads that may run stand in
// their workers' lists (`pinned`). Any kernel thread may call, with preemption off, unless it says otherwise. Promise:
// a gang that wants workers gets them as soon as enough of them are free for it and no gang before it wants them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <heddle/detail/wait.hpp>

#include "worker/worker.hpp"

namespace heddle::worker {

struct gang;

// A thread's place in a gang. Everything under gangs::lock_ unless it says otherwise.
struct seat {
  gang* of{nullptr};
  thread* holder{nullptr};  // set before it comes
  seat* outer{nullptr};     // the holder's seat in the gang that it is in besides, and waits in
  seat* below{nullptr};     // the next one at the same worker, of a gang that this one is nested in
  unsigned worker{0};       // while the gang is on; before, where it last was
  int own_worker{-1};       // the holder is pinned to it by its maker; -1: to none
  bool has_come{false};
  bool active{false};    // it runs or is ready
  bool withheld{false};  // it is ready and stands in no list
  bool listed{false};    // it stands in its worker's list; under that list's lock
  unsigned ticks{0};     // that found its holder running, since the gang was put on
};

struct gang {
  gang(runtime& owner, unsigned n) : home(owner), seats(new seat[n]), room(n) {}

  runtime& home;
  const std::unique_ptr<seat[]> seats;
  const unsigned room;
  // Under gangs::lock_:
  gang* parent{nullptr};  // that it is nested in: the one of the thread that began it
  unsigned level{0};      // how deep
  std::uint64_t id{0};    // younger ones have greater ones
  unsigned size{0};
  unsigned to_come{0};  // of its threads
  unsigned left{0};
  unsigned active{0};
  unsigned near{0};      // the worker on which it was begun
  bool beside{false};    // by a foreign kernel thread, which takes part, and has that worker's processor
  bool on{false};        // each of its threads has its worker
  bool waits{false};     // for that
  bool turns{true};      // all of its threads are preemptive
  bool ending{false};    // its turn is over: its threads are withheld as they are interrupted
  std::uint64_t lap{0};  // when it was put off for others; 0: it was not, since it was on
  gang* next{nullptr};   // in the list of those that wait, or of those that are on
};

class gangs {
 public:
  // `most`: of workers.
  gangs(const worker_list& workers, unsigned most);

  // Some thread was ever in a gang.
  bool are_used() const noexcept { return used_.load(std::memory_order_relaxed); }  // known with the first thread
  void use() noexcept { used_.store(true); }

  // A gang of n threads, of which none is there yet; n <= room. `by` began it, on worker `near`; null: a foreign kernel
  // thread, on that one's processor.
  void begin(gang& g, unsigned n, const thread* by, unsigned near) noexcept;
  // `t`, which is not ready or is the caller, belongs to the gang from now on; it comes when it becomes ready.
  void take_in(seat& s, thread& t) noexcept;
  // The same of the caller, which runs on that worker. False: its gang has no workers yet, or it has another one than
  // that; it has to be made ready.
  [[nodiscard]] bool enter(seat& s, thread& t, unsigned rank) noexcept;
  // It runs, and goes. False: it is in an outer gang again and does not have that one's worker: it has to be made ready
  // anew. The gang may be gone then.
  [[nodiscard]] bool leave(thread& t, unsigned rank) noexcept;

  // A thread of a gang has become ready, for the first time or again.
  void make_ready(thread& t) noexcept;
  // One that ran waits from now on.
  void wait(thread& t) noexcept;
  // A thread that is ready at a busy worker goes to this one, which has nothing. By that worker. Null: none may.
  [[nodiscard]] thread* steal(unsigned rank) noexcept;
  // What a tick that finds a thread of a gang running does to it ([gang:12], [gang:13]).
  enum class after_tick : std::uint8_t {
    siblings,  // goes on, or one of its gang that is ready at this worker
    anybody,   // may go on if nothing at all is ready here
    none,      // is withheld
  };
  // In a signal handler, too: the thread was not in the runtime.
  [[nodiscard]] after_tick tick(const thread& t) noexcept;
  // The same as `steal` as a question; exact after a heavy fence.
  [[nodiscard]] bool can_steal(unsigned rank) noexcept;
  // One is ready at a worker that is busy: somebody who sleeps and may take it shall do so.
  void wake_for(unsigned rank) noexcept;
  // The same of all that are ready at workers that are busy.
  void pass_on() noexcept;

 private:
  // Threads that are to be put into their workers' lists once the lock is free. Linked by `next`, which is free while
  // they stand nowhere. They are of gangs that are on, so nobody else touches them.
  struct threads_to_list {
    thread* first{nullptr};
    gangs* freed{nullptr};  // not null: seats of it have been given up

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
  [[nodiscard]] unsigned choose(const seat& s) noexcept;
  void put_off(gang& g, threads_to_list& out) noexcept;
  void sit_down(seat& s, unsigned rank) noexcept;
  void stand_up(seat& s) noexcept;
  void let_run(unsigned rank, threads_to_list& out) noexcept;
  void rest(seat& s, threads_to_list& out) noexcept;
  void end_turn(gang& g) noexcept;
  void put_off_if_still(gang& g, threads_to_list& out) noexcept;
  [[nodiscard]] seat* find_for(unsigned rank) noexcept;
  [[nodiscard]] bool some_are_listed_beside(unsigned rank) const noexcept;

  const worker_list& workers_;
  std::atomic<bool> used_{false};  // set once
  detail::spin_word lock_;
  // Under lock_:
  std::uint64_t begun_{0};
  std::uint64_t laps_{0};
  gang* waiting_{nullptr};  // the most urgent first
  gang* on_{nullptr};
  // By rank, the innermost gang's first. Others read it as a hint whether there is any.
  const std::unique_ptr<std::atomic<seat*>[]> seats_at_;
  enum class mark : std::uint8_t { taken, free, shared };
  const std::unique_ptr<mark[]> marks_;
};

}  // namespace heddle::worker
