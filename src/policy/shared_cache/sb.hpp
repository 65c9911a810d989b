// Space-bounded scheduling; see sb.cpp for its source.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include <heddle/policy.hpp>
#include "policy/task_list.hpp"

namespace heddle::policy {

class sb final : public policy {
 public:
  sb(double sigma, double mu, bool distributed) noexcept : sigma_(sigma), mu_(mu), distributed_(distributed) {
    wants_.work_conserving = false;
  }
  static std::unique_ptr<policy> make(parameters& given);
  static std::unique_ptr<policy> make_distributed(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  bool may_rob(unsigned, unsigned) noexcept override { return false; }
  entry pick(unsigned self, bool own_is_empty) noexcept override { return own_is_empty ? take(self, false) : 0; }
  placement started(unsigned self, const task_info& info) noexcept override;
  placement spawn(unsigned self, const task_info& info) noexcept override;
  void enqueue(unsigned self, task& t) noexcept override;
  placement ready(unsigned self, task& t) noexcept override;
  void task_end(unsigned self, task& t) noexcept override;
  bool fork_begin(unsigned self, const fork_info& info) noexcept override;
  placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept override;

  // The data that a task carries. A policy that holds an sb keeps this first in its own data of an sb's task.
  struct anchored {
    double size;           // bytes; 0 if not known
    std::uint32_t anchor;  // a cache
    // Its parent's anchor. The caches from below it down to `anchor` hold `size`.
    std::uint32_t parents;
  };
  // Makes the task an sb's from this call on, anchored in the memory.
  void take_in(task& t) noexcept;

 private:
  struct cache {
    unsigned parent{0};
    unsigned first_worker{0}, worker_count{0};
    double capacity{0};  // bytes
    // The bytes of tasks that are anchored here or below and whose parents are anchored above; at most `capacity`
    // [sb:1].
    std::atomic<double> occupied{0};
    std::vector<unsigned> children;
    shared_task_list woken;  // tasks anchored here that were woken; taken first
    // New tasks of parents anchored here; under sb-d one list for each child.
    std::unique_ptr<shared_task_list[]> fresh;
    unsigned lists{1};
  };

  placement child_of(task& parent, task& child, std::size_t given, double part, double whole) noexcept;
  entry take(unsigned self, bool over_capacity) noexcept;
  task* take_fresh(unsigned self, unsigned top, bool over_capacity) noexcept;
  enum class admission { granted, refused, given_up };
  admission admit(unsigned self, task& t, bool over_capacity) noexcept;
  bool has_room(const cache& c, double occupied, double bytes) const noexcept;
  bool fits(unsigned rank, unsigned top, double bytes) const noexcept;
  std::size_t befitting(unsigned rank, unsigned top, double bytes) const noexcept;
  void made_room(unsigned self, unsigned below) noexcept;
  bool try_occupy(cache& c, double bytes, bool over_capacity) noexcept;
  void wake_under(unsigned self, unsigned top, double bytes) noexcept;
  unsigned list_of(unsigned self, const cache& c) const noexcept;

  const double sigma_, mu_;
  const bool distributed_;
  std::unique_ptr<cache[]> caches_;  // by memory group; the root first
  unsigned count_{0};
  std::vector<std::vector<unsigned>> path_;  // by rank: leaf first, root last
  std::atomic<std::uint64_t> changes_{0};    // the number of times that a task was added or room was made
  std::vector<std::uint64_t> seen_;          // by rank: the value of changes_ when the worker's last search began
};

}  // namespace heddle::policy
