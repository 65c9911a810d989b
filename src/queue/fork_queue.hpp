// Everything done to a fork queue under its guard. The fast push and pop are in include/heddle/detail/fork_queue.hpp;
// protocol, invariants and proof in README.md.
#pragma once

#include <cstddef>

#include <heddle/detail/fork_queue.hpp>

namespace heddle::queue {

using detail::entry;
using detail::fork_queue;
using detail::slot;

// Gives the queue its memory: `capacity` + 1 slots, the first of which stays empty so that an owner may look below base.
void attach(fork_queue& queue, slot* memory, std::size_t capacity) noexcept;

// Owner. The outcome of a push or pop that a limit sent here.
struct slow_outcome {
  bool done;       // the entry is in the queue (push), or is the owner's (pop)
  bool published;  // entries became public in answer to a request: a thief should be awake
};
[[nodiscard]] slow_outcome push(fork_queue& queue, entry item) noexcept;
[[nodiscard]] slow_outcome pop(fork_queue& queue, slot* position) noexcept;

// Owner: newest entry of its own queue whatever it is, 0 when there is none.
[[nodiscard]] entry take_newest_slow(fork_queue& queue, bool& published) noexcept;
[[nodiscard]] inline entry take_newest(fork_queue& queue, bool& published) noexcept {
  // relaxed: the owner's own variable
  return queue.bottom.load(std::memory_order_relaxed) == queue.base ? 0 : take_newest_slow(queue, published);
}

// Thief: oldest public entry, 0 when there is none or another thief or the owner is at work there.
// `left` tells whether public entries remain.
[[nodiscard]] entry steal(fork_queue& queue, bool& left) noexcept;

// Thief: asks the owner to make entries public at its next fork or join.
void request(fork_queue& queue) noexcept;

// Owner: the request was served in another way.
void withdraw_request(fork_queue& queue) noexcept;

// Thief: takes the oldest entry, private ones included, without the owner's help. Costs a membarrier (microseconds on
// a busy machine): the last resort against an owner that sits in a long leaf.
[[nodiscard]] entry force_steal(fork_queue& queue, void (*heavy_fence)()) noexcept;

// Anybody: public entries exist; any entries seem to exist (exact after a heavy fence).
inline bool has_public(const fork_queue& queue) noexcept {
  // Both relaxed: a hint; steal() looks again under the guard.
  return queue.top.load(std::memory_order_relaxed) < queue.split.load(std::memory_order_relaxed);
}
inline bool has_any(const fork_queue& queue) noexcept {
  // Both relaxed: a hint, or ordered by the caller's heavy fence.
  return queue.top.load(std::memory_order_relaxed) < queue.bottom.load(std::memory_order_relaxed);
}

// Owner or before start: every fork goes to push_slow from now on (or no longer).
void watch_every_fork(fork_queue& queue, bool on) noexcept;

}  // namespace heddle::queue
