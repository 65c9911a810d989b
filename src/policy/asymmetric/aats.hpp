// Asymmetric-aware task scheduling; see aats.cpp for its source.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <heddle/policy.hpp>
#include "policy/asymmetric/core_groups.hpp"
#include "policy/asymmetric/range_allocation.hpp"
#include "policy/asymmetric/snatching.hpp"
#include "policy/asymmetric/task_classes.hpp"

namespace heddle::policy {

class aats final : public policy {
 public:
  enum class across : std::uint8_t { prefer, none, snatch };  // what a worker does when its own group has nothing left
  enum class pools : std::uint8_t { sorted, random };         // which pool of a cluster comes first
  struct options {
    across groups;
    pools order;
    class_weights weights;
    unsigned classes;            // at most
    unsigned hold;               // beats for which workers wait at most until a batch is made
    double step;                 // of speeds that count as unlike
    std::vector<double> speeds;  // by rank, repeated; empty: those that the host tells
  };

  explicit aats(options o);
  static std::unique_ptr<policy> make(parameters& given);
  static std::unique_ptr<policy> make_np(parameters& given);
  static std::unique_ptr<policy> make_ts(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  entry pick(unsigned self, bool own_is_empty) noexcept override;
  placement started(unsigned self, const task_info& info) noexcept override;
  placement spawn(unsigned self, const task_info& info) noexcept override;
  void enqueue(unsigned self, task& t) noexcept override;
  placement preempted(unsigned self, task& t) noexcept override;
  void used(unsigned self, task& t, const task_usage& what) noexcept override;
  void task_end(unsigned self, task& t) noexcept override;
  placement next_iteration(unsigned self, task& owner, const void* label) noexcept override;
  void group_wait(unsigned self, group_info& info) noexcept override;
  void workers_changed() noexcept override;
  void beat() noexcept override;

 private:
  struct member {     // what a task keeps
    unsigned ran_in;  // the group of workers where it has run so far, or that it ran in none or several
  };
  struct alignas(64) worker {
    std::atomic<unsigned> group{0};
    std::atomic<task_class*> running{nullptr};
  };

  static std::unique_ptr<policy> make_as(parameters& given, across groups);
  entry take(unsigned self, effort how) noexcept;
  task* take_of_class(unsigned self, unsigned cluster) noexcept;
  task* take_by_length(unsigned cluster, bool longest) noexcept;
  task* take_root(unsigned self, effort how) noexcept;
  template <class Accept>
  task* take_at_random(unsigned self, Accept&& accept) noexcept;
  template <class F>
  bool any_preferred(unsigned self, F&& f) const noexcept;
  void announce(unsigned cluster) noexcept;
  unsigned cluster_of(const task_class& c) const noexcept;
  void snatch(unsigned self) noexcept;
  double speed_of(unsigned worker) const noexcept;
  void regroup() noexcept;
  bool allocate(bool of_batch) noexcept;
  void release(unsigned self) noexcept;
  double rate_of(unsigned self, double time, const task_usage& what) const noexcept;

  const options options_;
  task_classes classes_;
  std::unique_ptr<worker[]> workers_;  // by rank
  task_class root_;                    // its pool has the tasks that are nobody's children; nothing is learned of it
  snatching snatching_;
  std::atomic<unsigned> groups_count_{1};
  std::atomic<bool> warm_up_{true};
  std::atomic<bool> holds_{false};              // workers hold off until the batch is made
  std::atomic<const task*> batch_of_{nullptr};  // the thread whose next wait ends that; compared only
  std::atomic<bool> in_batches_{false};         // the program marks its batches
  std::atomic<bool> to_tell_{false};            // classes have gone to other groups, and the trace does not say so yet

  detail::spin_word lock_;  // protects the rest
  core_groups groups_;
  range_allocation ranges_;
  std::vector<double> speeds_;  // by rank
  std::vector<unsigned> from_;  // by group; see class_history::regroup
  struct row {
    task_class* what;
    double count;
    double time[core_groups::most];
  };
  std::vector<row> rows_;
  unsigned held_{0};  // beats
};

}  // namespace heddle::policy
