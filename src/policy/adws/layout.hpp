// The layout of tasks by almost deterministic work stealing: where the children of groups and the halves of forks go,
// and the data kept about that while they run. A component of the policies adws, ml-adws, ml-ws, ml-adaptive and auto,
// which differ in their rules (layout_rules.hpp). Each answers the calls of the seam by the function of the same name
// here. stations.hpp and layout_search.hpp say what a worker takes next. Introduction and invariants: adws.md.
//
// Source: Shiina, "Efficient thread scheduling strategies for nested parallel programs" (2021), Algorithms 4.1 - 4.3,
// 5.2, 5.3. Deviations: adws.cpp, ml_adws.cpp, ml_ws.cpp.
#pragma once

#include <atomic>
#include <memory>

#include <heddle/policy.hpp>
#include "policy/adws/distribution.hpp"
#include "policy/adws/layout_rules.hpp"
#include "policy/adws/number_lines.hpp"
#include "policy/adws/stations.hpp"

namespace heddle::policy {

class layout {
 public:
  explicit layout(layout_rules rules);
  void start(scheduler& host);

  placement started(const task_info& info) noexcept;
  placement spawn(unsigned self, const task_info& info) noexcept;
  void enqueue(task& t) noexcept;
  placement ready(task& t) noexcept;
  void task_end(task& t) noexcept;
  void group_begin(unsigned self, group_info& info) noexcept;
  void group_wait(group_info& info) noexcept;
  placement group_end(unsigned self, group_info& info) noexcept;
  bool fork_begin(unsigned self, const fork_info& info) noexcept;
  placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept;
  void fork_wait(task& owner) noexcept;
  placement fork_end(unsigned self, task& owner) noexcept;

  // Called instead of `started` if a thread is not a child: it gets no place in the layout. While it lives all workers
  // may rob each other.
  placement leave_out(task& t) noexcept;
  // Whether it is the root task that is laid out.
  bool is_root(const task& t) const noexcept { return t.tag == &everything_; }
  // set_aside is called instead of `fork` if fork_begin has wished for the fork. The fork's owner leaves the layout for
  // a while, and the policy may use the owner's tag and room. The node keeps the owner's place. take_back ends that; it
  // answers stay or send.
  tree_node& set_aside(unsigned self, task& owner) noexcept;
  placement take_back(unsigned self, task& owner, tree_node& n) noexcept;

  const layout_rules& rules() const noexcept { return rules_; }
  const number_lines& lines() const noexcept { return lines_; }
  stations& workers() noexcept { return workers_; }
  // The root task's group, where every worker finds it; null if the root task has none.
  const tree_node* root_group() const noexcept { return root_group_.load(); }
  // Under by_steals: whether a group has gone down to that line, so that its members may steal from each other.
  bool is_open(std::uint32_t line) const noexcept { return open_groups_[line].load() != 0; }

  // True if a search root that waits for a busy worker may go to another one: while threads are alive that have no
  // place in the tree, of which the thesis does not speak. A policy that is not `in_order` has its own rule for that.
  bool are_search_roots_everybodys() const noexcept {
    return rules_.in_order && rules_.steals && workers_.are_everybodys();
  }

 private:
  enum class slot : unsigned {  // of task::to
    passed,
    search_root,
    woken  // as search_root, but the thread waited for something other than children
  };
  static placement send_to(task& t, unsigned target, slot where) noexcept {
    t.to = {target, static_cast<unsigned>(where)};
    return placement::send;
  }

  bool is_laid_out(const task& t) const noexcept { return t.tag != nullptr && t.tag != &outside_; }
  void stop_watching(unsigned self) noexcept;
  void activate(tree_node& n) noexcept;
  void wake_range(const tree_node& n) noexcept;

  void descend(unsigned self, laid_out& at, double bytes) const noexcept;
  void settle(unsigned self, laid_out& at) const noexcept;
  void open(unsigned self, tree_node& node, task& owner, const laid_out& next) noexcept;
  placement close(unsigned self, task& owner, tree_node& n) noexcept;
  placement hand_out(unsigned self, task& owner, task& child, double share, double bytes) noexcept;
  double share_of(unsigned self, tree_node& n, laid_out& at, const task_info& info) noexcept;
  double checked(unsigned self, double hint, const char* text, bool zero_is_valid) noexcept;
  void expect_no_order() noexcept { disordered_.store(true, std::memory_order_relaxed); }  // a flag for the audit
  // relaxed: a flag for the audit, as where it is set
  bool is_exclusive() const noexcept {
    return !disordered_.load(std::memory_order_relaxed) && !workers_.are_everybodys();
  }

  const layout_rules rules_;
  scheduler* host_{nullptr};
  number_lines lines_;
  stations workers_;
  // under by_steals: the number of groups that have gone down to a line, by line
  std::unique_ptr<std::atomic<unsigned>[]> open_groups_;
  tree_node everything_;               // the node above all trees, which is the root task's tag
  tree_node outside_;                  // the tag of threads that are not laid out
  std::atomic<bool> has_root_{false};  // whether a root task is alive; one at a time is laid out
  std::atomic<tree_node*> root_group_{nullptr};
  // Set when groups of one task did not nest, or a search root waited for something other than children. From then on
  // Theorems 1 and 2 are not checked.
  std::atomic<bool> disordered_;
  std::atomic<unsigned> warned_{0};
  group_memory memory_;
};

}  // namespace heddle::policy
