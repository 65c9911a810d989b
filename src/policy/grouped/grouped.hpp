// Repeated children run where and in the order that a file says; see grouped.cpp for its source.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <heddle/policy_victims.hpp>
#include "policy/grouped/access_recorder.hpp"
#include "policy/grouped/grouping.hpp"
#include "policy/task_list.hpp"

namespace heddle::policy {

class grouped final : public policy {
 public:
  // `plan` is that of the file called `file`; without a plan children are dealt out by their numbers. `profile` is the
  // file that a recorder writes; "" means no recorder.
  grouped(std::optional<grouping> plan, std::string file, bool steal, unsigned patience, std::string profile);
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  unsigned most_workers() const noexcept override { return recorder_ != nullptr ? 1 : nobody; }
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  entry pick(unsigned self, bool own_is_empty) noexcept override { return own_is_empty ? own(self) : 0; }
  placement spawn(unsigned self, const task_info& info) noexcept override;
  void enqueue(unsigned self, task& t) noexcept override;
  placement ready(unsigned self, task& t) noexcept override;
  void task_end(unsigned self, task& t) noexcept override;

 private:
  static constexpr unsigned most_sites = 64;
  struct place {
    unsigned worker, position;
  };
  // The tasks of a site that a worker is to run, in their order. A task that has come stands in its slot.
  struct line {
    std::vector<task*> slots;
    std::vector<std::uint64_t> filled;   // one bit for each slot
    std::vector<unsigned> group_begins;  // for each slot: where its group begins
  };
  // The tasks that a worker is to run. All fields but `count` are under the lock.
  struct alignas(64) task_queue {
    detail::spin_word lock;
    std::atomic<unsigned> count{0};  // written under the lock; a hint elsewhere
    std::vector<line> lines;         // by site
    task_list others;                // tasks without a slot, and tasks taken from other queues; oldest first
    unsigned in_vain{0};             // the worker's own: searches that insisted in vain
  };

  unsigned site_of(const void* label) noexcept;
  entry own(unsigned self) noexcept;
  entry take_from_near(unsigned self) noexcept;
  static task* first_of(task_queue& l) noexcept;
  static unsigned last_of(task_queue& l, task_list& out) noexcept;

  const std::optional<grouping> plan_;
  const std::string file_;
  const bool steal_;
  const unsigned patience_;
  std::unique_ptr<access_recorder> recorder_;
  std::vector<std::vector<place>> places_;  // by site and task
  std::unique_ptr<task_queue[]> queues_;    // by rank
  std::vector<rings> near_;                 // by rank
  detail::spin_word lock_;                  // protects the labels
  const void* labels_[most_sites]{};
  std::atomic<unsigned> sites_{0};  // the number of labels; written under lock_
  std::atomic<bool> has_met_unknown_{false};
};

}  // namespace heddle::policy
