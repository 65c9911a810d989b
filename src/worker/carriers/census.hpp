// The census of a runtime. It counts threads that outlive their maker's scope, so that the runtime's destructor can
// wait for their ends. It also counts calls from outside that look at the runtime after their thread may have ended.
// Owns the counts of what kernel threads without a worker do, of residents (heddle/detail/residents.hpp), and the
// destructor's waiter; each worker has counts of its own (`worker::threads`). Any code may count and ask. Promise:
// `drained` is never true while a counted thread is alive, and a destructor that waits in `wait_until_drained` does not
// miss the last end.
#pragma once

#include <atomic>
#include <cstdint>

#include <heddle/detail/wait.hpp>

#include "worker/worker.hpp"

namespace heddle::worker {

class substitutes;

class census {
 public:
  census(const worker_list& workers, const substitutes& spare) noexcept : workers_(workers), substitutes_(spare) {}

  // `maker` is the worker that the caller is on, or null if it is on none of this runtime. relaxed: own counters;
  // drained() reads them after the idle protocol's fences
  void count_made(worker* maker) noexcept {
    if (maker == nullptr) made_outside_.fetch_add(1);
    else maker->threads.made.store(maker->threads.made.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  static void count_finished(worker& w) noexcept {
    // as above
    w.threads.finished.store(w.threads.finished.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  // A resident is counted after it was made, and counted out before it is told to end.
  void count_resident() noexcept { residents_.fetch_add(1); }
  void count_out_resident() noexcept { residents_.fetch_sub(1); }

  // Returns true if no counted thread but residents is alive, or none was at some moment during the call.
  bool drained() const noexcept;
  bool has_residents() const noexcept { return residents_.load() != 0; }
  // The number of counted threads that are alive. A hint.
  std::uint64_t alive() const noexcept;
  // Grows whenever a worker chooses something to run.
  std::uint64_t progress() const noexcept;

  // Enclose a call from outside which looks at the runtime after the thread that keeps it alive may have ended.
  void begin_call() noexcept { calls_.fetch_add(1); }
  void end_call() noexcept { calls_.fetch_sub(1); }

  // Called by a worker that goes to sleep: tells the destructor of the last end.
  void check_drained() noexcept;
  // Called by the destructor. A worker that goes to sleep looks for the last end. `look_again` makes all workers do so
  // once more, when there is a waiter to tell. May suspend a thread of another runtime.
  template <class LookAgain>
  void wait_until_drained(LookAgain look_again) noexcept {
    draining_.store(true);
    while (!drained()) {
      struct wait {
        census* self;
        LookAgain look_again;
      } data{this, look_again};
      detail::waiter w("end of a runtime");
      detail::suspend(
          w,
          [](void* of, detail::waiter& me) noexcept {
            const wait copy = *static_cast<wait*>(of);  // which is gone as soon as the destructor has been told
            copy.self->begin_call();                    // from the store on the destructor may go on elsewhere
            copy.self->ender_.store(&me);
            copy.look_again();
            copy.self->end_call();
            return true;
          },
          &data);
    }
  }
  // Called by the destructor after that. On return no thread is in a call any more.
  void wait_for_calls() const noexcept;

 private:
  // Calls f(worker) for each worker of the runtime, and each substitute.
  template <class F>
  void for_each(F&& f) const noexcept;

  const worker_list& workers_;
  const substitutes& substitutes_;
  std::atomic<bool> draining_{false};  // set once by the destructor
  // The destructor's waiter, while it waits; taken by the worker that sees that all threads have ended.
  std::atomic<detail::waiter*> ender_{nullptr};
  std::atomic<std::uint64_t> made_outside_{0};  // counted threads made by kernel threads without a worker
  std::atomic<std::uint64_t> residents_{0};     // never more than are alive
  std::atomic<std::uint32_t> calls_{0};         // under way
};

}  // namespace heddle::worker
