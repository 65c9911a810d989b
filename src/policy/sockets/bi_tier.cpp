// Bi-tier work stealing: the tasks and their tiers. Pools and thieves: socket_pools.cpp. The tasks' identities from one
// iteration to the next: task_tree.cpp. Invariants: cab_laws.md.
//
// Source: Chen, Guo, "Task scheduling for multi-core and parallel architectures" (Springer 2017), section 3.5, figure
// 3.9 and table 3.3; section 4.7.
//
// Deviations, and why:
// - The first half of a fork runs in its owner's thread, and never lies in a pool. So a task that forks above the cut
//   takes the socket with it (`hold`), before the second half can be found.
// - In the book a socket stays busy until its inter-socket task returns. An inter-socket task above the cut that waits
//   for its children would keep it busy, and when all sockets wait, nobody fetches the children. Here such a task
//   releases its socket while it waits (`let_go`), and goes on, by way of a pool, where a socket is free. literal=1 is
//   the book's rule.
// - The book does not say which free socket takes which subtree. With `keeps` an inter-socket task lies in the pool of
//   the socket that worked last on its range of data (socket_homes.hpp), in whichever tree, so that it finds the data
//   still there. Other sockets steal it only after `patience` searches in vain. A task whose number among its siblings
//   is not known goes where it ran itself. The root's home is the first socket, where the book begins the initial task.
//   keep=0 leaves the choice to chance, which brings none of the book's gain (docs/investigations/cab-laws.md).
// - Below the cut forks and children cost what they cost under random_ws: they lie in the workers' fork queues, which
//   only workers of the same socket rob.
// - An iteration is the part of a root in a group or fork outside any other one, or between two marks. The root's level
//   is 1, because the program's main function is the book's root of the recursion. Other roots at the same time are
//   scheduled alike. A root itself needs no socket: it may serve others while they compute.
#include "policy/sockets/bi_tier.hpp"

#include <heddle/policy_victims.hpp>

