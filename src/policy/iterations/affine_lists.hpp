// The tasks that wait under locality-guided work stealing. A task stands in the own list of the worker that made it,
// and a task with an affinity for another worker stands in that worker's affine list as well. Whoever finds it first,
// in either list, takes it out of both. Nothing is allocated: the links are in the task. A component of locality_ws;
// protocol: locality_ws.md.
//
// Source: Acar, Blelloch, Blumofe, "The data locality of work stealing" (SPAA 2000). The affine list is its mailbox; in
// this code a mailbox is where an answer to a request comes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include <heddle/detail/linked_list.hpp>
#include <heddle/detail/spin_word.hpp>

#include <heddle/policy.hpp>

namespace heddle::policy {

// The data that the policy keeps in a task. The first four fields belong to the lists.
struct affine_task {
  task* affine_next;      // links of the affine list; under its lock
  task* affine_previous;  //
  std::uint16_t maker;    // the worker in whose own list it is put; written before it is in a list
  std::uint16_t wanted;   // the worker in whose affine list it is put; `no_list` if it is in none
  bool waits;             // whether it is in the own list of `maker`; under that list's lock
  bool is_root;           // whether it is nobody's child
  std::uint8_t base;      // for a root: the forks and groups of its own that its iterations are inside of
  std::uint8_t depth;     // the forks and groups that it is below, by all its ancestors
  std::uint32_t open;     // the forks and groups of its own that it is inside of
  std::uint32_t made;     // the tasks that it has made; a root counts those of this iteration
  std::uint64_t id;       // its identity

  static constexpr std::uint16_t no_list = 0xffff;
};

class affine_lists {
 public:
  void start(unsigned workers) { lists_.reset(new pair[workers]); }

  // Puts the task into the own list of `maker` and, unless `wanted` is `nobody`, into the affine list of `wanted`.
  void put(task& t, unsigned maker, unsigned wanted) noexcept {
    affine_task& at = state_of(t);
    at.maker = static_cast<std::uint16_t>(maker);
    at.wanted = wanted == nobody ? affine_task::no_list : static_cast<std::uint16_t>(wanted);
    if (wanted == nobody) return put_into_own(t, at);
    pair& there = lists_[wanted];
    std::lock_guard hold(there.affine_lock);  // before that of the own list, as in take_affine
    there.affine.push_back(t);
    there.affine_size.add(1);
    put_into_own(t, at);
  }

  task* take_newest(unsigned of) noexcept { return take_own(of, &own_list::pop_back); }
  task* take_oldest(unsigned of) noexcept { return take_own(of, &own_list::pop_front); }

  // Takes the task that has waited longest in the affine list of `self`.
  task* take_affine(unsigned self) noexcept {
    pair& mine = lists_[self];
    if (mine.affine_size.looks_empty()) return nullptr;
    std::lock_guard hold(mine.affine_lock);
    for (task* t = mine.affine.front(); t != nullptr; t = state_of(*t).affine_next) {
      // Otherwise another worker has taken it out of the own list and waits for the lock that is held here.
      if (!take_out_of_own(*t)) continue;
      mine.affine.remove(*t);
      mine.affine_size.add(-1);
      return t;
    }
    return nullptr;
  }

  // Hints, or ordered by the caller's heavy fence.
  bool has_own(unsigned of) const noexcept { return !lists_[of].own_size.looks_empty(); }
  std::size_t own_size(unsigned of) const noexcept { return lists_[of].own_size.value(); }

  static affine_task& state_of(task& t) noexcept { return t.get<affine_task>(); }

 private:
  static task*& next_of(task& t) noexcept { return state_of(t).affine_next; }
  static task*& previous_of(task& t) noexcept { return state_of(t).affine_previous; }
  using own_list = detail::linked_list<task>;
  using affine_list = detail::linked_list<task, &next_of, &previous_of>;

  // A count that is written under a lock, and read without it as a hint.
  class counted {
   public:
    void add(int change) noexcept {
      // relaxed: under the lock
      count_.store(count_.load(std::memory_order_relaxed) + static_cast<std::size_t>(change),
                   std::memory_order_relaxed);
    }
    // relaxed: a hint, or ordered by the caller's heavy fence
    std::size_t value() const noexcept { return count_.load(std::memory_order_relaxed); }
    bool looks_empty() const noexcept { return value() == 0; }

   private:
    std::atomic<std::size_t> count_{0};
  };

  struct pair {
    alignas(64) detail::spin_word own_lock;
    own_list own;  // newest last
    counted own_size;
    alignas(64) detail::spin_word affine_lock;  // taken before any own_lock
    affine_list affine;                         // oldest first
    counted affine_size;
  };

  void put_into_own(task& t, affine_task& at) noexcept {
    pair& mine = lists_[at.maker];
    std::lock_guard hold(mine.own_lock);
    mine.own.push_back(t);
    mine.own_size.add(1);
    at.waits = true;
  }
  bool take_out_of_own(task& t) noexcept {
    affine_task& at = state_of(t);
    pair& its = lists_[at.maker];
    std::lock_guard hold(its.own_lock);
    if (!at.waits) return false;
    at.waits = false;
    its.own.remove(t);
    its.own_size.add(-1);
    return true;
  }
  // The task is the caller's as soon as it is out of the own list. It is no other's memory before it is out of the
  // affine list, too, because only the caller takes it out of that.
  task* take_own(unsigned of, task* (own_list::*take)() noexcept) noexcept {
    pair& its = lists_[of];
    if (its.own_size.looks_empty()) return nullptr;
    task* t = nullptr;
    {
      std::lock_guard hold(its.own_lock);
      t = (its.own.*take)();
      if (t == nullptr) return nullptr;
      its.own_size.add(-1);
      state_of(*t).waits = false;
    }
    if (const unsigned wanted = state_of(*t).wanted; wanted != affine_task::no_list) {
      pair& there = lists_[wanted];
      std::lock_guard hold(there.affine_lock);
      there.affine.remove(*t);
      there.affine_size.add(-1);
    }
    return t;
  }

  std::unique_ptr<pair[]> lists_;  // by rank
};

}  // namespace heddle::policy
