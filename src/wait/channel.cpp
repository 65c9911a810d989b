// Sending and receiving through a channel. Protocol and proof: README.md, "Channel".
#include <heddle/channel.hpp>

#include <mutex>

#include "worker/section.hpp"

namespace heddle::detail {

struct channel_core::request {
  channel_core* object;
  message* subject;   // to send, or received
  outcome result{outcome::not_now};
};

void channel_core::append(message& m) noexcept {
  m.next = nullptr;
  (first_ == nullptr ? first_ : last_->next) = &m;
  last_ = &m;
  ++size_;
}

// Under guard_. `served`: a waiter whose operation this completes; to be resumed once guard_ is free.
channel_core::outcome channel_core::send_now(message& m, waiter*& served) noexcept {
  if (closed_) return outcome::closed;
  while (waiter* w = receivers_.pop_front()) {
    if (!claim(*w, wake_reason::notified)) continue;
    w->payload = &m;
    served = w;
    return outcome::done;
  }
  if (size_ >= capacity_) return outcome::not_now;
  append(m);
  return outcome::done;
}

channel_core::outcome channel_core::receive_now(message*& m, waiter*& served) noexcept {
  if (first_ != nullptr) {
    m = first_;
    first_ = m->next;
    --size_;
  }
  while (waiter* w = senders_.pop_front()) {  // one of them has room now, or is received from directly
    if (!claim(*w, wake_reason::notified)) continue;
    served = w;
    if (m != nullptr) append(*static_cast<message*>(w->payload));
    else m = static_cast<message*>(w->payload);
    break;
  }
  if (m != nullptr) return outcome::done;
  return closed_ ? outcome::closed : outcome::not_now;
}

bool channel_core::enqueue_sender(void* data, waiter& w) noexcept {
  auto& r = *static_cast<request*>(data);
  channel_core& c = *r.object;
  waiter* served = nullptr;
  c.guard_.lock();
  r.result = c.send_now(*r.subject, served);
  const bool stay = r.result == outcome::not_now;
  if (stay) {
    w.payload = r.subject;
    c.senders_.push_back(w);
  }
  c.guard_.unlock();
  if (served != nullptr) resume(*served);
  return stay;
}

bool channel_core::enqueue_receiver(void* data, waiter& w) noexcept {
  auto& r = *static_cast<request*>(data);
  channel_core& c = *r.object;
  waiter* served = nullptr;
  c.guard_.lock();
  r.result = c.receive_now(r.subject, served);
  const bool stay = r.result == outcome::not_now;
  if (stay) c.receivers_.push_back(w);
  c.guard_.unlock();
  if (served != nullptr) resume(*served);
  return stay;
}

channel_core::outcome channel_core::outcome_of(wake_reason reason, request& r, waiter_list& list, waiter& w) noexcept {
  switch (reason) {
    case wake_reason::notified:
      return outcome::done;
    case wake_reason::cancelled:
      return outcome::closed;
    case wake_reason::timed_out:
      guard_.lock();
      list.remove(w);
      guard_.unlock();
      return outcome::not_now;
    case wake_reason::none:
      break;
  }
  return r.result;  // possible, or closed, at the last look
}

channel_core::outcome channel_core::try_send(message& m) noexcept {
  const worker::section inside;
  waiter* served = nullptr;
  guard_.lock();
  const outcome result = send_now(m, served);
  guard_.unlock();
  if (served != nullptr) resume(*served);
  return result;
}

channel_core::outcome channel_core::send(message& m, const deadline* limit) noexcept {
  const worker::section inside;
  if (const outcome result = try_send(m); result != outcome::not_now) return result;
  request r{this, &m};
  waiter w("channel, to send");
  return outcome_of(limit == nullptr ? suspend(w, enqueue_sender, &r) : suspend_until(w, enqueue_sender, &r, *limit), r, senders_, w);
}

channel_core::outcome channel_core::try_receive(message*& m) noexcept {
  const worker::section inside;
  waiter* served = nullptr;
  guard_.lock();
  const outcome result = receive_now(m, served);
  guard_.unlock();
  if (served != nullptr) resume(*served);
  return result;
}

channel_core::outcome channel_core::receive(message*& m, const deadline* limit) noexcept {
  const worker::section inside;
  if (const outcome result = try_receive(m); result != outcome::not_now) return result;
  request r{this, nullptr};
  waiter w("channel, to receive");
  const wake_reason reason =
      limit == nullptr ? suspend(w, enqueue_receiver, &r) : suspend_until(w, enqueue_receiver, &r, *limit);
  m = reason == wake_reason::notified ? static_cast<message*>(w.payload) : r.subject;
  return outcome_of(reason, r, receivers_, w);
}

void channel_core::close() noexcept {
  const worker::section inside;
  waiter_list chosen;
  guard_.lock();
  closed_ = true;
  for (waiter_list* list : {&senders_, &receivers_}) {
    while (waiter* w = list->pop_front()) {
      if (claim(*w, wake_reason::cancelled)) chosen.push_back(*w);
    }
  }
  guard_.unlock();
  while (waiter* w = chosen.pop_front()) resume(*w);
}

bool channel_core::is_closed() const noexcept {
  const worker::section inside;
  std::lock_guard hold(guard_);
  return closed_;
}

std::size_t channel_core::size() const noexcept {
  const worker::section inside;
  std::lock_guard hold(guard_);
  return size_;
}

}  // namespace heddle::detail
