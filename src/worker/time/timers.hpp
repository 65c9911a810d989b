// Time limits of waiting threads. The worker that looks first fires them. While no worker is awake, a sleeping worker
// keeps time.
//
// A leftist heap (Crane 1972; Knuth, The Art of Computer Programming, vol. 3, 5.2.3) of the timers themselves, with
// links to parents for removal: nothing is allocated, so that arming one cannot fail inside a suspension. Every
// operation takes at most 2 log2 n steps, not only on average: the lock is a spin lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>

#include <heddle/detail/wait.hpp>

#include "platform/platform.hpp"

namespace heddle::worker {

// A timer stands on the stack of the waiting thread. The fields below `waiting` are the heap's, under its lock.
struct timer {
  platform::nanoseconds deadline;
  detail::waiter* waiting;
  timer* parent{nullptr};
  timer* left{nullptr};
  timer* right{nullptr};
  // 1 + nodes on the shortest way down to a free place; that of the right side is never the larger
  std::uint32_t rank{0};
  bool armed{false};  // in the heap
};

class timer_heap {
 public:
  static constexpr platform::nanoseconds never = std::numeric_limits<platform::nanoseconds>::max();

  // Returns true if the timer is the earliest one at that moment.
  bool add(timer& t) noexcept {
    std::lock_guard hold(lock_);
    t.parent = t.left = t.right = nullptr;
    t.rank = 1;
    t.armed = true;
    root_ = merge(root_, &t);
    publish();
    return root_ == &t;
  }

  // Has no effect on a timer that has fired.
  void remove(timer& t) noexcept {
    std::lock_guard hold(lock_);
    if (t.armed) take_out(t);
    publish();
  }

  // Claims and resumes every waiter whose time has come. The claim is made under the lock: a waiter that loses its
  // timer may leave as soon as it has removed it.
  void fire(platform::nanoseconds now) noexcept {
    while (detail::waiter* const due = claim_due(now)) detail::resume(*due);
  }

  // Claims the earliest waiter whose time has come. Returns null if there is none. The caller must resume the waiter.
  [[nodiscard]] detail::waiter* claim_due(platform::nanoseconds now) noexcept {
    std::lock_guard hold(lock_);
    detail::waiter* due = nullptr;
    while (root_ != nullptr && root_->deadline <= now && due == nullptr) {
      detail::waiter* candidate = root_->waiting;
      take_out(*root_);
      if (detail::claim(*candidate, detail::wake_reason::timed_out)) due = candidate;
    }
    publish();
    return due;
  }

  // relaxed: a stale value delays or repeats one look
  platform::nanoseconds next() const noexcept { return next_.load(std::memory_order_relaxed); }

 private:
  void publish() noexcept {
    // a hint; the heap is under lock_
    next_.store(root_ == nullptr ? never : root_->deadline, std::memory_order_relaxed);
  }

  static std::uint32_t rank_of(const timer* t) noexcept { return t == nullptr ? 0 : t->rank; }
  // Puts the sides of a node in order. Returns true if its rank changed.
  static bool settle(timer& t) noexcept {
    if (rank_of(t.left) < rank_of(t.right)) std::swap(t.left, t.right);
    return std::exchange(t.rank, rank_of(t.right) + 1) != rank_of(t.right) + 1;
  }

  // One heap of two roots: their right edges, which are short, woven into one.
  static timer* merge(timer* a, timer* b) noexcept {
    timer* root = nullptr;
    timer* above = nullptr;
    timer** place = &root;
    while (a != nullptr && b != nullptr) {
      if (b->deadline < a->deadline) std::swap(a, b);
      *place = a;
      a->parent = above;
      above = a;
      place = &a->right;
      a = a->right;
    }
    timer* rest = a != nullptr ? a : b;
    *place = rest;
    if (rest != nullptr) rest->parent = above;
    for (timer* t = above; t != nullptr; t = t->parent) settle(*t);
    return root;
  }

  void take_out(timer& t) noexcept {
    t.armed = false;
    timer* above = t.parent;
    timer* below = merge(t.left, t.right);
    if (below != nullptr) below->parent = above;
    if (above == nullptr) {
      root_ = below;
      return;
    }
    (above->left == &t ? above->left : above->right) = below;
    // Changed ranks grow by one a step upwards, and none exceeds log2 n.
    while (above != nullptr && settle(*above)) above = above->parent;
  }

  detail::spin_word lock_;
  timer* root_{nullptr};                            // under lock_
  std::atomic<platform::nanoseconds> next_{never};  // earliest deadline; written under lock_
};

}  // namespace heddle::worker
