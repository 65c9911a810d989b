// The members of ADWS, and their queues. The workers of the thesis' algorithms are workers in single-level scheduling.
// In multi-level scheduling they are memory groups, each represented by its head, the worker of the smallest rank.
// Introduction: adws.md. Source: the ADWS thesis, Algorithms 4.1, 4.3 and 5.2.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include <heddle/detail/spin_word.hpp>

#include "policy/adws/speed_line.hpp"
#include "policy/task_list.hpp"

namespace heddle::policy {

struct tree_node;

// Entries that a worker has put aside from its fork queue while that queue serves another queue of ADWS [adws:5]. It
// has two ends. One worker fills it; any worker takes from it.
class stash {
 public:
  stash() : entries_(new entry[most]), scratch_(new entry[most]) {}

  // Moves the worker's whole queue here; its newest entry becomes the newest. Entries that do not fit stay in the
  // queue.
  void fill_from(scheduler& host, unsigned self) noexcept {
    unsigned n = 0;
    const unsigned room = most - size();  // only this worker adds
    while (n < room && (scratch_[n] = host.newest(self)) != 0) ++n;
    if (n == 0) return;
    std::lock_guard hold(lock_);
    const unsigned old = size();
    for (unsigned i = 0; i < n; ++i) at(old + i) = scratch_[n - 1 - i];
    size_.store(old + n, std::memory_order_relaxed);  // relaxed: under lock_, as below; a hint elsewhere
  }
  entry take_newest() noexcept {
    if (size() == 0) return 0;
    std::lock_guard hold(lock_);
    const unsigned n = size();
    if (n == 0) return 0;
    size_.store(n - 1, std::memory_order_relaxed);  // under lock_
    return at(n - 1);
  }
  entry take_oldest() noexcept {
    if (size() == 0) return 0;
    std::lock_guard hold(lock_);
    const unsigned n = size();
    if (n == 0) return 0;
    const entry oldest = at(0);
    first_ = (first_ + 1) % most;
    size_.store(n - 1, std::memory_order_relaxed);  // under lock_
    return oldest;
  }
  // relaxed: a hint, or under lock_, or ordered by the caller's heavy fence
  unsigned size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned most = 1024;
  entry& at(unsigned i) noexcept { return entries_[(first_ + i) % most]; }

  detail::spin_word lock_;
  const std::unique_ptr<entry[]> entries_;  // under lock_
  const std::unique_ptr<entry[]> scratch_;  // used by the filling worker
  unsigned first_{0};                       // under lock_
  std::atomic<unsigned> size_{0};           // written under lock_
};

// WORKER of Algorithm 4.1, MEMORYGROUP of 5.2. Its local queue consists, from the newest end to the oldest, of the
// entries in its head's fork queue while the head acts for this member and !uses_migrated, and of the stash `local`.
// Its migration queue consists of the entries in the head's fork queue while uses_migrated, of the stash `migrated`,
// and of the list `passed`.
struct alignas(64) member {
  unsigned head{0};  // rank
  unsigned level{0};
  std::uint64_t capacity{0};               // bytes; 0 if not known
  bool leaf{true};                         // whether it is one worker, so that nothing can be laid out below it
  std::atomic<tree_node*> tree{nullptr};   // written by the head; thieves of this member walk up from it
  std::atomic<bool> uses_migrated{false};  // written by the head; read by thieves as a hint
  std::atomic<bool> is_passed_to{false};   // audit builds: a worker is passing a task
  shared_task_list search_roots;           // one at most, while a single program is laid out [adws:3]
  shared_task_list passed;                 // oldest first; the head takes the oldest, a thief the newest
  stash local;
  stash migrated;

  bool looks_empty() const noexcept {
    return search_roots.looks_empty() && passed.looks_empty() && local.size() == 0 && migrated.size() == 0;
  }
};

// Members that share a level, side by side on one number line.
struct domain {
  unsigned root{0};  // the memory group whose descendants the members are
  unsigned level{0};
  bool leaf{true};
  std::vector<unsigned> members;
  speed_line speeds;  // the speeds of its members, if the layout goes by them
  // the member to which a worker belongs; meaningless for workers outside the domain
  std::vector<unsigned> place_of_worker;

  unsigned member_of(unsigned worker) const noexcept { return members[place_of_worker[worker]]; }
};

}  // namespace heddle::policy
