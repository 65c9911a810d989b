// What loops call of the runtime.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <heddle/detail/fork_queue.hpp>
#include <heddle/export.hpp>
#include <heddle/loop_schedule.hpp>

namespace heddle::detail {

// `workers` of the calling runtime. `measure`: in one call of eight, since measuring costs as much as ten forks. The
// first call also sets loop_cycles_per_microsecond.
struct loop_start {
  unsigned workers;
  bool measure;
  bool watched;  // a policy or a trace wants to see every fork, with what it may place by
  bool traced;   // its begin and its end are events
  bool named;    // loops that name no schedule have loop_by_default()
  bool lanes;    // a worker may take from every other one, and asks nobody by name
};
HEDDLE_API loop_start loop_begin() noexcept;
HEDDLE_API loop_schedule loop_by_default() noexcept;
// On the trace of the worker that the caller is on.
HEDDLE_API void loop_trace_begin(std::size_t iterations, std::size_t grain) noexcept;
HEDDLE_API void loop_trace_end() noexcept;

// Called after an entry was queued quietly, that is, without answering requests. `watched`: some worker that is awake
// will find it, by force if need be ([tiny:2] in src/loop). `shown`: a policy decides where second halves go, so the
// loop is not to be quiet at all ([tiny:6]); `watched` is false then.
class loop_quiet {
 public:
  constexpr loop_quiet(bool is_watched, bool measures, bool is_shown) noexcept
      : bits_((is_watched ? 1u : 0u) | (measures ? 2u : 0u) | (is_shown ? 4u : 0u)) {}
  bool watched() const noexcept { return (bits_ & 1) != 0; }
  bool measure() const noexcept { return (bits_ & 2) != 0; }
  bool shown() const noexcept { return (bits_ & 4) != 0; }

 private:
  unsigned bits_;  // one word: three bytes go through memory on their way back to the caller
};
HEDDLE_API loop_quiet loop_begin_quietly() noexcept;
// The next loop on this worker is measured.
HEDDLE_API void loop_measure_next() noexcept;
// The next entry queued on this worker is shown as if somebody had asked for it.
HEDDLE_API void loop_show_next() noexcept;
// How many workers ask the one that the caller is on for work by name ([ask:1] in src/queue): into so many parts and
// one more what is left of a loop may be cut. 0 under policies that ask nobody by name.
HEDDLE_API unsigned loop_askers() noexcept;

// Spins for a moment (1 us) until the job has ended: a part of a loop that a thief took is about as long as the
// caller's own.
struct loop_wait {
  std::uint64_t cycles;  // 0: it had ended before
  bool ended;
};
HEDDLE_API loop_wait loop_spin(const job& work) noexcept;

// A push that does not look at requests: only a steal by force takes the entry. Null: the queue is full.
HEDDLE_API ticket push_quietly_slow(fork_queue* queue, entry item) noexcept;
[[gnu::always_inline]] inline ticket push_quietly(entry item) noexcept {
  fork_queue* queue = current_queue();
  slot* position = queue->bottom.load(std::memory_order_relaxed);  // owner's own variable
  if (position >= queue->end) [[unlikely]]
    return push_quietly_slow(queue, item);
  position->store(item, std::memory_order_relaxed);  // published by the store below
  // pairs with force_steal: the slot and the job's fields
  queue->bottom.store(position + 1, std::memory_order_release);
  return position;
}

// Calls call(argument, seat) for the seats 0 to `seats` - 1, each on the worker of that rank, and returns when all have
// returned. At most as many as there are workers. On a worker. Throws what thread does; no call has begun then.
HEDDLE_API void run_on_each_worker(void (*call)(void*, std::size_t) noexcept, void* argument, std::size_t seats);

inline bool on_foreign_thread() noexcept { return current_queue() == nullptr; }

}  // namespace heddle::detail
