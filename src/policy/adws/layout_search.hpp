// The search of a worker for others' tasks under the layout of ADWS: whose tasks it may take, and the ways to take
// them. Introduction: adws.md. Source: the ADWS thesis, STEALTASK of Algorithm 4.3; deviations: adws.cpp.
#pragma once

#include <heddle/policy.hpp>
#include "policy/adws/layout.hpp"

namespace heddle::policy {

class layout_search {
 public:
  explicit layout_search(layout& of) noexcept
      : layout_(of), lines_(of.lines()), workers_(of.workers()), rules_(of.rules()), memory_(of.rules().victim) {}
  void start(scheduler& host) {
    host_ = &host;
    memory_.start(host.workers());
  }

  // --- by the rules of ADWS: the calls of the seam ---
  entry acquire(unsigned self, effort how) noexcept;
  bool may_find(unsigned self) noexcept;
  bool may_rob(unsigned self, unsigned victim) noexcept;

  // --- past them: for policies that steal more ---
  // Whether a task is queued for any member of any level, whoever may take it. Search roots of others do not count.
  bool has_anything(unsigned self) const noexcept;
  bool has_search_root() const noexcept;
  // Takes the oldest task that the victim has at any of its members, or in its fork queue.
  entry steal_from_anywhere(unsigned self, unsigned victim, effort how) noexcept;
  // Takes what the victim has below its leaf, and nothing of the levels above.
  entry steal_leaf(unsigned self, unsigned victim, effort how) noexcept;
  // Takes a search root that waits for a busy worker, so that `self` runs it instead. A search root on its way back to
  // the worker whose base it keeps (laid_out::base) is not taken.
  entry steal_search_root(unsigned self, unsigned victim) noexcept;

 private:
  struct victims {  // The members that a member may rob at the moment: those at places first .. last of the domain.
    bool any;
    std::uint32_t domain;
    unsigned first, last;
    bool covers_last;
    const tree_node* group{nullptr};  // the group whose range it is; null for a whole domain (by_steals)
    std::uint32_t use{0};             // the node's use when it was chosen

    // False if the group has ended, even if another group has begun with the same node since [adws:7].
    bool hold() const noexcept { return group == nullptr || (group->active.load() && group->uses.load() == use); }
  };

  victims choose_victims(unsigned self, unsigned which) const noexcept;
  member& member_at(const victims& from, unsigned place) const noexcept {
    return lines_.of(lines_.line(from.domain).members[place]);
  }
  unsigned first_of(unsigned self, const victims& from) noexcept;
  entry steal_from(unsigned self, const victims& from, unsigned place, effort how) noexcept;
  entry steal_queue_of(unsigned self, const member& of, bool migrated, const victims& from, effort how) noexcept;
  entry steal_queued(unsigned self, member& of) noexcept;
  entry pass_on(unsigned self, entry found) noexcept;
  bool has_work_for(const victims& from, unsigned place) const noexcept;

  layout& layout_;
  const number_lines& lines_;
  stations& workers_;
  const layout_rules& rules_;
  victim_memory memory_;  // of members
  scheduler* host_{nullptr};
};

}  // namespace heddle::policy
