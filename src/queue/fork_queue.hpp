// The operations of a fork queue off the fast path, exported for the queues of omp/. The fast push and pop are in
// include/heddle/detail/fork_queue.hpp; protocol and invariants in README.md, the proof in proof.md.
#pragma once

#include <cstddef>

#include <heddle/detail/fork_queue.hpp>

namespace heddle::queue {

using detail::entry;
using detail::fork_queue;
using detail::slot;

inline constexpr std::size_t largest_capacity = (std::size_t{1} << 20) - 2;  // the bits of top

// Returns the number of slots that a queue of `capacity` needs. One empty slot lies below base, so that an owner may
// look below `bottom` even in an empty queue. One lies at the end, where a push stores before it looks at the limit.
constexpr std::size_t slots_for(std::size_t capacity) noexcept { return capacity + 2; }

// Gives the queue its memory, zeroed, and a capacity of at most largest_capacity.
HEDDLE_API void attach(fork_queue& queue, slot* memory, std::size_t capacity) noexcept;

// The outcome of an owner's push or pop that took the slow path because of a limit.
struct slow_outcome {
  bool done;  // the entry is in the queue (push), or is the owner's (pop)
  // A request was answered with an entry. The caller must announce it, because the thief may be asleep.
  bool published;
};
// Called by the owner when the entry is stored at `position` and bottom is above it. If the outcome is not `done`, the
// queue was full, and bottom is back. If a thief has asked, up to `most` entries become public: [request:7].
[[nodiscard]] HEDDLE_API slow_outcome push(fork_queue& queue, slot* position, unsigned most = 1) noexcept;
// Called by the owner when bottom has been lowered to `position`. `most` as above.
[[nodiscard]] HEDDLE_API slow_outcome pop(fork_queue& queue, slot* position, unsigned most = 1) noexcept;

// Called by the owner: returns the newest entry of its own queue, whatever it is, or 0 if there is none.
[[nodiscard]] HEDDLE_API entry take_newest_slow(fork_queue& queue, bool& published) noexcept;
[[nodiscard]] inline entry take_newest(fork_queue& queue, bool& published) noexcept {
  // relaxed: the owner's own variable
  return queue.bottom.load(std::memory_order_relaxed) == queue.base ? 0 : take_newest_slow(queue, published);
}

// Called by the owner: takes up to `most` of the oldest entries of its own queue, whatever they are, the oldest first,
// and returns their number. Sets `published` if a request was answered on the way, and otherwise leaves it unchanged.
[[nodiscard]] unsigned take_oldest(fork_queue& queue, entry* out, unsigned most, bool& published) noexcept;

// Any thread may call it: returns the apparent number of entries. On the owner it is exact except for thieves.
unsigned size(const fork_queue& queue) noexcept;

// Called by a thief: returns the oldest public entry, or 0 if there is none or another thief was quicker. Sets `left`
// if public entries remain.
[[nodiscard]] HEDDLE_API entry steal(fork_queue& queue, bool& left) noexcept;
// The same for up to `most` entries at once. Returns their number.
[[nodiscard]] HEDDLE_API unsigned steal_several(fork_queue& queue, entry* out, unsigned most, bool& left) noexcept;

// Called by a thief: asks the owner to make an entry public at its next fork or join.
HEDDLE_API void request(fork_queue& queue) noexcept;
// Any thread may call it: the owner's next fork and join take their slow paths. A slow path that is under way may take
// that back.
void poison_limits(fork_queue& queue) noexcept;
// [sleep:2]. Called by a worker that is about to sleep: does the same even if a request stands, because the thief that
// raised it may not have come to its poisons yet. It stores to the owner's cache lines in any case.
HEDDLE_API void request_anew(fork_queue& queue) noexcept;

// Called by the owner when the request was served in another way: clears it. Returns true if another request came
// meanwhile and was answered with an entry that is public.
[[nodiscard]] bool withdraw_request(fork_queue& queue) noexcept;

// [request:7]. Called by the owner: makes up to `most` of its oldest private entries public, whether or not a thief has
// asked. Returns true if an entry is public; the caller must then announce it.
[[nodiscard]] bool show(fork_queue& queue, unsigned most) noexcept;

// [request:5]. Called by the owner: lets a request of its own stand on behalf of the workers that sleep. Its next push
// is certain to see it.
HEDDLE_API void stand(fork_queue& queue) noexcept;

// Called by a thief: takes the oldest entry without the owner's help, and makes the other private entries that it saw
// public. Returns 0 if there is no entry or the attempt failed. It costs a heavy fence (microseconds on a busy
// machine), and is the last resort against an owner that is in a long leaf. [force:1] to [force:6].
[[nodiscard]] HEDDLE_API entry force_steal(fork_queue& queue, void (*heavy_fence)()) noexcept;

// [queue:10]. Called by the owner. After keep_next the next fork that is pushed is not taken by force before its slow
// path has decided on it. This lasts until keep_next is called for the fork after it, or keep_none for all.
void keep_next(fork_queue& queue) noexcept;
void keep_none(fork_queue& queue) noexcept;

// Any thread may call these. They return true if there are public entries, or if there seem to be entries at all. Both
// are hints. After a heavy fence has_any is exact, except that the entries may have been stolen already.
HEDDLE_API bool has_public(const fork_queue& queue) noexcept;
HEDDLE_API bool has_any(const fork_queue& queue) noexcept;

// Any thread may call it: returns the entry at top, which may have been taken and be gone, or 0 if there seems to be
// none. It is a hint for thieves that do not want every entry.
HEDDLE_API entry oldest(const fork_queue& queue) noexcept;

// Called by the owner, or before its start: switches on or off that every fork goes to push_slow (`on`) and every join
// to pop_slow (`joins`). Returns true if a request was answered with an entry.
[[nodiscard]] bool watch_every_fork(fork_queue& queue, bool on, bool joins = false) noexcept;

}  // namespace heddle::queue
