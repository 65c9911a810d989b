// The layout, first part: tasks. Groups and forks are in layout_groups.cpp.
#include "policy/adws/layout.hpp"

#include <algorithm>
#include <utility>

#include "base/contracts.hpp"

namespace heddle::policy {

layout::layout(layout_rules rules)
    : rules_(std::move(rules)),
      lines_(rules_.lines, rules_.by_speed),
      workers_(lines_),
      disordered_(!rules_.in_order) {}

void layout::start(scheduler& host) {
  host_ = &host;
  lines_.start(host);
  workers_.start(host);
  open_groups_.reset(new std::atomic<unsigned>[lines_.count()] {});
  if (!lines_.have_levels()) open_groups_[0] = 1;
}

// Nothing below a task that is not laid out is laid out either, so such a task need not be watched. The exception is a
// worker that acts for a member above the leaves: it may go on with a task that is laid out, without being asked.
void layout::stop_watching(unsigned self) noexcept {
  // a hint; adopt switches watching on again
  if (lines_.of(workers_.acts_for(self)).leaf || host_->workers() == 1 || !has_root_.load(std::memory_order_relaxed))
    host_->watch(self, false);
}

placement layout::leave_out(task& t) noexcept {
  t.tag = &outside_;
  // Workers may rob each other from here on, those that sleep already included.
  if (workers_.outsider_begins() && rules_.in_order) host_->widened();
  return placement::stay;
}

placement layout::started(const task_info& info) noexcept {
  task& t = info.made;
  if (host_->workers() == 1) return placement::stay;
  if (has_root_.exchange(true)) return leave_out(t);
  t.tag = &everything_;
  laid_out& at = t.keep(lines_.whole());
  if (rules_.by_steals()) at.range = {0, 0};
  return send_to(t, lines_.owner_of(at), slot::search_root);
}

void layout::enqueue(task& t) noexcept {
  const task::destination to = t.to;  // read before the task is put into a list, which uses its place
  member& m = lines_.of(to.target);
  if (const auto where = static_cast<slot>(to.slot); where != slot::passed) {
    if (where == slot::woken) expect_no_order();
    HEDDLE_AUDIT_CHECK(!is_exclusive() || m.search_roots.looks_empty(),
                       "a second search root waits for worker %u (Theorem 2)", m.head);
    m.search_roots.push_back(t);
  } else {
    HEDDLE_AUDIT_CHECK(!m.is_passed_to.exchange(true) || !is_exclusive(),
                       "two workers pass tasks to worker %u (Theorem 1)", m.head);
    m.passed.push_back(t);
#if defined(HEDDLE_AUDIT)
    m.is_passed_to.store(false);
#endif
  }
  if (host_->wake(m.head)) return;
  if (rules_.announced == layout_rules::announcement::to_head_or_anybody || are_search_roots_everybodys())
    host_->wake_any(m.head);
}

placement layout::ready(task& t) noexcept {
  if (!is_laid_out(t)) return placement::stay;
  const tree_node& n = node_of(t);
  if (n.owner == &t && n.waits) return send_to(t, n.before.back, slot::search_root);
  const laid_out& at = layout_of(t);
  // A thread within one worker goes on where it is woken. If it was stolen and owns a group, the end of the group
  // brings it back; without stealing it never left.
  if (!lines_.distribute(at) && (n.owner != &t || rules_.steals)) return placement::stay;
  return send_to(t, lines_.owner_of(at), slot::woken);
}

// ONTASKCOMPLETION.
void layout::task_end(task& t) noexcept {
  if (t.tag == &outside_) {
    workers_.outsider_ends();
  } else if (is_root(t)) {
    has_root_.store(false);
  } else if (layout_of(t).range.is_search_root()) {
    activate(node_of(t));
  }
}

void layout::activate(tree_node& n) noexcept {
  if (!n.active.exchange(true) && rules_.steals && !rules_.by_steals()) wake_range(n);
}

void layout::wake_range(const tree_node& n) noexcept {
  // relaxed: the node is that of the caller's group, or of a group whose child the caller is
  const domain& d = lines_.line(n.domain.load(std::memory_order_relaxed));
  // relaxed as above
  const distribution_range r{n.from.load(std::memory_order_relaxed), n.to.load(std::memory_order_relaxed)};
  const unsigned last = std::min(r.last(), static_cast<unsigned>(d.members.size() - 1));
  for (unsigned place = r.owner(); place <= last; ++place) host_->wake(lines_.of(d.members[place]).head);
}

}  // namespace heddle::policy
