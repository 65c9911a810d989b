// Threads that are ready to go on, first in first out, one queue a worker. The owner's operations cost no locked
// instruction; others reach it through owner_lock's expensive side when the owner does not answer.
#pragma once

#include <atomic>
#include <cstdint>

#include "fiber/preemptible.hpp"
#include "fiber/thread.hpp"
#include "sync/owner_lock.hpp"

namespace heddle::worker {

class ready_queue {
 public:
  // Owner.
  void push(fiber::thread& t) noexcept {
    t.next = nullptr;
    lock_.enter();
    append(t);
    lock_.leave();
  }
  // The same; false: not now, somebody else is at the queue.
  [[nodiscard]] bool try_push(fiber::thread& t) noexcept {
    t.next = nullptr;
    if (!lock_.try_enter()) [[unlikely]]
      return false;
    append(t);
    lock_.leave();
    return true;
  }
  [[nodiscard]] fiber::thread* pop() noexcept {
    // only the owner adds: null is exact enough, a visitor takes
    if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    lock_.enter();
    fiber::thread* t = take();
    lock_.leave();
    return t;
  }
  // Owner. As try_push, of a plain thread that has not begun: its joiner may take it from among the others.
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
  // Owner. Takes `t` from wherever it stands; false: it was not put here by try_push_new, or somebody has taken it.
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

  // Owner. The only one that is here was put here by try_push_new. A visitor may take it meanwhile.
  [[nodiscard]] bool has_one_new() const noexcept {
    // only the owner adds, and tail_ is the owner's to write
    const fiber::thread* const oldest = head_.load(std::memory_order_relaxed);
    return oldest != nullptr && oldest == tail_ && oldest->lies_in.load(std::memory_order_relaxed) == this;
  }

  // Anybody else: the oldest thread; null when there is none or the queue is in use.
  [[nodiscard]] fiber::thread* force_pop() noexcept {
    if (looks_empty() || !lock_.try_visit()) return nullptr;
    fiber::thread* t = take();
    lock_.end_visit();
    return t;
  }
  // Preemptive threads in it, each of which waits for a turn, and since
  // when the oldest of its threads does (its waits_since): hints to others.
  unsigned turns_waited_for() const noexcept { return preemptive_.load(std::memory_order_relaxed); }
  std::uint64_t oldest_waits_since() const noexcept { return oldest_since_.load(std::memory_order_relaxed); }
  // relaxed: a hint, or ordered by the caller's heavy fence
  bool looks_empty() const noexcept { return head_.load(std::memory_order_relaxed) == nullptr; }

 private:
  void append(fiber::thread& t) noexcept {
    if (head_.load(std::memory_order_relaxed) == nullptr) head_.store(&t, std::memory_order_relaxed);  // under lock_
    else tail_->next = &t;
    tail_ = &t;
    if (waits_for_turn(t)) [[unlikely]]
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
    if (waits_for_turn(*t)) [[unlikely]]
      left(follows);
    // With hundreds of threads taking turns neither blocks nor stacks are in the first-level cache: the next one's
    // stack and the block of the one after it are fetched while `t` runs.
    if (follows != nullptr) {
      __builtin_prefetch(follows->stack_pointer);
      __builtin_prefetch(follows->next);
    }
    return t;
  }

  // A new thread that is not the oldest: who stood in front of it
  // when it came still does, unless it was unlinked as well.
  void unlink(fiber::thread& t) noexcept {
    fiber::thread* const before = t.ties.in_front;
    fiber::thread* const behind = t.next;
    before->next = behind;
    if (behind == nullptr) tail_ = before;
    else if (behind->lies_in.load(std::memory_order_relaxed) == this) behind->ties.in_front = before;  // under lock_
  }

  static bool waits_for_turn(const fiber::thread& t) noexcept {
    return t.preemptive != nullptr && t.preemptive->how.preemptive();
  }
  // Under lock_, which orders the writers; relaxed everywhere: who reads without
  // it (turns_waited_for, oldest_waits_since) takes what it finds for a hint. No
  // calls here: they would make every change of threads save registers.
  void joined(const fiber::thread& t) noexcept {
    if (head_.load(std::memory_order_relaxed) == &t)
      oldest_since_.store(t.preemptive->waits_since, std::memory_order_relaxed);
    preemptive_.store(preemptive_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void left(const fiber::thread* now_first) noexcept {  // relaxed, as in joined
    if (now_first != nullptr && waits_for_turn(*now_first))
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
