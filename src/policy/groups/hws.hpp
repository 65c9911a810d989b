// Hierarchical work stealing with leaders; see hws.cpp for its source.
#pragma once

#include <memory>
#include <vector>

#include <heddle/policy_victims.hpp>
#include "policy/task_list.hpp"
#include "policy/worker_groups.hpp"

namespace heddle::policy {

class hws final : public policy {
 public:
  // level 0: the level that gives each group four global tasks in a binary tree.
  hws(unsigned level, unsigned attempts, victim_memory::rule victim) noexcept
      : limit_(level), attempts_(attempts), memory_(victim) {
    wants_.work_conserving = false;
  }
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  bool may_rob(unsigned self, unsigned victim) noexcept override;
  entry pick(unsigned self, bool own_is_empty) noexcept override;
  placement started(unsigned self, const task_info& info) noexcept override;
  placement spawn(unsigned self, const task_info& info) noexcept override;
  void enqueue(unsigned self, task& t) noexcept override;
  placement ready(unsigned self, task& t) noexcept override;
  bool fork_begin(unsigned, const fork_info& info) noexcept override { return info.owner.tag != nullptr; }
  placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept override;

 private:
  struct alignas(64) group {
    worker_group workers{0, 0};
    shared_task_list global;  // newest first; leaders take from it
    shared_task_list local;   // newest first; the group's slaves take from it
  };

  bool leads(unsigned rank) const noexcept { return groups_[of_[rank]].workers.first == rank; }
  entry taken(task* t) noexcept { return t == nullptr ? 0 : host_->entry_of(*t); }
  placement child_of(task& parent, task& child) noexcept;
  entry take_global(unsigned self, group& mine) noexcept;
  entry take_local(unsigned self, group& mine, effort how) noexcept;
  entry make_local(group& mine) noexcept;

  unsigned limit_;           // tasks of this level and above are global; the root's level is 0
  const unsigned attempts_;  // searches of a slave in vain before it takes a global task
  victim_memory memory_;     // used by slaves within their group
  std::unique_ptr<group[]> groups_;
  unsigned count_{0};
  std::vector<unsigned> of_;  // by rank
  struct alignas(64) hunger {
    unsigned failures{0};
  };
  std::unique_ptr<hunger[]> hunger_;  // by rank
};

}  // namespace heddle::policy
