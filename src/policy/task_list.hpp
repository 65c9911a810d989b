// A list of tasks with two ends, and the same list under a lock. Policies keep their queues in them. Nothing is
// allocated.
#pragma once

#include <atomic>
#include <mutex>

#include <heddle/detail/linked_list.hpp>
#include <heddle/detail/spin_word.hpp>

#include <heddle/policy.hpp>

namespace heddle::policy {

using task_list = detail::linked_list<task>;

// Any worker may use either end. The lock is held for a few instructions, or for the time that `accept` takes.
class alignas(64) shared_task_list {
 public:
  void push_front(task& t) noexcept {
    std::lock_guard hold(lock_);
    list_.push_front(t);
    count(1);
  }
  void push_back(task& t) noexcept {
    std::lock_guard hold(lock_);
    list_.push_back(t);
    count(1);
  }
  task* pop_front() noexcept { return looks_empty() ? nullptr : taken(&task_list::pop_front); }
  task* pop_back() noexcept { return looks_empty() ? nullptr : taken(&task_list::pop_back); }
  // Takes the first of the `tries` foremost tasks for which `accept` returns true. `accept` is called under the lock,
  // so it must be short and take no other lock. Tasks that it refuses never leave the list. So no worker falls asleep
  // because a task happens to be in another worker's hands.
  template <class Accept>
  task* pop_first_of(unsigned tries, Accept&& accept) noexcept {
    if (looks_empty()) return nullptr;
    std::lock_guard hold(lock_);
    for (task* t = list_.front(); t != nullptr && tries > 0; t = t->next, --tries) {
      if (!accept(*t)) continue;
      list_.remove(*t);
      count(~std::size_t{0});
      return t;
    }
    return nullptr;
  }

  // relaxed: a hint, or ordered by the caller's heavy fence
  bool looks_empty() const noexcept { return size() == 0; }
  std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  void count(std::size_t change) noexcept {
    // relaxed: both are under lock_; read as a hint
    size_.store(size_.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }
  task* taken(task* (task_list::*take)() noexcept) noexcept {
    std::lock_guard hold(lock_);
    task* t = (list_.*take)();
    if (t != nullptr) count(~std::size_t{0});
    return t;
  }

  detail::spin_word lock_;
  task_list list_;                    // under lock_
  std::atomic<std::size_t> size_{0};  // written under lock_
};

}  // namespace heddle::policy
