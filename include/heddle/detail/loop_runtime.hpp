// The functions of the runtime that loops call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <heddle/detail/fork_queue.hpp>
#include <heddle/export.hpp>
#include <heddle/loop_schedule.hpp>

namespace heddle::detail {

// The state of the calling worker's runtime at the start of a loop. `measure` is true in one call of eight, because
// measuring costs as much as ten forks. The first call also sets loop_cycles_per_microsecond.
struct loop_start {
  unsigned workers;
  bool measure;
  bool watched;  // true if a policy or a trace watches every fork, with its placement hints
  bool traced;   // true if the loop's begin and end are events
  bool named;    // true if loops that name no schedule have loop_by_default()
  // True if a worker may take from every other worker, and no worker is asked by name.
  bool ranges;
};
HEDDLE_API loop_start loop_begin() noexcept;
HEDDLE_API loop_schedule loop_by_default() noexcept;
// Records the event in the trace of the current worker.
HEDDLE_API void loop_trace_begin(std::size_t iterations, std::size_t grain) noexcept;
HEDDLE_API void loop_trace_end() noexcept;
// A loop as a span in a trace.
struct loop_trace_span {
  loop_trace_span(bool is_on, std::size_t iterations, std::size_t grain) noexcept : on(is_on) {
    if (on) [[unlikely]]
      loop_trace_begin(iterations, grain);
  }
  ~loop_trace_span() {
    if (on) [[unlikely]]
      loop_trace_end();
  }
  loop_trace_span(const loop_trace_span&) = delete;
  loop_trace_span& operator=(const loop_trace_span&) = delete;
  const bool on;
};

// The result of loop_begin_unannounced, which is called after an entry was queued without answering requests. `watched`
// means that some worker that is awake will find the entry, by force if need be ([inline:2] in src/loop). `shown` means
// that a policy decides where second halves go, so the loop must not hide its entry at all ([inline:6]); `watched` is
// false then.
class unannounced_start {
 public:
  constexpr unannounced_start(bool is_watched, bool measures, bool is_shown) noexcept
      : bits_((is_watched ? 1u : 0u) | (measures ? 2u : 0u) | (is_shown ? 4u : 0u)) {}
  bool watched() const noexcept { return (bits_ & 1) != 0; }
  bool measure() const noexcept { return (bits_ & 2) != 0; }
  bool shown() const noexcept { return (bits_ & 4) != 0; }

 private:
  unsigned bits_;  // one word, because three bytes would be returned through memory
};
HEDDLE_API unannounced_start loop_begin_unannounced() noexcept;
// The rank of the worker on which the caller runs. For the library alone.
unsigned loop_worker() noexcept;
// Makes the next loop on this worker a measured one.
HEDDLE_API void loop_measure_next() noexcept;
// Makes the next entry queued on this worker public, as if a thief had asked for it.
HEDDLE_API void loop_show_next() noexcept;
// Returns the number of workers that ask the current worker for work by name ([ask:1] in src/queue). The rest of a loop
// may be cut into that number of parts plus one. Returns 0 under policies that ask no worker by name.
HEDDLE_API unsigned loop_askers() noexcept;

// Spins for a moment (1 us) until the job has ended, because a part of a loop that a thief took is about as long as the
// caller's own part.
struct loop_wait {
  std::uint64_t cycles;  // 0 if the job had already ended
  bool ended;
};
HEDDLE_API loop_wait loop_spin(const job& work) noexcept;

// Pushes without looking at requests, so only a forced steal takes the entry. Returns null if the queue is full.
HEDDLE_API ticket push_unannounced_slow(fork_queue* queue, entry item) noexcept;
[[gnu::always_inline]] inline ticket push_unannounced(entry item) noexcept {
  fork_queue* queue = current_queue();
  if (queue->bottom.load(std::memory_order_relaxed) >= queue->end) [[unlikely]]  // the owner's own variable
    return push_unannounced_slow(queue, item);
  return store_newest(*queue, item);
}

// Calls call(argument, member) for the members 0 to `members` - 1, each on the worker of that rank, and returns when
// all calls have returned. There must be at most as many members as workers. Must be called on a worker. Throws what
// creating a thread throws; no call has begun then.
HEDDLE_API void run_on_each_worker(void (*call)(void*, std::size_t) noexcept, void* argument, std::size_t members);

inline bool on_foreign_thread() noexcept { return current_queue() == nullptr; }

}  // namespace heddle::detail
