// Waiting for and handing on a shared mutex. Protocol and proof: objects.md.
#include <heddle/shared_mutex.hpp>

#include "worker/preemption/section.hpp"

namespace heddle {

namespace {

void resume_all(detail::waiter_list& chosen) noexcept {
  while (detail::waiter* w = chosen.pop_front()) detail::resume(*w);
}

}  // namespace

struct shared_mutex::request {
  shared_mutex* object;
  bool exclusive;
  bool got_it{false};
};

bool shared_mutex::enqueue(void* data, detail::waiter& w) noexcept {
  auto& r = *static_cast<request*>(data);
  shared_mutex& m = *r.object;
  m.guard_.lock();
  std::uint32_t word = m.word_.load();
  for (;;) {
    const bool open = r.exclusive ? word == 0 : (word & (writer | queued)) == 0;
    const std::uint32_t next = !open ? word | queued : r.exclusive ? writer : word + reader;
    if (!m.word_.compare_exchange_weak(word, next)) continue;
    if (open) r.got_it = true;
    else (r.exclusive ? m.writers_ : m.readers_).push_back(w);
    m.guard_.unlock();
    return !open;
  }
}

bool shared_mutex::wait_for_it(bool exclusive, const detail::deadline* limit) noexcept {
  const worker::section inside;
  request r{this, exclusive};
  detail::waiter w(exclusive ? "shared_mutex, to write" : "shared_mutex, to read");
  const detail::wake_reason reason =
      limit == nullptr ? detail::suspend(w, enqueue, &r) : detail::suspend_until(w, enqueue, &r, *limit);
  // It was handed over, or found open at the last look.
  if (reason != detail::wake_reason::timed_out) return true;
  withdraw(exclusive, w);
  return false;
}

// Claims readers that wait, and returns the number that they add to the word.
std::uint32_t shared_mutex::choose_readers(detail::waiter_list& chosen) noexcept {
  std::uint32_t sum = 0;
  while (detail::waiter* w = readers_.pop_front()) {
    if (!detail::claim(*w, detail::wake_reason::notified)) continue;
    chosen.push_back(*w);
    sum += reader;
  }
  return sum;
}

std::uint32_t shared_mutex::choose_writer(detail::waiter_list& chosen) noexcept {
  while (detail::waiter* w = writers_.pop_front()) {
    if (!detail::claim(*w, detail::wake_reason::notified)) continue;
    chosen.push_back(*w);
    return writer;
  }
  return 0;
}

void shared_mutex::unlock_slow() noexcept {
  const worker::section inside;
  detail::waiter_list chosen;
  for (;;) {
    guard_.lock();
    std::uint32_t next = choose_readers(chosen);
    if (next == 0) next = choose_writer(chosen);
    if (next != 0) {
      // We hold it and `queued` keeps others out, so no other thread changes the word.
      word_.store(next | queue_bit());
      guard_.unlock();  // the last access to *this: the chosen waiters may run only now
      return resume_all(chosen);
    }
    word_.store(writer);  // all of them ran out of time
    guard_.unlock();
    std::uint32_t alone = writer;
    if (word_.compare_exchange_strong(alone, 0)) return;  // the last access to *this
  }
}

void shared_mutex::unlock_shared_slow() noexcept {
  const worker::section inside;
  detail::waiter_list chosen;
  for (;;) {
    std::uint32_t word = word_.load();
    if ((word & queued) == 0 || word >= 2 * reader) {
      if (word_.compare_exchange_weak(word, word - reader)) return;  // the last access to *this
      continue;
    }
    guard_.lock();
    // A queue was emptied by its time limits.
    if (word_.load() != (reader | queued)) {
      guard_.unlock();
      continue;
    }
    std::uint32_t next = choose_writer(chosen);
    if (next == 0) next = choose_readers(chosen);
    // We are the only holder and `queued` keeps others out, so no other thread changes the word.
    word_.store(next != 0 ? next | queue_bit() : reader);
    guard_.unlock();
    if (next != 0) return resume_all(chosen);
  }
}

// Called when the waiter's time ran out. If it was the last writer in the queue, readers that waited behind it come in.
void shared_mutex::withdraw(bool exclusive, detail::waiter& w) noexcept {
  detail::waiter_list chosen;
  guard_.lock();
  (exclusive ? writers_ : readers_).remove(w);
  if (writers_.empty() && (word_.load() & writer) == 0) {
    // The holders are readers. All but the last may leave meanwhile; the last one needs the guard, which we hold.
    word_.fetch_add(choose_readers(chosen));
  }
  if (queue_bit() == 0) word_.fetch_and(~queued);
  guard_.unlock();
  resume_all(chosen);
}

}  // namespace heddle
