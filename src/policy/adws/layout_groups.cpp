// The layout, second part: groups and forks. Source: the ADWS thesis, Algorithm 4.2; deviations: adws.cpp.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/contracts.hpp"
#include "policy/adws/layout.hpp"

namespace heddle::policy {

double layout::checked(unsigned self, double hint, const char* text, bool zero_is_valid) noexcept {
  if (std::isnan(hint)) return hint;
  if (hint > 0 && std::isfinite(hint)) return hint;
  if (hint == 0 && zero_is_valid) return hint;
  const unsigned bit = zero_is_valid ? 1 : 2;
  if ((warned_.fetch_or(bit) & bit) == 0) host_->warn_of_hint(self, text, hint);
  return not_given;
}

void layout::descend(unsigned self, laid_out& at, double bytes) const noexcept {
  if (rules_.hears_bytes) rules_.hears_bytes(bytes);
  lines_.descend(self, at, bytes);
}

// Above the leaves, a task within one member belongs to the head that runs it [adws:1]. A thief that took it from the
// victim's fork queue finds the victim's place in it. If a group began with that place, its owner would be sent back to
// the victim. That would be a second search root there, against Theorem 2 [adws:3].
void layout::settle(unsigned self, laid_out& at) const noexcept {
  if (lines_.line(at.domain).leaf || at.range.is_search_root()) return;
  at.range = lines_.place_of(self, at.domain);
}

// TASKGROUP::INIT, lines 3 and 6 - 7.
void layout::open(unsigned self, tree_node& node, task& owner, const laid_out& next) noexcept {
  tree_node* n = &node;
  station& here = workers_[self];
  laid_out& at = layout_of(owner);
  tree_node* parent = &node_of(owner);
  n->before = {at, parent, lines_.owner_of(next)};  // line 27
  n->owner = &owner;
  n->label = nullptr;
  n->expected = 0;
  n->hinted = 0;
  n->unlike = false;
  n->waits = false;
  n->opener = self;
  n->base = here.base.load(std::memory_order_relaxed);  // relaxed: the worker's own variable
  if (next.domain != at.domain) {
    at = next;
    const domain& d = lines_.line(at.domain);
    const unsigned which = d.member_of(self);
    // The worker whose base changes here must get it back, so the owner returns to that worker.
    if (lines_.of(n->before.back).head != self) n->before.back = which;
    here.base.store(d.level, std::memory_order_relaxed);  // relaxed: the worker's own variable
    workers_.act_for(self, lines_.of(which).head == self ? which : here.heads.back());
  } else {
    // relaxed: written by this owner's own group
    const distribution_range above{parent->from.load(std::memory_order_relaxed),
                                   parent->to.load(std::memory_order_relaxed)};
    HEDDLE_AUDIT_CHECK(parent == &everything_ || parent->domain.load() != at.domain || disordered_.load() ||
                           at.range.from == at.range.to || (above.from <= at.range.from && at.range.to <= above.to),
                       "range [%g, %g) is not inside its parent's", at.range.from, at.range.to);
    static_cast<void>(above);
  }
  n->uses.store(n->uses.load(std::memory_order_relaxed) + 1);  // relaxed: written by the owner alone
  n->from.store(at.range.from, std::memory_order_relaxed);     // relaxed: hints, published with the node
  n->to.store(at.range.to, std::memory_order_relaxed);
  n->domain.store(at.domain, std::memory_order_relaxed);
  n->parent.store(parent, std::memory_order_relaxed);
  owner.tag = n;
  // pairs with layout_search::choose_victims: publishes the node
  lines_.of(workers_.acts_for(self)).tree.store(n, std::memory_order_release);
  if (rules_.by_steals()) {
    at.range = lines_.place_of(self, at.domain);
    if (at.domain != n->before.at.domain) {
      open_groups_[at.domain].fetch_add(1);
      wake_range(*n);
    }
    return;
  }
  if (parent == &everything_) root_group_.store(n);
}

// TASKGROUP::WAIT, lines 26 - 31.
placement layout::close(unsigned self, task& owner, tree_node& n) noexcept {
  n.active.store(false);
  const std::uint32_t line = n.domain.load(std::memory_order_relaxed);  // relaxed: its own node
  if (rules_.by_steals() && line != n.before.at.domain) open_groups_[line].fetch_sub(1);
  tree_node* expected = &n;
  root_group_.compare_exchange_strong(expected, nullptr);
  if (owner.tag != &n) expect_no_order();
  n.before.at.base = lines_.of(n.before.back).head == n.opener ? n.base : unchanged;
  return take_back(self, owner, n);
}

tree_node& layout::set_aside(unsigned self, task& owner) noexcept {
  tree_node& n = *std::exchange(workers_[self].reserved, nullptr);
  n.before = {layout_of(owner), &node_of(owner), lines_.owner_of(layout_of(owner))};
  n.before.at.base = unchanged;  // nothing is opened, so the worker's own base stays as it is
  n.owner = &owner;
  n.label = nullptr;
  n.waits = false;
  // relaxed: a thief that is late goes on there, as from any node
  n.parent.store(n.before.tag, std::memory_order_relaxed);
  return n;
}

placement layout::take_back(unsigned self, task& owner, tree_node& n) noexcept {
  const unsigned back = n.before.back;
  layout_of(owner) = n.before.at;
  owner.tag = n.before.tag;
  n.owner = nullptr;
  workers_[n.home].nodes.give(n);
  if (lines_.of(back).head != self) return send_to(owner, back, slot::search_root);
  workers_.adopt(self, owner);
  return placement::stay;
}

// --- groups: Algorithm 4.2 ---------------------------------------------------------------------------------------

void layout::group_begin(unsigned self, group_info& info) noexcept {
  if (!is_laid_out(info.owner)) {
    stop_watching(self);
    return;
  }
  laid_out& at = layout_of(info.owner);
  if (!lines_.lead(self, at)) return;  // a thief of another level: its children are plain tasks
  settle(self, at);
  const double bytes = info.bytes != 0 ? static_cast<double>(info.bytes) : at.bytes;
  laid_out next = at;
  descend(self, next, bytes);
  const bool leaf = lines_.line(at.domain).leaf;
  if (next.domain == at.domain && !(leaf ? at.range.spans_members() : at.range.is_search_root())) {
    if (leaf) host_->watch(self, false);
    return;
  }
  tree_node* n = workers_[self].nodes.take();
  if (n == nullptr) return;  // groups nest too deep
  open(self, *n, info.owner, next);
  layout_of(info.owner).left = checked(self, info.work, "a group's work is not a positive number", false);
  layout_of(info.owner).bytes = bytes;
  info.data = n;
}

// The child's part of the work that is left, in [0, 1].
double layout::share_of(unsigned self, tree_node& n, laid_out& at, const task_info& info) noexcept {
  if (info.index == 0 || n.label == nullptr) {
    n.label = info.label;
    const group_memory::guess last = memory_.recall(info.label);
    n.expected = std::max(info.siblings != 0 ? info.siblings : last.children, 1u);
    if (std::isnan(at.left) && !std::isnan(info.work) && last.work > 0) at.left = last.work;
  }
  const double work = checked(self, info.work, "a child's work is negative or infinite", true);
  const double equal = info.index + 1 >= n.expected ? 1 : 1.0 / (n.expected - info.index);
  if (!std::isnan(work)) n.hinted += work;
  if (std::isnan(at.left)) return equal;
  const double given = std::isnan(work) ? at.left * equal : work;
  const double share = at.left > 0 ? std::min(given / at.left, 1.0) : 1;
  at.left -= given;
  return share;
}

// TASKGROUP::CREATE, lines 11 - 19.
placement layout::hand_out(unsigned self, task& owner, task& child, double share, double bytes) noexcept {
  laid_out& at = layout_of(owner);
  const bool leaf = lines_.line(at.domain).leaf;
  if (rules_.by_steals() && leaf) return placement::child_first;  // as under random_ws from here on
  if (!at.range.is_search_root() && !lines_.lead(self, at)) return placement::child_first;
  child.tag = owner.tag;
  // Above the leaves and within one member, the head that runs the task, perhaps a thief, runs one child after the
  // other.
  if (!at.range.is_search_root()) {
    settle(self, at);
    child.keep<laid_out>({at.range, not_given, bytes * share, at.domain, unchanged});
    return placement::child_first;
  }
  const speed_line& speeds = lines_.line(at.domain).speeds;
  const distribution_range upper =
      speeds.is_even() ? at.range.split_upper(share) : at.range.split_at(speeds.cut(at.range.from, at.range.to, share));
  const laid_out& to = child.keep<laid_out>({upper, not_given, bytes * share, at.domain, unchanged});
  const unsigned target = lines_.owner_of(to);
  const bool search_root = to.range.is_search_root();
  if (workers_.acts_for(self) == target) {
    if (!search_root && leaf) child.tag = nullptr;
    return placement::child_first;
  }
  return send_to(child, target, search_root ? slot::search_root : slot::passed);
}

placement layout::spawn(unsigned self, const task_info& info) noexcept {
  auto* n = static_cast<tree_node*>(info.group_data);
  if (!is_laid_out(*info.parent)) {
    stop_watching(self);
    return placement::child_first;
  }
  laid_out& at = layout_of(*info.parent);
  const bool leaf = lines_.line(at.domain).leaf;
  if (n == nullptr) {  // within one member; or the child of a task that does not own the group
    if (leaf || !lines_.lead(self, at)) return placement::child_first;
    const double bytes = info.bytes != 0 ? static_cast<double>(info.bytes) : at.bytes;
    const double share = info.work > 0 && info.group_work > info.work ? info.work / info.group_work : 0.5;
    info.made.tag = info.parent->tag;
    info.made.keep<laid_out>({lines_.place_of(self, at.domain), not_given, bytes * share, at.domain, unchanged});
    return placement::child_first;
  }
  const double share = share_of(self, *n, at, info);
  // Nothing is to be laid out for a child of no work, or for an owner within one worker.
  if (leaf && (share <= 0 || rules_.by_steals() || !at.range.spans_members())) return placement::child_first;
  return hand_out(self, *info.parent, info.made, share, at.bytes);
}

void layout::group_wait(group_info& info) noexcept {
  auto* n = static_cast<tree_node*>(info.data);
  if (n == nullptr) return;
  if (n->label != nullptr) memory_.remember(n->label, info.children, n->hinted);
  n->waits = true;
  activate(*n);
}

placement layout::group_end(unsigned self, group_info& info) noexcept {
  auto* n = static_cast<tree_node*>(info.data);
  return n == nullptr ? placement::stay : close(self, info.owner, *n);
}

// --- forks -------------------------------------------------------------------------------------------------------

// Changes nothing but the node that it reserves, because the fork may not come about.
bool layout::fork_begin(unsigned self, const fork_info& info) noexcept {
  if (!is_laid_out(info.owner) || !lines_.distribute(layout_of(info.owner))) {
    stop_watching(self);
    return false;
  }
  if (!lines_.lead(self, layout_of(info.owner))) return false;
  station& here = workers_[self];
  if (here.reserved == nullptr) here.reserved = here.nodes.take();
  return here.reserved != nullptr;
}

placement layout::fork(unsigned self, const fork_info& info, const task_info& half) noexcept {
  const double first = checked(self, info.first, "the work of half a fork is negative or infinite", true);
  const double second = checked(self, info.second, "the work of half a fork is negative or infinite", true);
  const double share = first + second > 0 ? second / (first + second) : 0.5;
  laid_out& at = layout_of(info.owner);
  settle(self, at);
  const double without = rules_.forks_touch == layout_rules::fork_bytes::of_owner ? at.bytes : 0;
  const double bytes = info.bytes != 0 ? static_cast<double>(info.bytes) : without;
  laid_out next = at;
  descend(self, next, bytes);
  open(self, *std::exchange(workers_[self].reserved, nullptr), info.owner, next);
  node_of(info.owner).label = half.label;
  at.bytes = bytes * (1 - share);
  return hand_out(self, info.owner, half.made, share, bytes);
}

void layout::fork_wait(task& owner) noexcept {
  tree_node& n = node_of(owner);
  n.waits = true;
  activate(n);
}

placement layout::fork_end(unsigned self, task& owner) noexcept { return close(self, owner, node_of(owner)); }

}  // namespace heddle::policy
