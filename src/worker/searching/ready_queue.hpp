// The threads of a worker that are ready to go on, first in first out. The owner's operations cost no locked
// instruction. Others reach the queue through the expensive side of owner_lock when the owner does not answer.
#pragma once

#include <atomic>
#include <cstdint>

#include "fiber/preemptible.hpp"
#include "fiber/thread.hpp"
#include "sync/owner_lock.hpp"

namespace heddle::worker {

class ready_queue {
 public:
  // By the owner.
  void push(fiber::thread& t) noexcept {
    t.next = nullptr;
    lock_.enter();
    append(t);
    lock_.leave();
  }
  // The same. Returns false if a visitor is at the queue.
  [[nodiscard]] bool try_push(fiber::thread& t) noexcept {
    t.next = nullptr;
    if (!lock_.try_enter()) [[unlikely]]
      return false;
    append(t);
    lock_.leave();
    return true;
  }
  // The same, but `t` becomes the oldest.
  void push_front(fiber::thread& t) noexcept {
    lock_.enter();
    fiber::thread* const behind = head_.load(std::memory_order_relaxed);  // under lock_
    t.next = behind;
    head_.store(&t, std::memory_order_relaxed);  // under lock_
    if (behind == nullptr) tail_ = &t;
    else if (behind->lies_in.load(std::memory_order_relaxed) == this) behind->ties.in_front = &t;  // under lock_
    if (waits_for_slice(t)) [[unlikely]]
      joined(t);
    lock_.leave();
  }
  // The same. Takes `t` if it is the oldest. `t` may be anywhere, or gone.
  [[nodiscard]] bool take_if_oldest(const fiber::thread& t) noexcept {
    if (head_.load(std::memory_order_relaxed) != &t) return false;  // exact enough, because only the owner adds
    lock_.enter();
    const bool mine = head_.load(std::memory_order_relaxed) == &t;  // under lock_
    if (mine) static_cast<void>(take());
    lock_.leave();
    return mine;
  }
  [[nodiscard]] fiber::thread* pop() noexcept {
    // Null is exact enough, because only the owner adds, and a visitor only takes.
    if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    lock_.enter();
    fiber::thread* t = take();
    lock_.leave();
    return t;
  }
  // By the owner. As try_push, for a plain thread that has not begun. Its joiner may take it from among the others.
  [[nodiscard]] bool try_push_new(fiber::thread& t) noexcept {
    t.next = nullptr;
    if (!lock_.try_enter()) [[unlikely]]
      return false;
    t.ties.in_front = tail_;
    t.lies_in.store(this, std::memory_order_relaxed);  // under lock_
    append(t);
    lock_.leave();
    return true;
  }
  // By the owner. Takes `t` from wherever it stands. Returns false if try_push_new did not put it here, or it was
  // taken.
  [[nodiscard]] bool take_new(fiber::thread& t) noexcept {
    if (t.lies_in.load(std::memory_order_relaxed) != this) return false;  // only the owner makes it true
    lock_.enter();
    const bool mine = t.lies_in.load(std::memory_order_relaxed) == this;  // under lock_
    if (mine) {
      t.lies_in.store(nullptr, std::memory_order_relaxed);                                              // under lock_
      if (head_.load(std::memory_order_relaxed) == &t) head_.store(t.next, std::memory_order_relaxed);  // under lock_
      else unlink(t);
    }
    lock_.leave();
    return mine;
  }

  // By the owner: whether there is one thread, and try_push_new put it here. A visitor may take it meanwhile.
  [[nodiscard]] bool has_one_new() const noexcept {
    // only the owner adds, and tail_ is the owner's to write
    const fiber::thread* const oldest = head_.load(std::memory_order_relaxed);
    return oldest != nullptr && oldest == tail_ && oldest->lies_in.load(std::memory_order_relaxed) == this;
  }

  // By a visitor. Returns the oldest thread, or null if there is none or the queue is in use.
  [[nodiscard]] fiber::thread* force_pop() noexcept {
    if (looks_empty() || !lock_.try_visit()) return nullptr;
    fiber::thread* t = take();
    lock_.end_visit();
    return t;
  }
  // The number of preemptive threads in it, each of which waits for a time slice, and the time since when the oldest
  // thread has waited (its waits_since). Hints to others.
  unsigned turns_waited_for() const noexcept { return preemptive_.load(std::memory_order_relaxed); }
  std::uint64_t oldest_waits_since() const noexcept { return oldest_since_.load(std::memory_order_relaxed); }
  // relaxed: a hint, or ordered by the caller's heavy fence
  bool looks_empty() const noexcept { return head_.load(std::memory_order_relaxed) == nullptr; }

 private:
  void append(fiber::thread& t) noexcept {
    if (head_.load(std::memory_order_relaxed) == nullptr) head_.store(&t, std::memory_order_relaxed);  // under lock_
    else tail_->next = &t;
    tail_ = &t;
    if (waits_for_slice(t)) [[unlikely]]
      joined(t);
  }
  fiber::thread* take() noexcept {
    fiber::thread* t = head_.load(std::memory_order_relaxed);  // under lock_
    if (t == nullptr) return nullptr;
    fiber::thread* const follows = t->next;
    head_.store(follows, std::memory_order_relaxed);
    // under lock_
    if (fiber::is_not_begun(t->stack_pointer)) [[unlikely]]
      t->lies_in.store(nullptr, std::memory_order_relaxed);
    if (waits_for_slice(*t)) [[unlikely]]
      left(follows);
    // With hundreds of threads that take turns neither blocks nor stacks are in the first-level cache. So the stack of
    // the next thread and the block of the one after it are fetched while `t` runs.
    if (follows != nullptr) {
      __builtin_prefetch(follows->stack_pointer);
      __builtin_prefetch(follows->next);
    }
    return t;
  }

  // For a new thread that is not the oldest. The thread that stood in front of it when it came still does, unless it
  // was unlinked as well.
  void unlink(fiber::thread& t) noexcept {
    fiber::thread* const before = t.ties.in_front;
    fiber::thread* const behind = t.next;
    before->next = behind;
    if (behind == nullptr) tail_ = before;
    else if (behind->lies_in.load(std::memory_order_relaxed) == this) behind->ties.in_front = before;  // under lock_
  }

  static bool waits_for_slice(const fiber::thread& t) noexcept {
    return t.preemptive != nullptr && t.preemptive->how.preemptive();
  }
  // Under lock_, which orders the writers. relaxed everywhere: readers without the lock (turns_waited_for,
  // oldest_waits_since) take the value for a hint. There are no calls here, because they would make every change of
  // threads save registers.
  void joined(const fiber::thread& t) noexcept {
    if (head_.load(std::memory_order_relaxed) == &t)
      oldest_since_.store(t.preemptive->waits_since, std::memory_order_relaxed);
    preemptive_.store(preemptive_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void left(const fiber::thread* now_first) noexcept {  // relaxed, as in joined
    if (now_first != nullptr && waits_for_slice(*now_first))
      oldest_since_.store(now_first->preemptive->waits_since, std::memory_order_relaxed);
    preemptive_.store(preemptive_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  }

  alignas(64) std::atomic<fiber::thread*> head_{nullptr};  // written under lock_; read by anyone as a hint
  fiber::thread* tail_{nullptr};                           // under lock_; meaningful while head_ is not null
  sync::owner_lock lock_;
  std::atomic<unsigned> preemptive_{0};         // written under lock_; read by anyone as a hint
  std::atomic<std::uint64_t> oldest_since_{0};  // of a preemptive thread at the head; as above
};

}  // namespace heddle::worker
