// For which member each worker acts, and what it takes next of its own. Part of the layout of ADWS: adws.md. Source:
// the ADWS thesis, POPTASKFROMLOCAL of Algorithm 4.3.
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include <heddle/detail/spin_word.hpp>

#include <heddle/policy.hpp>
#include "policy/adws/number_lines.hpp"

namespace heddle::policy {

struct alignas(64) station {
  std::atomic<unsigned> acts_for{0};  // a member; written by the worker, read by thieves as a hint
  // level of the innermost group that it has opened; it acts for no member above that level [adws:6]
  std::atomic<unsigned> base{0};
  // held while its fork queue changes its role, and by a thief that takes from it [adws:5]
  detail::spin_word turning;
  std::span<const unsigned> heads;  // members it is the head of
  tree_nodes nodes;
  unsigned all_idle_seen{0};     // searches in a row in which nothing ran and nobody had a task that he may run
  unsigned vain_glances{0};      // in a row
  tree_node* reserved{nullptr};  // for the next fork
};

class stations {
 public:
  explicit stations(const number_lines& lines) noexcept : lines_(lines) {}
  void start(scheduler& host);

  station& operator[](unsigned rank) const noexcept { return all_[rank]; }
  unsigned acts_for(unsigned self) const noexcept {
    return all_[self].acts_for.load(std::memory_order_relaxed);  // a hint, or the worker's own variable
  }
  bool may_act_for(unsigned self, unsigned which) const noexcept {
    // a hint, or the worker's own
    return lines_.of(which).level >= all_[self].base.load(std::memory_order_relaxed) || are_everybodys();
  }

  // Threads without a place in the layout are alive: levels do not count, and all workers may rob each other.
  bool are_everybodys() const noexcept { return outside_tasks_.load() != 0; }
  void outsider_begins() noexcept { outside_tasks_.fetch_add(1); }
  void outsider_ends() noexcept { outside_tasks_.fetch_sub(1); }

  // All on the worker itself.

  // Its fork queue belongs to that member from now on [adws:5].
  void act_for(unsigned self, unsigned which) noexcept;
  // It goes on with a search root, or a task above the leaf level.
  void adopt(unsigned self, task& t) noexcept;
  // It begins a task that was passed to another member or to one of its own.
  entry begin_passed(unsigned self, task& t) noexcept;

  // A search root that waits for it; only that, unless its own queue is empty: then any task of its members.
  entry pick(unsigned self, bool own_is_empty) noexcept;
  // First of the member that it acts for, then of the others whose head it is and for which it may act.
  entry next_own(unsigned self) noexcept;
  // What waits at one of its members, whatever the level.
  entry rescue(unsigned self) noexcept;

  // Nobody runs anything, and nobody has a task that he may run.
  bool are_stuck() const noexcept;

 private:
  entry next_of(unsigned self, unsigned which) noexcept;
  void use_migrated(unsigned self, member& m, bool yes) noexcept;

  const number_lines& lines_;
  scheduler* host_{nullptr};
  std::unique_ptr<station[]> all_;  // by rank
  std::atomic<unsigned> outside_tasks_{0};
};

}  // namespace heddle::policy
