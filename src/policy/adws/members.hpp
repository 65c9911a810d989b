// The members of ADWS, and their queues. What the algorithms of the thesis call workers are workers in single-level
// scheduling. In multi-level scheduling they are memory groups, each represented by its head, the worker of the
// smallest rank. Introduction: adws.md. Source: the ADWS thesis, Algorithms 4.1, 4.3 and 5.2.
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

// Entries that a worker has put aside from its fork queue, which serves another queue of ADWS meanwhile [adws:5].
// Two ends; filled by one worker, taken from by any.
class stash {
 public:
  stash() : entries_(new entry[most]), scratch_(new entry[most]) {}

  // Moves the worker's whole queue here; its newest entry becomes the newest. What does not fit stays in the queue.
  void fill_from(scheduler& host, unsigned self) noexcept {
    unsigned n = 0;
    const unsigned room = most - size();  // only this worker adds
    while (n < room && (scratch_[n] = host.newest(self)) != 0) ++n;
    if (n == 0) return;
    std::lock_guard hold(lock_);
    const unsigned old = size();
    for (unsigned i = 0; i < n; ++i) at(old + i) = scratch_[n - 1 - i];
    size_.store(old + n, std::memory_order_relaxed);  // under lock_, as below; a hint elsewhere
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
  const std::unique_ptr<entry[]> scratch_;  // the filling worker's
  unsigned first_{0};                       // under lock_
  std::atomic<unsigned> size_{0};           // written under lock_
};

// WORKER of Algorithm 4.1, MEMORYGROUP of 5.2. From its newest end to its oldest, its local queue consists of: what
// its head has in the fork queue, while it acts for this member and !uses_migrated; then the stash `local`. Its
// migration queue: what the head has in the fork queue, while uses_migrated; the stash `migrated`; the list
// `passed`.
struct alignas(64) member {
  unsigned head{0};  // rank
  unsigned level{0};
  std::uint64_t capacity{0};               // bytes; 0: not known
  bool leaf{true};                         // one worker: nothing can be laid out below it
  std::atomic<tree_node*> tree{nullptr};   // written by the head; thieves of this member walk up from it
  std::atomic<bool> uses_migrated{false};  // written by the head; read by thieves as a hint
  std::atomic<bool> is_passed_to{false};   // audit builds: somebody is passing a task
  shared_task_list search_roots;           // one at most, when a single program is laid out [adws:3]
  shared_task_list passed;                 // oldest first: the head takes the oldest, a thief the newest
  stash local;
  stash migrated;

  bool looks_empty() const noexcept {
    return search_roots.looks_empty() && passed.looks_empty() && local.size() == 0 && migrated.size() == 0;
  }
};

// Members that share a level, side by side on one number line.
struct domain {
  unsigned root{0};  // the memory group whose descendants they are
  unsigned level{0};
  bool leaf{true};
  std::vector<unsigned> members;
  speed_line speeds;                      // of its members, if the layout goes by them
  std::vector<unsigned> place_of_worker;  // which of the members a worker belongs to; meaningless for others

  unsigned member_of(unsigned worker) const noexcept { return members[place_of_worker[worker]]; }
};

}  // namespace heddle::policy
