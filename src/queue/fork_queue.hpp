// What is done to a fork queue off the fast path, exported for the queues of omp/. The fast push and pop are in
// include/heddle/detail/fork_queue.hpp; protocol and invariants in README.md, the proof in proof.md.
#pragma once

#include <cstddef>

#include <heddle/detail/fork_queue.hpp>

namespace heddle::queue {

using detail::entry;
using detail::fork_queue;
using detail::slot;

inline constexpr std::size_t largest_capacity = (std::size_t{1} << 20) - 2;  // bits of top

// Slots a queue of `capacity` needs: an empty one below base, so that an owner may look at what is below `bottom` in an
// empty queue, too, and one at the end, where a push stores before it looks at the limit.
constexpr std::size_t slots_for(std::size_t capacity) noexcept { return capacity + 2; }

// Gives the queue its memory, zeroed, and a capacity of at most largest_capacity.
HEDDLE_API void attach(fork_queue& queue, slot* memory, std::size_t capacity) noexcept;

// Owner. The outcome of a push or pop that took the slow path because of a limit.
struct slow_outcome {
  bool done;       // the entry is in the queue (push), or is the owner's (pop)
  bool published;  // a request was answered with an entry: the caller has to announce it, for the thief may be asleep
};
// The entry is stored at `position`, bottom is above it. Not done: the queue was full, and bottom is back.
[[nodiscard]] HEDDLE_API slow_outcome push(fork_queue& queue, slot* position) noexcept;
// bottom has been lowered to `position`.
[[nodiscard]] HEDDLE_API slow_outcome pop(fork_queue& queue, slot* position) noexcept;

// Owner: newest entry of its own queue whatever it is, 0 when there is none.
[[nodiscard]] HEDDLE_API entry take_newest_slow(fork_queue& queue, bool& published) noexcept;
[[nodiscard]] inline entry take_newest(fork_queue& queue, bool& published) noexcept {
  // relaxed: the owner's own variable
  return queue.bottom.load(std::memory_order_relaxed) == queue.base ? 0 : take_newest_slow(queue, published);
}

// Owner: takes up to `most` of the oldest entries of its own queue, whatever they are, the oldest first; returns how
// many. `published` becomes true when a request was answered on the way, and is left alone else.
[[nodiscard]] unsigned take_oldest(fork_queue& queue, entry* out, unsigned most, bool& published) noexcept;

// Anybody: how many entries there seem to be. On the owner exact, but for thieves.
unsigned size(const fork_queue& queue) noexcept;

// Thief: oldest public entry; 0 when there is none or somebody was quicker. `left`: public entries remain.
[[nodiscard]] HEDDLE_API entry steal(fork_queue& queue, bool& left) noexcept;

// Thief: asks the owner to make an entry public at its next fork or join.
HEDDLE_API void request(fork_queue& queue) noexcept;
// [sleep:2]. Thief: the same for a worker that is about to sleep, also if a request stands: whoever raised that one may
// not have come to its poisons yet. Stores to the owner's cache lines in any case.
HEDDLE_API void request_anew(fork_queue& queue) noexcept;

// Owner: the request was served in another way, and falls. True: another one came meanwhile, and was answered with an
// entry that is public now.
[[nodiscard]] bool withdraw_request(fork_queue& queue) noexcept;

// [request:7]. Owner: makes up to `most` of its oldest private entries public, whether or not anybody has asked. True:
// there is something public, and the caller has to announce it.
[[nodiscard]] bool show(fork_queue& queue, unsigned most) noexcept;

// [request:5]. Owner: lets a request of its own stand on behalf of those who sleep, which its next push is certain to
// see.
HEDDLE_API void stand(fork_queue& queue) noexcept;

// Thief: takes the oldest entry without the owner's help, and makes the other private ones that it saw public; 0 when
// there is none or the attempt failed. Costs a heavy fence (microseconds on a busy machine): the last resort against an
// owner that sits in a long leaf. [force:1] to [force:6].
[[nodiscard]] HEDDLE_API entry force_steal(fork_queue& queue, void (*heavy_fence)()) noexcept;

// [queue:10]. Owner: the next fork that is pushed is not to be taken by force before its slow path has decided on it;
// until keep_next is called again for the one after it, or keep_none for all.
void keep_next(fork_queue& queue) noexcept;
void keep_none(fork_queue& queue) noexcept;

// Anybody: there are public entries; there seem to be entries at all. A hint. After a heavy fence has_any is exact,
// except that the entries may have been stolen already.
HEDDLE_API bool has_public(const fork_queue& queue) noexcept;
HEDDLE_API bool has_any(const fork_queue& queue) noexcept;

// Anybody: the entry at top, which may have been taken and be gone; 0: there seems to be none. A hint to those that do
// not want every entry.
HEDDLE_API entry oldest(const fork_queue& queue) noexcept;

// Owner, or before its start: from now on every fork goes to push_slow (`on`) and every join to pop_slow (`joins`), or
// no longer. True: a request was answered with an entry.
[[nodiscard]] bool watch_every_fork(fork_queue& queue, bool on, bool joins = false) noexcept;

}  // namespace heddle::queue
