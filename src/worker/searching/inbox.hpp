// The inbox holds threads that foreign kernel threads have made ready, or that a worker has handed out when it was
// asked. It is a lock-free stack that is taken whole and read in order of arrival.
#pragma once

#include <atomic>

#include "fiber/thread.hpp"

namespace heddle::worker {

class inbox {
 public:
  // By any kernel thread. This is a full fence, so the caller may look for sleepers right after it.
  void push(fiber::thread& t) noexcept {
    fiber::thread* head = head_.load(std::memory_order_relaxed);  // verified by the exchange
    do {
      t.next = head;
    } while (!head_.compare_exchange_weak(head, &t));
  }

  // By any worker. Returns all threads, the oldest first, linked through `next`.
  [[nodiscard]] fiber::thread* take_all() noexcept {
    if (empty()) return nullptr;
    fiber::thread* newest = head_.exchange(nullptr);
    fiber::thread* oldest = nullptr;
    while (newest != nullptr) {
      fiber::thread* next = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = next;
    }
    return oldest;
  }
  // a hint, or exact after a heavy fence
  bool empty() const noexcept { return head_.load(std::memory_order_relaxed) == nullptr; }

 private:
  alignas(64) std::atomic<fiber::thread*> head_{nullptr};  // pushed by anyone, emptied by workers; publishes the thread
};

}  // namespace heddle::worker
