// Multi-level scheduling without idle time; see ml_adaptive.md.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include <heddle/policy_victims.hpp>

#include "policy/adws/layout.hpp"
#include "policy/adws/layout_search.hpp"
#include "policy/shared_cache/sb.hpp"

namespace heddle::policy {

// Holds a layout and an sb. A task has the tag of one of them, and each call goes to the policy whose tag the task has
// [adaptive:12].
class ml_adaptive final : public policy {
 public:
  struct settings {
    unsigned patience = 16;
    unsigned near = 1;
    bool levels = true;
    bool bound = true;
  };
  // hears_bytes is that of layout_rules.
  explicit ml_adaptive(settings given, std::function<void(double bytes)> hears_bytes = {});
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  bool may_rob(unsigned self, unsigned victim) noexcept override { return self != victim; }
  entry pick(unsigned self, bool own_is_empty) noexcept override;
  placement started(unsigned self, const task_info& info) noexcept override;
  placement spawn(unsigned self, const task_info& info) noexcept override;
  void enqueue(unsigned self, task& t) noexcept override;
  placement ready(unsigned self, task& t) noexcept override;
  void task_end(unsigned self, task& t) noexcept override;
  void group_begin(unsigned self, group_info& info) noexcept override;
  void group_wait(unsigned, group_info& info) noexcept override { layout_.group_wait(info); }
  placement group_end(unsigned self, group_info& info) noexcept override { return layout_.group_end(self, info); }
  bool fork_begin(unsigned self, const fork_info& info) noexcept override;
  placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept override;
  void fork_wait(unsigned self, task& owner) noexcept override;
  placement fork_end(unsigned self, task& owner, std::uint64_t elapsed) noexcept override;

  // For a policy that holds an ml_adaptive.
  placement leave_out(task& t) noexcept { return layout_.leave_out(t); }
  bool is_root(const task& t) const noexcept { return layout_.is_root(t); }

 private:
  struct alignas(64) searcher {
    unsigned patience{0};  // searches that insist in vain before the worker takes anything [adaptive:1]
    unsigned in_vain{0};   // such searches in a row
    unsigned glances{0};   // searches of either effort in vain, in a row
    rings victims;
  };

  // The knowledge about the forks of one place in the program [adaptive:4]. The three words are read and written
  // separately, by any worker, and two places may share them, so a reader may see a mixture. A wrong guess costs a
  // layout that does not suit, never a task. Hence all accesses are relaxed.
  struct fork_shape {
    std::atomic<const void*> label{nullptr};
    std::atomic<bool> nests{false};      // whether forks of other places were made inside one of them
    std::atomic<bool> only_cuts{false};  // whether one of them has ended without any fork inside

    // relaxed: a guess, as below
    bool is_of(const void* place) const noexcept { return label.load(std::memory_order_relaxed) == place; }
    // relaxed: the values that others read of the three words are guesses, and may be of two places
    void begin(const void* place, bool nested) noexcept {
      nests.store(nested, std::memory_order_relaxed);
      only_cuts.store(false, std::memory_order_relaxed);
      label.store(place, std::memory_order_relaxed);
    }
  };

  template <class Attempt>
  entry go_round_ring(unsigned self, const searcher& mine, unsigned ring, Attempt&& attempt) noexcept;
  entry take_anything(unsigned self, effort how) noexcept;
  entry take_near(unsigned self, effort how) noexcept;
  entry take_sooner(unsigned self, effort how) noexcept;
  entry take_bound(unsigned self, effort how) noexcept;

  fork_shape& shape_of(const void* label) noexcept;
  void note_nesting(const tree_node& above, const void* label) noexcept;

  // relaxed: a worker that has got a task with that tag got it after the tag was stored
  bool is_bound(const task& t) const noexcept {
    return t.tag != nullptr && t.tag == bound_tag_.load(std::memory_order_relaxed);
  }
  bool bind(unsigned self, const fork_info& info) noexcept;

  const settings settings_;
  layout layout_;
  layout_search search_{layout_};
  std::unique_ptr<searcher[]> searchers_;  // by rank
  fork_shape shapes_[256];
  std::atomic<bool> uneven_{false};              // the present program is uneven [adaptive:5]
  sb bound_{0.5, 0.2, true};                     // sigma and mu of sb's own paper; sb-d
  std::atomic<const void*> bound_tag_{nullptr};  // the tag of sb's tasks
  std::atomic<unsigned> bound_owners_{0};        // the number of outermost space-bounded forks under way [adaptive:13]
};

}  // namespace heddle::policy
