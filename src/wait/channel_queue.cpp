// The queue of a channel: the operations under one lock and under both. Protocol and proof: channel.md.
#include <algorithm>
#include <cstring>
#include <utility>

#include "wait/channel_parts.hpp"
#include "worker/preemption/section.hpp"

namespace heddle::detail {

namespace {

void copy(void* to, const void* from, std::size_t bytes) noexcept {
  switch (bytes) {  // a memcpy of a known length costs no call
    case 4: std::memcpy(to, from, 4); return;
    case 8: std::memcpy(to, from, 8); return;
    case 16: std::memcpy(to, from, 16); return;
    default: std::memcpy(to, from, bytes);
  }
}

}  // namespace

channel_core::channel_core(std::size_t capacity, std::size_t item_bytes) noexcept
    : capacity_(capacity),
      item_bytes_(item_bytes),
      segment_items_((channel_segment_bytes - sizeof(segment)) / item_bytes),
      write_at_(segment_items_) {}

channel_core::~channel_core() {
  segment* s = read_ != nullptr ? read_ : first_.load();
  while (s != nullptr) {
    segment* next = s == write_ ? nullptr : s->next;
    ::operator delete(s);
    s = next;
  }
  ::operator delete(spare_.load());
}

// --- The queue itself. The senders' side is under send_guard_.

bool channel_core::has_room_in_segment(const segment* fresh) const noexcept {
  return write_at_ < segment_items_ || fresh != nullptr;
}

void channel_core::append(const void* item, segment*& fresh) noexcept {
  if (write_at_ == segment_items_) {
    segment* s = std::exchange(fresh, nullptr);
    if (write_ != nullptr) write_->next = s;
    // relaxed: published by sent_, as `next` is
    else first_.store(s, std::memory_order_relaxed);
    write_ = s;
    write_at_ = 0;
  }
  copy(write_->items + write_at_++ * item_bytes_, item, item_bytes_);
  // relaxed: written under this lock only. release pairs with remove_oldest and size: the item and its segment
  sent_.store(sent_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// The receivers' side is under receive_guard_. Returns false if there is no item.
bool channel_core::remove_oldest(void* item, segment*& drained) noexcept {
  const std::size_t at = received_.load(std::memory_order_relaxed);  // relaxed: written under this lock only
  if (at == seen_sent_) {
    seen_sent_ = sent_.load(std::memory_order_acquire);  // pairs with append
    if (at == seen_sent_) return false;
  }
  // relaxed: seen through sent_
  if (read_ == nullptr) read_ = first_.load(std::memory_order_relaxed);
  if (read_at_ == segment_items_) {
    drained = std::exchange(read_, read_->next);
    read_at_ = 0;
  }
  copy(item, read_->items + read_at_++ * item_bytes_, item_bytes_);
  received_.store(at + 1, std::memory_order_release);  // pairs with put: the place is free
  return true;
}

std::size_t channel_core::size() const noexcept {
  // It is read first, so that it is not more than sent_.
  const std::size_t received = received_.load(std::memory_order_acquire);
  return sent_.load(std::memory_order_acquire) - received;
}

// --- The operations that need one lock.

channel_core::fast channel_core::put(const void* item, segment*& fresh) noexcept {
  const worker::section inside;
  send_guard_.lock();
  struct unlock {
    spin_word& of;
    ~unlock() { of.unlock(); }
  } at_end{send_guard_};
  if (closed_.load(std::memory_order_relaxed)) return fast::closed;  // relaxed: under the lock
  if (senders_wait_ || receivers_wait_ || capacity_ == 0) [[unlikely]]
    return fast::slow;
  if (capacity_ != unbounded) {
    const std::size_t sent = sent_.load(std::memory_order_relaxed);  // relaxed: written under this lock only
    if (sent - seen_received_ >= capacity_) {
      seen_received_ = received_.load(std::memory_order_acquire);  // pairs with remove_oldest
      if (sent - seen_received_ >= capacity_) return fast::not_now;
    }
  }
  if (!has_room_in_segment(fresh)) {
    fresh = spare_or_null();
    if (fresh == nullptr) return fast::no_segment;
  }
  append(item, fresh);
  return fast::done;
}

channel_core::fast channel_core::take(void* item, segment*& drained) noexcept {
  const worker::section inside;
  receive_guard_.lock();
  const bool got = remove_oldest(item, drained);
  const bool others = senders_wait_;
  receive_guard_.unlock();
  if (others) [[unlikely]] {
    if (!got) return fast::slow;
    waiter_list served;
    {
      const both hold(*this);
      admit(served);
    }
    while (waiter* w = served.pop_front()) resume(*w);
  }
  return got ? fast::done : fast::not_now;
}

// --- The operations that need both locks. `served` are waiters whose operations are complete; they are resumed once
// the locks are free.

// Lets in the items of waiting senders, as far as there is room.
void channel_core::admit(waiter_list& served) noexcept {
  while (sent_.load() - received_.load() < capacity_) {
    waiter* w = senders_.pop_front();
    if (w == nullptr) return;
    if (!claim(*w, wake_reason::notified)) continue;
    auto& r = *static_cast<request*>(w->payload);
    append(r.to_send, r.spare);
    served.push_back(*w);
  }
}

channel_core::outcome channel_core::send_now(request& r, waiter_list& served) noexcept {
  if (closed_.load()) return outcome::closed;
  while (waiter* w = receivers_.pop_front()) {
    if (!claim(*w, wake_reason::notified)) continue;
    copy(static_cast<request*>(w->payload)->received, r.to_send, item_bytes_);
    served.push_back(*w);
    return outcome::done;
  }
  admit(served);  // waiting senders come first, because a receiver may have made room without having taken both locks
                  // yet
  if (sent_.load() - received_.load() >= capacity_) return outcome::not_now;
  append(r.to_send, r.spare);
  return outcome::done;
}

channel_core::outcome channel_core::receive_now(request& r, waiter_list& served) noexcept {
  if (remove_oldest(r.received, r.spare)) {
    admit(served);
    return outcome::done;
  }
  while (waiter* w = senders_.pop_front()) {  // without capacity
    if (!claim(*w, wake_reason::notified)) continue;
    copy(r.received, static_cast<request*>(w->payload)->to_send, item_bytes_);
    served.push_back(*w);
    return outcome::done;
  }
  return closed_.load() ? outcome::closed : outcome::not_now;
}

}  // namespace heddle::detail
