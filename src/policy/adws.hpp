// Almost deterministic work stealing; see adws.cpp for its source.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include <heddle/policy.hpp>
#include "policy/distribution.hpp"
#include "policy/members.hpp"

namespace heddle::policy {

// Single level: the members are the workers, all in one domain. ml_adws adds domains and moves between them.
class adws : public policy {
 public:
  enum class layout : std::uint8_t { by_work, by_steals };
  // by_work: ADWS. by_steals (ml-ws): nothing is laid out; what is new stays with the member that made it, and all
  // members of a domain steal from each other. `patience`: see the head of adws.cpp.
  explicit adws(bool steals, layout how = layout::by_work, unsigned patience = 0) noexcept
      : how_(how), steals_(steals), patience_(patience) {
    wants_.greedy = false;
  }
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  bool may_rob(unsigned self, unsigned victim) noexcept override;
  entry pick(unsigned self, bool own_is_empty) noexcept override;
  placement started(unsigned self, const task_info& info) noexcept override;
  placement spawn(unsigned self, const task_info& info) noexcept override;
  void place(unsigned self, task& t) noexcept override;
  placement ready(unsigned self, task& t) noexcept override;
  void task_end(unsigned self, task& t) noexcept override;
  void group_begin(unsigned self, group_info& info) noexcept override;
  void group_wait(unsigned self, group_info& info) noexcept override;
  placement group_end(unsigned self, group_info& info) noexcept override;
  bool fork_begin(unsigned self, const fork_info& info) noexcept override;
  placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept override;
  void fork_wait(unsigned self, task& owner) noexcept override;
  placement fork_end(unsigned self, task& owner) noexcept override;

 protected:
  // Something is queued for any member of any level, whoever may take it.
  bool has_anything(unsigned self) noexcept;
  // A search root that waits for a busy worker may be run by `self` instead, unless it is on its way back to the
  // worker whose base it keeps (laid_out::base).
  entry steal_search_root(unsigned self, unsigned victim) noexcept;
  // Theorems 1 and 2 are not to be checked: greedy stealing breaks them [adws:3].
  void expect_no_order() noexcept { disordered_.store(true, std::memory_order_relaxed); }  // a flag for the audit
  // Takes what waits at one of the worker's own members, whatever its level.
  entry rescue(unsigned self) noexcept;
  entry steal_from_anywhere(unsigned self, unsigned victim, effort how) noexcept;

  static constexpr unsigned search_root_slot = 1;  // of task::to
  // A task that was taken from `passed` begins on this worker.
  entry start_passed(unsigned self, task& t) noexcept;
  // A search root, or a task above the leaf level, goes on on this worker.
  void adopt(unsigned self, task& t) noexcept;
  unsigned owner_of(const laid_out& at) const noexcept;

  // A thread that is nobody's child gets no place in the tree. While it lives all workers may rob each other.
  placement leave_out(task& t) noexcept;
  // The root task that was laid out has ended.
  virtual void root_ended(unsigned) noexcept {}

  // Called by start(): fills members_, domains_ and stations_.
  virtual void survey();
  // A task was queued for a member whose head is that worker.
  virtual void announce(unsigned head) noexcept;
  virtual laid_out root_layout() const noexcept;
  // A group or fork of `bytes` (0: not known), of a task with layout `at`, begins: changes domain and range to where
  // its children are to be laid out.
  virtual void descend(unsigned, laid_out&, double) const noexcept {}
  // The bytes of a fork that does not give them, by a task that touches `all` (0: not known).
  virtual double bytes_of_fork(double all) const noexcept { return all; }
  unsigned acts_for(unsigned self) const noexcept {
    return stations_[self].acts_for.load(std::memory_order_relaxed);  // a hint, or the worker's own variable
  }

  struct alignas(64) station {
    std::atomic<unsigned> acts_for{0};  // a member; written by the worker, read by thieves as a hint
    // level of the innermost group that it has opened; it acts for no member above that level [adws:6]
    std::atomic<unsigned> base{0};
    // held while its fork queue changes its role, and by a thief that takes from it [adws:5]
    detail::spin_word turning;
    std::vector<unsigned> heads;  // members it is the head of
    tree_nodes nodes;
    unsigned all_idle_seen{0};     // searches in a row in which is_stuck() was true
    unsigned vain_glances{0};      // in a row
    tree_node* reserved{nullptr};  // for the next fork
  };

