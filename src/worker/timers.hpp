// Time limits of waiting threads, in a binary heap. Fired by whichever worker looks first; a sleeping worker keeps time
// when nobody is awake.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <mutex>
#include <vector>

#include <heddle/detail/wait.hpp>

#include "platform/platform.hpp"

namespace heddle::worker {

struct timer {
  platform::nanoseconds deadline;
  detail::waiter* waiting;
  std::size_t position{none};
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
};

class timer_heap {
 public:
  static constexpr platform::nanoseconds never = std::numeric_limits<platform::nanoseconds>::max();

  // True when it is the earliest now. Throws std::bad_alloc.
  bool add(timer& t) {
    std::lock_guard hold(lock_);
    heap_.push_back(&t);
    t.position = heap_.size() - 1;
    up(t.position);
    publish();
    return t.position == 0;
  }

  void remove(timer& t) noexcept {
    std::lock_guard hold(lock_);
    if (t.position != timer::none) take_out(t.position);
    publish();
  }

  // Claims and resumes every waiter whose time has come. The claim is made under the lock: a waiter that loses its timer
  // may leave as soon as it has removed it.
  void fire(platform::nanoseconds now) noexcept {
    for (;;) {
      detail::waiter* due = nullptr;
      {
        std::lock_guard hold(lock_);
        while (!heap_.empty() && heap_.front()->deadline <= now && due == nullptr) {
          detail::waiter* candidate = heap_.front()->waiting;
          take_out(0);
          if (detail::claim(*candidate, detail::wake_reason::timed_out)) due = candidate;
        }
        publish();
      }
      if (due == nullptr) return;
      detail::resume(*due);
    }
  }

  // relaxed: a stale value delays or repeats one look
  platform::nanoseconds next() const noexcept { return next_.load(std::memory_order_relaxed); }

 private:
  void publish() noexcept {
    next_.store(heap_.empty() ? never : heap_.front()->deadline, std::memory_order_relaxed);  // a hint; the heap is under lock_
  }
  void place(std::size_t at, timer* t) noexcept {
    heap_[at] = t;
    t->position = at;
  }
  void up(std::size_t at) noexcept {
    timer* t = heap_[at];
    for (; at > 0 && t->deadline < heap_[(at - 1) / 2]->deadline; at = (at - 1) / 2) place(at, heap_[(at - 1) / 2]);
    place(at, t);
  }
  void down(std::size_t at) noexcept {
    timer* t = heap_[at];
    for (;;) {
      std::size_t child = 2 * at + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1]->deadline < heap_[child]->deadline) ++child;
      if (heap_[child]->deadline >= t->deadline) break;
      place(at, heap_[child]);
      at = child;
    }
    place(at, t);
  }
  void take_out(std::size_t at) noexcept {
    heap_[at]->position = timer::none;
    timer* last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    place(at, last);
    down(at);
    up(last->position);
  }

  detail::spin_word lock_;
  std::vector<timer*> heap_;                                // under lock_
  std::atomic<platform::nanoseconds> next_{never};          // earliest deadline; written under lock_
};

}  // namespace heddle::worker