namespace heddle::policy {

namespace {

char mark;       // the tag
char outermost;  // the data of a group that a root made outside an iteration

// Like policy::send_to, but to a list of a socket.
placement send_to(task& t, unsigned socket, unsigned list) noexcept {
  t.to = {socket, list};
  return placement::send;
}

bool needs_socket(unsigned list) noexcept { return list <= socket_pools::upper; }

}  // namespace

void bi_tier::start(scheduler& host) {
  host_ = &host;
  pools_.start(host);
  tree_.start(host);
  plain_ws_.start(host);
}

void bi_tier::go_plain() noexcept {
  plain_.store(true);
  host_->widened();
}

// --- iterations --------------------------------------------------------------------------------------------------

bool bi_tier::begin(unsigned self, task& root, const void* label, begun_by by) noexcept {
  in_tiers& at = state_of(root);
  tree_site* site = tree_.begin(self, label);
  if (site == nullptr) return false;
  at.site = site;
  at.node = site->root;
  at.opener = by;
  at.socket = pools_.of(self);
  site->root->bytes = settings_.bytes;
  return true;
}

void bi_tier::end(unsigned self, in_tiers& at) noexcept {
  let_go(at);
  // acquire pairs with task_end: makes the nodes visible into which the tasks wrote
  rules_.ends(self, *at.site, at.site->alive.load(std::memory_order_acquire) == 0);
  tree_.end(*at.site);
  at.site = nullptr;
  at.node = nullptr;
  at.leaf = at.gated = false;
}

placement bi_tier::next_iteration(unsigned self, task& owner, const void* label) noexcept {
  if (owner.tag != &mark || is_plain() || !is_outermost(state_of(owner))) return placement::stay;
  in_tiers& at = state_of(owner);
  if (at.node != nullptr) end(self, at);
  static_cast<void>(begin(self, owner, label, begun_by::mark));
  return go_on(self, owner);
}

// --- sockets -----------------------------------------------------------------------------------------------------

void bi_tier::hold(unsigned self, in_tiers& at) noexcept {
  if (at.holds) return;
  at.socket = pools_.of(self);
  at.holds = pools_.claim(at.socket);
}

void bi_tier::let_go(in_tiers& at) noexcept {
  if (!at.holds) return;
  at.holds = false;
  pools_.release(at.socket);
}

placement bi_tier::send_home(unsigned self, task& t) noexcept {
  if (!goes_home() || pools_.of(self) == rules_.home()) return placement::stay;
  return send_to(t, rules_.home(), socket_pools::local);
}

// Called when a task that has waited goes on. It goes on with a socket if it needs one.
placement bi_tier::go_on(unsigned self, task& t) noexcept {
  in_tiers& at = state_of(t);
  if (is_outermost(at)) return send_home(self, t);
  if (at.leaf || !at.gated || is_plain()) return placement::stay;
  hold(self, at);
  return at.holds ? placement::stay : send_to(t, at.socket, rules_.inner_list());
}

placement bi_tier::ready(unsigned self, task& t) noexcept {
  in_tiers& at = state_of(t);
  if (is_plain()) return placement::stay;
  if (is_outermost(at)) return send_home(self, t);
  if (at.gated && !at.leaf && !at.holds) return send_to(t, at.socket, rules_.inner_list());
  return pools_.of(self) == at.socket ? placement::stay : send_to(t, at.socket, socket_pools::local);
}

// --- new tasks ---------------------------------------------------------------------------------------------------

placement bi_tier::started(unsigned self, const task_info& info) noexcept {
  if (is_plain()) return placement::stay;
  roots_.fetch_add(1);
  info.made.tag = &mark;
  info.made.keep<in_tiers>({nullptr, nullptr, 0, true, begun_by::fork, false, false, false});
  return send_home(self, info.made);
}

// `whole` is the work of all children of this group or fork, `bytes` the data that they touch.
tier_place bi_tier::place(unsigned self, in_tiers& at, tier_birth b, std::size_t bytes, double work,
                          double whole) noexcept {
  const bool is_top = b.parent.parent == nullptr;
  const bool told = bytes != 0 && (is_top ? settings_.bytes == 0 : !settings_.even);
  if (told) b.parent.bytes = static_cast<double>(bytes);
  const unsigned parts = b.count != 0 ? b.count : 2;
  const bool weighed = !settings_.even && work > 0 && whole >= work && whole < 1e300;  // false for not_given
  b.child.share = weighed ? work / whole : 1.0 / parts;
  b.child.bytes = settings_.even ? even_share(b.parent.bytes, parts) : b.parent.bytes * b.child.share;
  b.child.level = b.parent.level + 1;
  b.child.width = b.parent.width * parts;
  b.child.range = b.parent.range.child(b.index, b.count);
  b.child.ranged = b.parent.ranged && b.count != 0 && (b.count == 1 || b.child.range != b.parent.range);
  tier_place where = rules_.place(self, *at.site, b);
  if (where.socket != nobody) return where;
  where.socket = home_of(b.child, where.what);
  if (where.socket != nobody) return where;
  where.socket = pools_.of(self);
  if (where.list == socket_pools::inter && settings_.keeps) where.list = socket_pools::fresh;
  return where;
}

// The socket where the task's data was left; nobody if that is not known.
unsigned bi_tier::home_of(const tier_node& n, tier what) const noexcept {
  if (!settings_.keeps) return nobody;
  if (!n.ranged) return n.ran_on;
  return what == tier::leaf ? homes_.of_middle(n.range) : homes_.of_begin(n.range);
}

// Called when a leaf begins on a socket.
void bi_tier::note_home(const tier_node& n, unsigned socket) noexcept {
  if (settings_.keeps && n.ranged) homes_.note(n.range, socket);
}

placement bi_tier::hand_out(unsigned, in_tiers& parent, task& made, tier_node& node, const tier_place& where) noexcept {
  if (where.what == tier::intra) {
    task_tree::leave(node);
    return send_to(made, where.socket, socket_pools::local);
  }
  // relaxed: a child's increment comes before its parent's end
  parent.site->alive.fetch_add(1, std::memory_order_relaxed);
  made.tag = &mark;
  made.keep<in_tiers>({&node, parent.site, where.socket, false, begun_by::fork, needs_socket(where.list), false,
                       where.what == tier::leaf});
  return send_to(made, where.socket, where.list);
}

placement bi_tier::spawn(unsigned self, const task_info& info) noexcept {
  task& parent = *info.parent;
  if (is_plain() || parent.tag != &mark || state_of(parent).leaf) {
    host_->watch(self, false);
    return placement::child_first;
  }
  in_tiers& at = state_of(parent);
  if (at.node == nullptr && (info.group_data != &outermost || !begin(self, parent, info.label, begun_by::group)))
    return placement::child_first;
  tier_node& maker = *at.node;
  if (maker.cursor == nullptr && !tree_.has_room(*at.site)) return placement::child_first;
  tier_node* child = tree_.next_child(self, *at.site, maker);
  if (child == nullptr) return placement::child_first;
  const bool told = info.siblings != 0;
  const tier_birth b{maker, *child, told ? info.index : maker.made - 1, told ? info.siblings : maker.had, told};
  const tier_place where = place(self, at, b, info.bytes, info.work, info.group_work);
  at.gated = needs_socket(where.list);
  if (where.what != tier::intra) return hand_out(self, at, info.made, *child, where);
  task_tree::leave(*child);
  at.leaf = true;
  hold(self, at);
  host_->watch(self, false);
  return placement::child_first;
}

bool bi_tier::fork_begin(unsigned self, const fork_info& info) noexcept {
  if (is_plain() || info.owner.tag != &mark || state_of(info.owner).leaf) {
    host_->watch(self, false);
    return false;
  }
  const in_tiers& at = state_of(info.owner);
  if (at.node != nullptr && at.node->cursor == nullptr && !tree_.has_room(*at.site)) return false;
  return tree_.reserve(self, 3);  // for both halves, and for an iteration's root
}

placement bi_tier::fork(unsigned self, const fork_info& info, const task_info& half) noexcept {
  in_tiers& at = state_of(info.owner);
  if (at.node == nullptr && !begin(self, info.owner, half.label, begun_by::fork))
    return send_to(half.made, pools_.of(self), socket_pools::open);
  tier_node& maker = *at.node;
  tier_node& first = *tree_.next_child(self, *at.site, maker);
  tier_node& second = *tree_.next_child(self, *at.site, maker);
  first.inlined = true;
  const tier_place here = place(self, at, {maker, first, 0, 2, true}, info.bytes, info.first, half.group_work);
  const tier_place there = place(self, at, {maker, second, 1, 2, true}, info.bytes, info.second, half.group_work);
  at.node = &first;
  at.gated = needs_socket(here.list);
  if (at.gated) hold(self, at);
  if (here.what != tier::inter) {
    at.leaf = true;
    if (here.what == tier::leaf) note_home(first, pools_.of(self));
    host_->watch(self, false);
  }
  return hand_out(self, at, half.made, second, there);
}

void bi_tier::enqueue(unsigned self, task& t) noexcept {
  const task::destination to = t.to;  // read before the task is put into a list, which uses its place
  pools_.put(self, t, to.target, to.slot);
}

// --- waits and ends ----------------------------------------------------------------------------------------------

// The first half has ended, which is a task in the book. So its socket is free, unless the owner goes on at once.
void bi_tier::fork_wait(unsigned self, task& owner) noexcept {
  in_tiers& at = state_of(owner);
  if (at.node == nullptr || at.node == at.site->root) return;  // a fork without a node
  tier_node& first = *at.node;
  at.node = first.parent;
  task_tree::leave(first);
  at.leaf = false;
  let_go(at);
  if (!is_plain()) host_->watch(self, true);
}

placement bi_tier::fork_end(unsigned self, task& owner, std::uint64_t elapsed) noexcept {
  in_tiers& at = state_of(owner);
  if (at.node != nullptr && is_outermost(at)) {
    at.site->elapsed += elapsed;
    if (at.opener == begun_by::fork) end(self, at);
  }
  return go_on(self, owner);
}

void bi_tier::group_begin(unsigned self, group_info& info) noexcept {
  if (is_plain() || info.owner.tag != &mark || state_of(info.owner).leaf) return host_->watch(self, false);
  if (state_of(info.owner).node == nullptr) info.data = &outermost;
}

void bi_tier::group_wait(unsigned, group_info& info) noexcept {
  if (info.owner.tag != &mark) return;
  in_tiers& at = state_of(info.owner);
  if (!at.leaf && !pools_.is_literal()) let_go(at);
}

placement bi_tier::group_end(unsigned self, group_info& info) noexcept {
  if (info.owner.tag != &mark) return placement::stay;
  in_tiers& at = state_of(info.owner);
  if (at.node != nullptr && is_outermost(at)) {
    at.site->elapsed += info.elapsed;
    if (at.opener == begun_by::group && info.data == &outermost) end(self, at);
  }
  return go_on(self, info.owner);
}

void bi_tier::task_end(unsigned self, task& t) noexcept {
  in_tiers& at = state_of(t);
  if (at.root) {
    if (at.node != nullptr) end(self, at);
    roots_.fetch_sub(1);
    return;
  }
  task_tree::leave(*at.node);
  // pairs with end and task_tree::begin: publishes the node's contents
  at.site->alive.fetch_sub(1, std::memory_order_release);
  let_go(at);
}

// --- what a worker takes -----------------------------------------------------------------------------------------

entry bi_tier::taken(unsigned self, task* t, bool with_socket) noexcept {
  if (t == nullptr) return 0;
  bool is_watched = false;
  if (t->tag == &mark) {
    in_tiers& at = state_of(*t);
    at.socket = pools_.of(self);
    if (!at.root) at.node->ran_on = at.socket;
    if (at.leaf && !at.root) note_home(*at.node, at.socket);
    at.holds = at.holds || with_socket;
    is_watched = !at.leaf;
  } else if (with_socket) {
    pools_.release(pools_.of(self));
  }
  if (!is_plain()) host_->watch(self, is_watched);
  return host_->entry_of(*t);
}

// A task that goes on without the policy's help is watched. If it need not be watched, its first fork or child finds
// that out.
entry bi_tier::pick(unsigned self, bool own_is_empty) noexcept {
  if (is_plain()) return 0;
  if (own_is_empty) return taken(self, pools_.take_own(self), false);
  host_->watch(self, true);
  return 0;
}

entry bi_tier::acquire(unsigned self, effort how) noexcept {
  if (is_flat()) return plain_ws_.acquire(self, how);
  if (is_plain()) {
    const entry left = taken(self, pools_.take_any(self), false);
    return left != 0 ? left : plain_ws_.acquire(self, how);
  }
  entry found = taken(self, pools_.take_own(self), false);
  if (found == 0) {
    const worker_group& mine = pools_.workers_of(pools_.of(self));
    found = others(self, mine.first, mine.count).rob_at_random(*host_, how);
  }
  if (found == 0) found = taken(self, pools_.take_open(self, how), false);
  if (found == 0) found = taken(self, pools_.take_inter(self, how), true);
  if (found == 0 && pools_.is_stuck(self, how)) {
    found = taken(self, pools_.take_held_back(self), false);
    if (found != 0 && !said_stuck_.exchange(true))
      host_->remark(self, "bi_tier: nobody runs anything, a task goes to a busy socket; worker", self);
  }
  return found;
}

bool bi_tier::may_find(unsigned self) noexcept {
  if (is_flat()) return plain_ws_.may_find(self);
  if (is_plain()) return pools_.looks_filled() || plain_ws_.may_find(self);
  return pools_.may_find(self);
}

}  // namespace heddle::policy
