#include "trace/ring.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <new>

namespace heddle::trace {
namespace {

using word = std::atomic_ref<std::uint64_t>;
static_assert(word::is_always_lock_free);

constexpr std::size_t words_per_slot = 4;
constexpr std::uint64_t between_samples = 100'000;  // in ns, because a reading costs up to a thousand
constexpr std::uint64_t never = ~std::uint64_t{0} - between_samples;
constexpr std::size_t max_records = std::size_t{1} << 32;  // 128 GiB; a larger number is a mistake

// Returns the first word of a slot: event, lap and arg. The lap (how often the ring had been filled before, modulo
// 2^16) distinguishes a record from the record in the same slot a round earlier. event::none means "being written".
constexpr std::uint64_t tag_of(event id, std::uint64_t lap, std::uint32_t arg) {
  return static_cast<std::uint64_t>(id) | (lap & 0xffff) << 16 | static_cast<std::uint64_t>(arg) << 32;
}
constexpr event event_of(std::uint64_t tag) { return static_cast<event>(tag & 0xffff); }
constexpr std::uint64_t lap_of(std::uint64_t tag) { return tag >> 16 & 0xffff; }
constexpr std::uint32_t arg_of(std::uint64_t tag) { return static_cast<std::uint32_t>(tag >> 32); }

}  // namespace

ring::ring(std::size_t records, std::uint16_t worker, clock_function now, usage_function use)
    : now_(now), use_(use), worker_(worker), sampled_(use == nullptr ? never : 0) {
  if (records > max_records) throw std::bad_alloc();
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(records, 2));
  // This uses calloc and not new: large blocks come as untouched zero pages, so a ring that stays empty costs no
  // memory.
  words_ = static_cast<std::uint64_t*>(std::calloc(size * words_per_slot, sizeof(std::uint64_t)));
  if (words_ == nullptr) throw std::bad_alloc();
  mask_ = size - 1;
  shift_ = static_cast<unsigned>(std::countr_zero(size));
}

ring::~ring() { std::free(words_); }

void ring::write(event id, std::uint32_t arg, std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t ns = put(id, arg, a, b);
  // relaxed: only writers of the ring read and write it
  if (ns > sampled_.load(std::memory_order_relaxed) + between_samples) [[unlikely]]
    sample(ns);
}

// Called after a record, which may be the boundary between two states. The time used since the last sample belongs to
// the states before the record.
void ring::sample(std::uint64_t ns) noexcept {
  // relaxed: as above. It is stored before the record is put, so that a signal handler that interrupts us does not
  // sample, too.
  sampled_.store(ns, std::memory_order_relaxed);
  const usage now = use_();
  put(event::cpu_time, now.sleeps, now.cpu_ns, now.kernel_thread);
}

std::uint64_t ring::put(event id, std::uint32_t arg, std::uint64_t a, std::uint64_t b) noexcept {
  // [ring:1] This is a read-modify-write and not load and store, because a signal handler between the two would be
  // given the same slot. relaxed, pairs with nothing: the position publishes no data, because slots carry their own
  // state.
  const std::uint64_t position = next_.fetch_add(1, std::memory_order_relaxed);
  std::uint64_t* const slot = words_ + (position & mask_) * words_per_slot;
  const std::uint64_t ns = now_();
  // [ring:3] relaxed: pairs with ring::snapshot, second read of the tag: a reader that saw one of the new words below
  // sees this tag or a later one
  word(slot[0]).store(tag_of(event::none, position >> shift_, 0), std::memory_order_relaxed);
  word(slot[1]).store(ns, std::memory_order_release);  // pairs with ring::snapshot: the cleared tag
  word(slot[2]).store(a, std::memory_order_release);   // pairs with ring::snapshot: the cleared tag
  word(slot[3]).store(b, std::memory_order_release);   // pairs with ring::snapshot: the cleared tag
  // [ring:5] pairs with ring::snapshot, first read of the tag: the three words of this record
  word(slot[0]).store(tag_of(id, position >> shift_, arg), std::memory_order_release);
  return ns;
}

ring_snapshot ring::snapshot() const {
  ring_snapshot result;
  result.written = next_.load();
  const std::uint64_t first = result.written > capacity() ? result.written - capacity() : 0;
  result.records.reserve(result.written - first);
  for (std::uint64_t position = first; position < result.written; ++position) {
    std::uint64_t* const slot = words_ + (position & mask_) * words_per_slot;
    // [ring:6] pairs with ring::put, last store: the record's three words
    const std::uint64_t tag = word(slot[0]).load(std::memory_order_acquire);
    if (event_of(tag) == event::none || lap_of(tag) != (position >> shift_ & 0xffff)) continue;
    record r;
    r.ns = word(slot[1]).load(std::memory_order_acquire);  // pairs with ring::put: a newer word brings the cleared tag
    r.a = word(slot[2]).load(std::memory_order_acquire);   // pairs with ring::put: a newer word brings the cleared tag
    r.b = word(slot[3]).load(std::memory_order_acquire);   // pairs with ring::put: a newer word brings the cleared tag
    // [ring:8] pairs with ring::put, first store: if a word above belongs to a later record, the tag has changed
    if (word(slot[0]).load(std::memory_order_relaxed) != tag) continue;
    r.event = event_of(tag);
    r.worker = worker_;
    r.arg = arg_of(tag);
    result.records.push_back(r);
  }
  result.lost = result.written - result.records.size();
  // A signal handler's record stands behind the record that it interrupted but may be older, and foreign threads
  // overtake each other. Few records are out of place, and not by much, so insertion sort is used.
  std::vector<record>& all = result.records;
  const auto older = [](const record& x, const record& y) { return x.ns < y.ns; };
  for (auto it = all.begin(); it != all.end(); ++it) {
    if (it != all.begin() && older(*it, *std::prev(it)))
      std::rotate(std::upper_bound(all.begin(), it, *it, older), it, std::next(it));
  }
  return result;
}

}  // namespace heddle::trace
