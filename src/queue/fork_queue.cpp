#include "queue/fork_queue.hpp"

#include <algorithm>

#include "base/contracts.hpp"
#include "platform/explored.hpp"
#include "platform/platform.hpp"

namespace heddle::queue {

namespace {

// The word `open` as a value: {tag:32, count:12, top:20}. The owner's transitions change the tag; the thieves'
// transitions do not ([queue:3]).
class public_part {
 public:
  explicit public_part(std::uint64_t word) noexcept : word_(word) {}
  static constexpr std::uint32_t most = (1u << 12) - 1;

  std::uint32_t top() const noexcept { return static_cast<std::uint32_t>(word_) & ((1u << 20) - 1); }
  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(word_) >> 20; }
  std::uint32_t split() const noexcept { return top() + count(); }

  // The owner's transition, which has a new tag.
  [[nodiscard]] std::uint64_t renewed(std::uint32_t count, std::uint32_t top) const noexcept {
    return (((word_ >> 32) + 1) << 32) | (std::uint64_t{count} << 20) | top;
  }
  // The thief's transitions: the oldest entries are taken; in `forced`, one is, and `more` private entries behind the
  // public part also become public.
  [[nodiscard]] std::uint64_t without_oldest(std::uint32_t taken) const noexcept { return word_ + taken - taken * one; }
  [[nodiscard]] std::uint64_t forced(std::uint32_t more) const noexcept { return word_ + 1 + more * one; }

 private:
  static constexpr std::uint64_t one = std::uint64_t{1} << 20;
  std::uint64_t word_;
};

// Returns a limit above every slot, which poisons pop_limit.
slot* nowhere(const fork_queue& q) noexcept { return q.end + 1; }

// [queue:5], called by the owner's slow paths only: stores the limits, then makes the new public part and its tag
// visible. `hungry` means that a request stands, so the next push must take the slow path.
bool commit(fork_queue& q, std::uint64_t& seen, std::uint64_t next, bool hungry) noexcept {
  // relaxed: both stores pair with request and force_steal, and are made visible by the compare-and-swap below
  const bool watched = platform::watches_forks();
  q.pop_limit.store(q.every_join || watched ? nowhere(q) : q.base + public_part(next).split(),
                    std::memory_order_relaxed);
  q.push_limit.store(hungry || q.every_fork || watched ? q.base : q.end + 1, std::memory_order_relaxed);
  return q.open.compare_exchange_strong(seen, next);
}

// [request:2]: clears the request before the compare-and-swap that answers it, so that a thief which takes the answer
// can ask again.
bool take_request(fork_queue& q) noexcept {
  if (!q.requested.load()) return false;
  q.requested.store(false, std::memory_order_relaxed);  // relaxed: pairs with request: made visible by the CAS in
                                                        // commit
  return true;
}

void poison(fork_queue& q) noexcept {
  q.pop_limit.store(nowhere(q));
  q.push_limit.store(q.base);
}

enum class given : std::uint8_t { retry, nothing, something };

// Makes one try to commit the state `seen` with the private part [split, end). If a thief has asked (`wanted`), the
// oldest private entry becomes public, or up to `most` of them. With nothing to give the request stands ([request:3]).
given answer(fork_queue& q, std::uint64_t& seen, std::uint32_t end, bool wanted, std::uint32_t most = 1) noexcept {
  const public_part x(seen);
  const std::uint32_t share =
      wanted && end > x.split() ? std::min({most, end - x.split(), public_part::most - x.count()}) : 0;
  const bool hungry = wanted && share + x.count() == 0;
  if (!commit(q, seen, x.renewed(x.count() + share, x.top()), hungry)) return given::retry;
  if (hungry) q.requested.store(true);
  return wanted && !hungry ? given::something : given::nothing;
}

// [request:4]: a request that came during a slow path may have had its poison overwritten, so `requested` is looked at
// after each commit. Ends when requests are answered, or stand with push_limit poisoned and nothing private.
// `commit_first` means that a commit is due whether or not a thief asks. Returns true if something was given.
bool settle(fork_queue& q, std::uint32_t end, bool commit_first, bool wanted, std::uint32_t most = 1) noexcept {
  bool gave = false;
  std::uint64_t seen = q.open.load(std::memory_order_relaxed);  // relaxed: the CAS in commit decides
  while (commit_first || q.requested.load()) {
    if (!commit_first) {
      seen = q.open.load(std::memory_order_relaxed);  // relaxed: as above
      const public_part x(seen);
      // relaxed: own variable but for poisons; the request stands already
      if (x.count() == 0 && x.top() == end && q.push_limit.load(std::memory_order_relaxed) == q.base) break;
      wanted = take_request(q);
    }
    given result;
    while ((result = answer(q, seen, end, wanted, most)) == given::retry) {
    }
    gave = gave || result == given::something;
    commit_first = false;
  }
  return gave;
}

}  // namespace

