// The parts that the two files of a channel share: an operation, both locks, and the segments that are kept.
#pragma once

#include <heddle/detail/channel_core.hpp>

#include <cstddef>
#include <new>
#include <stop_token>

namespace heddle::detail {

// One operation that may have to wait, on the stack of its thread.
struct channel_core::request {
  channel_core* object;
  const void* to_send;  // or null
  void* received;       // or null
  // The memory that the item of a waiting sender may need. The sender gets it back if it was not needed.
  segment* spare;
  const std::stop_token* stop;
  outcome result{outcome::not_now};
  bool linked{false};
  waiter w;
};

// Holds both locks: no other thread is inside the queue, and the flags may be changed.
struct channel_core::both {
  explicit both(channel_core& c) noexcept : of(c) {
    of.send_guard_.lock();
    of.receive_guard_.lock();
  }
  ~both() {
    of.senders_wait_ = !of.senders_.empty();
    of.receivers_wait_ = !of.receivers_.empty();
    of.receive_guard_.unlock();
    of.send_guard_.unlock();
  }
  channel_core& of;
};

// the size of one of malloc's small blocks
inline constexpr std::size_t channel_segment_bytes = 1000;

inline channel_core::segment* channel_core::make_segment() const {
  return ::new (::operator new(channel_segment_bytes)) segment;
}

inline channel_core::segment* channel_core::spare_or_null() noexcept {
  // relaxed: the exchange decides
  return spare_.load(std::memory_order_relaxed) != nullptr ? spare_.exchange(nullptr) : nullptr;
}

// Must not be called within a section, because it may free memory.
inline void channel_core::keep_or_free(segment* s) noexcept {
  if (s != nullptr) ::operator delete(spare_.exchange(s));
}

}  // namespace heddle::detail
