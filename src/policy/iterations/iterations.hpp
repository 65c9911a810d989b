// The iterations of a program that repeats itself: which one runs, what is recorded of it, and what an earlier
// iteration's record says of a task. A task is known across iterations by its identity, a hash of its path
// (steal_tree.hpp). This is a component. The policy that holds it decides where tasks go, tells it of every task that
// it makes, begins and ends, and keeps identities and nodes in its tasks' rooms. constrained_ws holds one.
//
// Sources: Lifflander, Krishnamoorthy, Kale, "Steal tree" (PLDI 2013) and "Optimizing data locality for fork/join
// programs using constrained work stealing" (SC 2014); deviations: constrained_ws.cpp. Invariants: constrained_ws.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <heddle/policy.hpp>
#include "policy/iterations/steal_tree.hpp"

namespace heddle::policy {

class iterations {
 public:
  // The treatment of the present iteration's tasks. record: they are noted. relaxed: they are noted, and sent where the
  // record says. strict: they are sent there, and not noted.
  enum class mode : std::uint8_t { none, record, relaxed, strict };
  // The remarks for the trace, each with a number: of pieces, of pieces that moved, of tasks. The texts must live on.
  struct remarks {
    const char* recorded;   // the first iteration
    const char* relaxed;    // another iteration of the same site
    const char* strict;     // strict iterations begin
    const char* abandoned;  // a strict iteration did not fit the record
  };
  struct rules {
    remarks says;
    bool strict = true;    // false: iterations stay relaxed
    bool ordered = true;   // strict iterations keep the order of the record
    unsigned relaxed = 5;  // iterations between the recorded one and the strict ones
  };

  explicit iterations(const rules& given) noexcept : rules_(given) {}
  void start(scheduler& host);

  // --- beginning and end; one iteration at a time [relws:1] ---

  // False if another iteration runs, so that begin would be in vain. A hint.
  bool may_begin() const noexcept { return !busy_.load() || closing_.load(); }
  // Makes the calling worker's task the root of an iteration of the site `label`; `root` is its node. Returns false,
  // and gives the node back, if another iteration runs. `prepare(mode)` is called before any other worker sees the
  // mode.
  template <class Prepare>
  bool begin(unsigned self, const void* label, steal_node& root, Prepare&& prepare) noexcept {
    if (!occupy(self)) {
      give_node(self, root);
      return false;
    }
    const mode as = choose(label);
    for (unsigned rank = 0; rank < host_->workers(); ++rank) accounts_[rank].met = 0;
    prepare(as);
    open(self, root, as);
    return true;
  }
  // Called when the root has ended the iteration. Returns false if tasks of it are alive. The worker that begins the
  // next iteration then concludes it once they have ended.
  bool end(unsigned self) noexcept;

  // --- what runs ---

  mode now() const noexcept { return mode_.load(); }
  bool is_busy() const noexcept { return busy_.load(); }
  // The worker where the root of a recorded iteration was; nobody if there is none yet.
  unsigned root_home() const noexcept { return root_home_.load(); }
  // Strict: whether the order of pieces is given up. loosen returns whether it was given up before.
  bool is_loosened() const noexcept { return loosened_.load(); }
  bool loosen() noexcept { return loosened_.exchange(true); }
  // The number of pieces of the followed record that began on that worker.
  unsigned pieces_of(unsigned rank) const noexcept { return current_->tree.pieces_of(rank); }

  // --- tasks of the iteration ---

  // The record's line for a task; null if it does not know the task, or if there is no record.
  const steal_tree::line* recorded(std::uint64_t identity) const noexcept {
    return mode_.load() == mode::record ? nullptr : current_->tree.find(identity);
  }
  // Strict: called when a task of the record has come, or tasks that the record does not know.
  void met(unsigned self) noexcept { ++accounts_[self].met; }
  void misfit(std::size_t tasks) noexcept {
    misfits_.fetch_add(tasks, std::memory_order_relaxed);  // a statistic
    loosened_.store(true);
  }
  // Called for every task but the root, on the worker where the task is made or ends.
  void made(unsigned self) noexcept {
    account& mine = accounts_[self];
    // relaxed: its own variable, published by `ended`
    mine.made.store(mine.made.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void ended(unsigned self) noexcept {
    account& mine = accounts_[self];
    // release pairs with has_strays: publishes the tasks that this task made
    mine.ended.store(mine.ended.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // its own
  }

  // --- nodes, while a record is made ---

  // Returns null if there is no memory, or if there are too many nodes.
  steal_node* take_node(unsigned self) noexcept { return nodes_.take(accounts_[self].nodes); }
  void give_node(unsigned self, steal_node& n) noexcept { steal_nodes::give(accounts_[self].nodes, n); }
  // Makes the task's node a child of its maker's node.
  static void note_child(steal_node& parent, steal_node& child, std::uint64_t identity) noexcept;
  // Called when the task has ended, and its descendants have been joined. Gives back the nodes that the table will not
  // name.
  void note_end(unsigned self, steal_node& n) noexcept;

 private:
  // The record of one call site. Used by the worker that holds busy_.
  struct site {
    const void* label{nullptr};
    steal_tree tree;
    bool has_tree{false};
    unsigned relaxed_left{0};  // iterations under RelWS before the next strict one
    unsigned misfits{0};       // strict iterations in a row that did not fit the record
    bool said_strict{false};
  };

  struct alignas(64) account {
    // The number of tasks of the iteration that this worker made, and that ended here. Written by this worker alone,
    // read by the worker that ends the iteration.
    std::atomic<std::uint64_t> made{0};
    std::atomic<std::uint64_t> ended{0};
    std::size_t met{0};          // lines of the table that its tasks found; this worker's own, as `nodes`
    steal_node* nodes{nullptr};  // free nodes
  };

  bool occupy(unsigned self) noexcept;
  mode choose(const void* label) noexcept;
  void open(unsigned self, steal_node& root, mode as) noexcept;
  bool has_strays() const noexcept;
  site& site_of(const void* label) noexcept;
  void conclude(unsigned self) noexcept;
  void conclude_record(unsigned self) noexcept;
  void conclude_strict(unsigned self) noexcept;

  const rules rules_;
  scheduler* host_{nullptr};
  std::unique_ptr<account[]> accounts_;  // by rank
  steal_nodes nodes_;
  steal_tree next_tree_;                     // the tree of the iteration that ends; its memory is reused
  std::atomic<unsigned> root_home_{nobody};  // the worker where the root of a recorded iteration was

  // The present iteration. busy_ is set while a worker has the iteration; that worker alone writes the following
  // fields. The iteration's tasks read them, ordered by the lists through which the tasks came. Anybody reads mode_ and
  // loosened_ as hints.
  std::atomic<bool> busy_{false};
  std::atomic<bool> closing_{false};  // its root has ended it, though tasks of it are alive
  std::atomic<mode> mode_{mode::none};
  std::atomic<bool> loosened_{false};    // strict: the order of pieces is given up
  std::atomic<std::size_t> misfits_{0};  // strict: the number of tasks that the record does not know
  site* current_{nullptr};
  steal_node* root_{nullptr};

  static constexpr unsigned most_sites = 64;
  std::unique_ptr<site[]> sites_;
  unsigned next_site_{0};  // the next site to be used, or reused
};

}  // namespace heddle::policy