void attach(fork_queue& q, slot* memory, std::size_t capacity) noexcept {
  HEDDLE_CHECK(capacity <= largest_capacity, "queue of %zu slots", capacity);
  q.base = memory + 1;
  q.end = q.base + capacity;
  // relaxed: no other thread sees the queue yet; the same holds for the next two stores
  q.bottom.store(q.base, std::memory_order_relaxed);
  q.pop_limit.store(q.base, std::memory_order_relaxed);
  q.push_limit.store(q.end + 1, std::memory_order_relaxed);
  q.settled.store(nowhere(q), std::memory_order_relaxed);
}

void keep_next(fork_queue& q) noexcept {
  // relaxed: pairs with force_steal: made visible by the release of bottom in the push that follows
  // relaxed: the owner's own variable
  q.settled.store(q.bottom.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void keep_none(fork_queue& q) noexcept {
  q.settled.store(nowhere(q), std::memory_order_relaxed);  // relaxed: pairs with force_steal, which may see it late;
                                                           // see there
}

slow_outcome push(fork_queue& q, slot* position, unsigned most) noexcept {
  keep_none(q);
  if (position >= q.end) {
    q.bottom.store(position, std::memory_order_release);  // pairs with force_steal: as in take_newest_slow
    const slow_outcome taken_back = pop(q, position);
    // If it was not taken back, a thief was quicker, so it was queued.
    return {!taken_back.done, taken_back.published};
  }
  const bool wanted = take_request(q);
  const bool gave = settle(q, static_cast<std::uint32_t>(position + 1 - q.base), true, wanted, most);
  return {true, gave};
}

slow_outcome pop(fork_queue& q, slot* position, unsigned most) noexcept {
  const auto at = static_cast<std::uint32_t>(position - q.base);
  const bool wanted = take_request(q);
  std::uint64_t seen = q.open.load();
  for (;;) {
    const public_part x(seen);
    // It is private: the limit was poisoned. Once the tag has moved, no forced steal can take it.
    if (x.split() <= at) {
      const given result = answer(q, seen, at, wanted, most);
      if (result == given::retry) continue;
      const bool more = settle(q, at, false, false);
      return {true, result == given::something || more};
    }
    // It is public: it is taken back, with the younger half of the public entries below it, so that n public entries
    // cost log n slow paths.
    if (x.top() <= at) {
      const std::uint32_t keep = x.top() + (at - x.top() + 1) / 2;
      const bool hungry = wanted && keep == x.top();
      if (!commit(q, seen, x.renewed(keep - x.top(), x.top()), hungry)) continue;
      if (hungry) q.requested.store(true);
      const bool more = settle(q, at, false, false);
      return {true, (wanted && !hungry) || more};
    }
    // [queue:6]. It was stolen, and so is everything below, so the queue is empty and begins at its base again.
    // `bottom` goes first, because a thief that reads the new `open` must not see the old bottom.
    q.bottom.store(q.base, std::memory_order_relaxed);  // relaxed: pairs with force_steal: by the commit
    if (!commit(q, seen, x.renewed(0, 0), wanted)) continue;
    if (wanted) q.requested.store(true);
    return {false, settle(q, 0, false, false)};
  }
}

entry take_newest_slow(fork_queue& q, bool& published) noexcept {
  published = false;
  slot* position = q.bottom.load(std::memory_order_relaxed) - 1;  // relaxed: the owner's own variable
  const entry item = position->load(std::memory_order_relaxed);   // relaxed: only the owner writes slots
  // pairs with force_steal through its heavy fence: the entry is mine. release: a thread that reads this sees the
  // entries below
  q.bottom.store(position, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (position >= q.pop_limit.load(std::memory_order_relaxed)) [[likely]]
    return item;  // as in the fast pop
  const slow_outcome outcome = pop(q, position);
  published = outcome.published;
  return outcome.done ? item : 0;
}

// Takes entries as a thief does, but with a new tag and in any number, which only the owner may do.
unsigned take_oldest(fork_queue& q, entry* out, unsigned most, bool& published) noexcept {
  // relaxed: the owner's own variable
  const auto end = static_cast<std::uint32_t>(q.bottom.load(std::memory_order_relaxed) - q.base);
  std::uint64_t seen = q.open.load(std::memory_order_relaxed);  // relaxed: the CAS in commit decides
  for (bool stored = false;; stored = true) {
    const public_part x(seen);
    const std::uint32_t count = std::min(most, end - x.top());
    // Once the limits were stored, a new tag must follow ([queue:5]), even if thieves have taken everything since.
    if (count == 0 && !stored) return 0;
    // relaxed: only the owner writes slots
    for (std::uint32_t i = 0; i < count; ++i) out[i] = q.base[x.top() + i].load(std::memory_order_relaxed);
    if (!commit(q, seen, x.renewed(x.count() - std::min(count, x.count()), x.top() + count), false)) continue;
    published = settle(q, end, false, false) || published;
    return count;
  }
}

unsigned size(const fork_queue& q) noexcept {
  // relaxed: a hint, like the next one
  const std::uint32_t top = public_part(q.open.load(std::memory_order_relaxed)).top();
  const std::ptrdiff_t count = q.bottom.load(std::memory_order_relaxed) - (q.base + top);
  return count > 0 ? static_cast<unsigned>(count) : 0;
}

unsigned steal_several(fork_queue& q, entry* out, unsigned most, bool& left) noexcept {
  left = false;
  std::uint64_t seen = q.open.load(std::memory_order_acquire);  // pairs with commit: slots and jobs below split
  const public_part x(seen);
  const std::uint32_t count = std::min(x.count(), most);
  if (count == 0) return 0;
  // relaxed: they count only if the compare-and-swap succeeds, and then no new tag came in between
  for (std::uint32_t i = 0; i < count; ++i) out[i] = q.base[x.top() + i].load(std::memory_order_relaxed);
  if (!q.open.compare_exchange_strong(seen, x.without_oldest(count))) return 0;
  left = x.count() > count;
  return count;
}

entry steal(fork_queue& q, bool& left) noexcept {
  entry item = 0;
  return steal_several(q, &item, 1, left) != 0 ? item : 0;
}

void request(fork_queue& q) noexcept {
  // [request:1]. The exchange orders the request before the poisons, so an owner that has overwritten a poison finds
  // the request when it looks again after its commit.
  if (q.requested.load() || q.requested.exchange(true)) return;
  poison(q);
}

void request_anew(fork_queue& q) noexcept {
  q.requested.store(true);  // a full fence before the poisons, as above
  poison(q);
}

void poison_limits(fork_queue& q) noexcept { poison(q); }

bool withdraw_request(fork_queue& q) noexcept {
  q.requested.store(false);
  // relaxed: bottom is the owner's own variable
  return settle(q, static_cast<std::uint32_t>(q.bottom.load(std::memory_order_relaxed) - q.base), true, false);
}

bool show(fork_queue& q, unsigned most) noexcept {
  static_cast<void>(take_request(q));
  // relaxed: bottom is the owner's own variable
  return settle(q, static_cast<std::uint32_t>(q.bottom.load(std::memory_order_relaxed) - q.base), true, true, most);
}

void stand(fork_queue& q) noexcept {
  q.requested.store(true, std::memory_order_relaxed);     // relaxed: the owner's own slow paths and make_ready read it
  q.push_limit.store(q.base, std::memory_order_relaxed);  // relaxed: own variable except for poisons, which store the
                                                          // same value
}

entry force_steal(fork_queue& q, void (*heavy_fence)()) noexcept {
  std::uint64_t seen = q.open.load(std::memory_order_acquire);  // pairs with commit: bottom after a return to base
  const public_part x(seen);
  if (x.count() != 0) {
    bool left;
    return steal(q, left);
  }
  // relaxed: a hint that saves the fence
  if (q.bottom.load(std::memory_order_relaxed) <= q.base + x.top()) return 0;
  q.pop_limit.store(nowhere(q));  // [force:3]
  heavy_fence();                  // [force:4]
  // pairs with push: slots and jobs; with pop: the heavy fence
  slot* end = q.bottom.load(std::memory_order_acquire);  // [force:5]
  // relaxed: at least as young as keep_next before the newest push seen. A later value, by keep_none, means that the
  // entries are in the queue for good, or that the tag has moved. A value that is seen late hides entries until the
  // next attempt.
  end = std::min(end, q.settled.load(std::memory_order_relaxed));
  if (end <= q.base + x.top()) return 0;
  const std::uint32_t more = std::min(static_cast<std::uint32_t>(end - (q.base + x.top())) - 1, public_part::most);
  // relaxed: covered by the acquire above; it counts only if the compare-and-swap succeeds
  const entry item = q.base[x.top()].load(std::memory_order_relaxed);
  return q.open.compare_exchange_strong(seen, x.forced(more)) ? item : 0;  // [force:6]
}

bool has_public(const fork_queue& q) noexcept {
  return public_part(q.open.load(std::memory_order_relaxed)).count() != 0;  // relaxed: a hint; steal looks again
}

bool has_any(const fork_queue& q) noexcept {
  // relaxed: a hint, or ordered by the caller's heavy fence
  return q.bottom.load(std::memory_order_relaxed) > q.base + public_part(q.open.load(std::memory_order_relaxed)).top();
}

entry oldest(const fork_queue& q) noexcept {
  // relaxed: a hint
  const slot* const top = q.base + public_part(q.open.load(std::memory_order_relaxed)).top();
  // relaxed: as above; slots are never freed while there are thieves
  return q.bottom.load(std::memory_order_relaxed) > top ? top->load(std::memory_order_relaxed) : 0;
}

bool watch_every_fork(fork_queue& q, bool on, bool joins) noexcept {
  q.every_fork = on;
  q.every_join = joins;
  // relaxed: bottom is the owner's own variable
  return settle(q, static_cast<std::uint32_t>(q.bottom.load(std::memory_order_relaxed) - q.base), true,
                take_request(q));
}

}  // namespace heddle::queue