  const layout how_;
  std::unique_ptr<member[]> members_;
  unsigned member_count_{0};
  std::vector<domain> domains_;
  std::unique_ptr<std::atomic<unsigned>[]> open_groups_;  // by_steals: groups gone down to it, by domain
  std::unique_ptr<station[]> stations_;                   // by rank

 private:
  struct victims {  // whom a member may rob now: the members at places first .. last of the domain
    bool any;
    std::uint32_t domain;
    unsigned first, last;
    bool covers_last;
    const tree_node* group{nullptr};  // whose range it is; null: a whole domain (by_steals)
    std::uint32_t use{0};             // of the node, when it was chosen

    // Not if the group has ended, or has ended and another has begun with the same node [adws:7].
    bool hold() const noexcept { return group == nullptr || (group->active.load() && group->uses.load() == use); }
  };

  bool is_laid_out(const task& t) const noexcept { return t.word != nullptr && t.word != &outside_; }
  // The worker is the head of the member that it lies in, on the number line of `at`, or that line is one of leaves:
  // it may lay children out there [adws:8].
  bool leads(unsigned self, const laid_out& at) const noexcept {
    const domain& d = domains_[at.domain];
    return d.leaf || members_[d.members[d.place_of_worker[self]]].head == self;
  }
  bool distributes(const laid_out& at) const noexcept { return at.range.spans_members() || !domains_[at.domain].leaf; }
  member& now(unsigned self) noexcept { return members_[acts_for(self)]; }
  void act_for(unsigned self, unsigned which) noexcept;
  void stop_watching(unsigned self) noexcept;
  entry next_own(unsigned self) noexcept;
  bool is_everybodys() const noexcept { return outside_tasks_.load() != 0; }
  victims choose_victims(unsigned self, unsigned which) const noexcept;
  bool may_act_for(unsigned self, unsigned which) const noexcept {
    // a hint, or the worker's own
    return members_[which].level >= stations_[self].base.load(std::memory_order_relaxed) || is_everybodys();
  }
  entry next_of(unsigned self, unsigned which) noexcept;
  entry steal_from(unsigned self, const victims& from, unsigned place, effort how) noexcept;
  entry steal_queue_of(unsigned self, const member& of, bool migrated, const victims& from, effort how) noexcept;
  void use_migrated(unsigned self, member& m, bool yes) noexcept;
  bool is_stuck() const noexcept;
  bool has_work_for(const victims& from, unsigned place) const noexcept;

  void settle(unsigned self, laid_out& at) const noexcept;
  void open(unsigned self, tree_node& node, task& owner, const laid_out& next) noexcept;
  void activate(tree_node& n) noexcept;
  void wake_range(const tree_node& n) noexcept;
  placement close(unsigned self, task& owner, tree_node& n) noexcept;
  placement hand_out(unsigned self, task& owner, task& child, double share, double bytes) noexcept;
  double share_of(unsigned self, tree_node& n, laid_out& at, const task_info& info) noexcept;
  double checked(unsigned self, double hint, const char* text, bool zero_is_valid) noexcept;
  // relaxed: a flag for the audit, as where it is set
  bool is_exclusive() const noexcept {
    return !disordered_.load(std::memory_order_relaxed) && outside_tasks_.load() == 0;
  }

  const bool steals_;
  const unsigned patience_;
  bool multi_level_{false};
  tree_node everything_;               // above all trees: the root task's word
  tree_node outside_;                  // the word of threads that are not laid out
  std::atomic<bool> has_root_{false};  // a root task is alive; one at a time is laid out
  std::atomic<unsigned> outside_tasks_{0};
  std::atomic<tree_node*> root_group_{nullptr};
  // groups of one task did not nest, or a search root waited for something else than children: Theorems 1 and 2 are
  // not checked any more
  std::atomic<bool> disordered_{false};
  std::atomic<unsigned> warned_{0};
  group_memory memory_;
};

}  // namespace heddle::policy
