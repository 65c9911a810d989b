// The members for which each worker acts, and the worker's own next tasks. Part of the layout of ADWS: adws.md. Source:
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
  // The level of the innermost group that the worker has opened. The worker acts for no member above that level
  // [adws:6].
  std::atomic<unsigned> base{0};
  // Held while the worker's fork queue changes its role, and by a thief that takes from it [adws:5].
  detail::spin_word turning;
  std::span<const unsigned> heads;  // the members whose head it is
  tree_nodes nodes;
  // The number of searches in a row in which nothing ran and no worker had a task that it may run.
  unsigned all_idle_seen{0};
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
    // relaxed: a hint, or the worker's own variable
    return lines_.of(which).level >= all_[self].base.load(std::memory_order_relaxed) || are_everybodys();
  }

  // Whether threads without a place in the layout are alive. Levels do not count then, and all workers may rob each
  // other.
  bool are_everybodys() const noexcept { return outside_tasks_.load() != 0; }
  // Returns true if it is the only one.
  [[nodiscard]] bool outsider_begins() noexcept { return outside_tasks_.fetch_add(1) == 0; }
  void outsider_ends() noexcept { outside_tasks_.fetch_sub(1); }

  // The following functions are called on the worker itself.

  // From this call on the worker's fork queue belongs to that member [adws:5].
  void act_for(unsigned self, unsigned which) noexcept;
  // Called when the worker goes on with a search root, or with a task above the leaf level.
  void adopt(unsigned self, task& t) noexcept;
  // Called when the worker begins a task that was passed to another member or to one of its own.
  entry begin_passed(unsigned self, task& t) noexcept;

  // Takes a search root that waits for the worker. If the worker's own queue is empty, takes any task of its members.
  entry pick(unsigned self, bool own_is_empty) noexcept;
  // Takes a task of the member for which the worker acts, else of the others whose head it is and for which it may act.
  entry next_own(unsigned self) noexcept;
  // Takes a task that waits at one of the worker's members, whatever the level.
  entry rescue(unsigned self) noexcept;

  // Whether no worker runs anything, and none has a task that it may run.
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
