// Almost deterministic work stealing (ADWS): the layout of tasks. What a worker takes next, its own tasks and those
// of others, is in adws_take.cpp; an introduction, and what holds of it, in adws.md.
//
// Source: Shiina, "Efficient thread scheduling strategies for nested parallel programs" (2021), Algorithms 4.1 - 4.3
// and Appendix A; Shiina, Taura (SC 2019). Their local queue is the worker's fork queue while !uses_migrated. Their
// migration queue is `passed`, above it `migrated`, above it the fork queue while uses_migrated. (POPTASKFROMLOCAL
// empties the local queue before it turns to the migration queue, so that one physical queue serves for both.)
//
// Deviations, and why:
// - A range is split at spawn only while it is a search root's; a task within one worker runs its children first
//   wherever it is (section 4.2.3). Read literally, line 13 would send the children of stolen tasks back to the
//   victim.
// - A search root whose range lies within one worker and reaches its end lays nothing out. It is passed and kept as
//   a search root, and its end activates its group; but all that it could spawn stays with that worker. Read
//   literally, line 4 has it open a group a level down to the leaves, each with a thread, a node and a way back
//   (docs/investigations/adws-real.md).
// - A cut that misses a worker's end inside the range by less than a 64th of a worker is put there. Otherwise the
//   border between two workers would be sought down to the leaves. Ours; the error is less than that of most hints,
//   and stealing evens it out.
// - `patience=N` (ours; 0 as in the thesis): a worker that has nothing left looks N times at what is its own, some
//   30 ns each, before it asks others. Where iterations take microseconds, a block that is stolen at the end can
//   cost more than it gains.
// - A group's node becomes active at its owner's wait whatever is left of the owner's range (section 4.3.3 on figure
//   4.14). Line 22 would never activate a group whose children were all spawned.
// - The group of the root task is found by every worker. Line 7 alone leaves a worker that got no search root
//   without any node.
// - The last worker of a range that ends where the worker does is robbed of both queues: all that it has is of this
//   group.
// - A thread that waits is woken into its owner's slot, instead of being moved there once it runs.
// - Forks (parallel_invoke, loops) are groups of two whose first half is the one that is not spawned.
// - Hints that are not given: equal shares among as many children as the group was told to expect, else as the last
//   group with the same code had, two at first. Hints that cannot be (negative, infinite, a total of zero) count as not
//   given and are reported once. A child of no work stays with its spawner. Cuts closer than 1e-6 to a worker's end are
//   put there.
// - Threads that are nobody's child: the first one alive is laid out over all workers. While others are alive, all
//   workers may rob each other, for such threads have no place in the tree.
// - A worker has 512 tree nodes; groups that nest deeper are not laid out.
#include "policy/adws.hpp"

#include <algorithm>
#include <utility>

#include "base/contracts.hpp"

namespace heddle::policy {

namespace {

constexpr unsigned passed_slot = 0;
constexpr unsigned woken_slot = 2;  // as search_root_slot; but the thread waited for something else than children

}  // namespace

void adws::survey() {
  const unsigned workers = host_->workers();
  member_count_ = workers;
  members_.reset(new member[workers]);
  domains_.resize(1);
  for (unsigned rank = 0; rank < workers; ++rank) {
    members_[rank].head = rank;
    domains_[0].members.push_back(rank);
    domains_[0].place_of_worker.push_back(rank);
    stations_[rank].acts_for = rank;
    stations_[rank].heads.push_back(rank);
  }
}

laid_out adws::root_layout() const noexcept {
  return {{0, static_cast<double>(host_->workers())}, not_given, 0, 0, unchanged};
}

void adws::start(scheduler& host) {
  policy::start(host);
  stations_.reset(new station[host.workers()]);
  for (unsigned rank = 0; rank < host.workers(); ++rank) stations_[rank].nodes.start(rank);
  survey();
  multi_level_ = domains_.size() > 1;
  open_groups_.reset(new std::atomic<unsigned>[domains_.size()] {});
  if (!multi_level_) open_groups_[0] = 1;
}

// --- which member, which level -----------------------------------------------------------------------------------

unsigned adws::owner_of(const laid_out& at) const noexcept {
  const std::vector<unsigned>& all = domains_[at.domain].members;
  return all[std::min<std::size_t>(at.range.owner(), all.size() - 1)];
}

// The worker's fork queue belongs to another member from now on [adws:5].
void adws::act_for(unsigned self, unsigned which) noexcept {
  const unsigned before = acts_for(self);
  if (before == which) return;
  member& old = members_[before];
  std::lock_guard hold(stations_[self].turning);
  // the head's own
  (old.uses_migrated.load(std::memory_order_relaxed) ? old.migrated : old.local).fill_from(*host_, self);
  stations_[self].acts_for.store(which, std::memory_order_relaxed);  // under `turning`
}

void adws::use_migrated(unsigned self, member& m, bool yes) noexcept {
  if (m.uses_migrated.load(std::memory_order_relaxed) == yes) return;  // the head's own
  std::lock_guard hold(stations_[self].turning);
  if (!yes) m.migrated.fill_from(*host_, self);
  m.uses_migrated.store(yes, std::memory_order_relaxed);  // under `turning`
}

void adws::adopt(unsigned self, task& t) noexcept {
  const domain& d = domains_[layout_of(t).domain];
  unsigned which = d.members[d.place_of_worker[self]];
  if (members_[which].head != self) which = stations_[self].heads.back();  // a member has one worker that acts for it
  if (const std::uint32_t base = std::exchange(layout_of(t).base, unchanged); base != unchanged) {
    std::atomic<unsigned>& mine = stations_[self].base;  // its own variable
    // groups may end in any order
    mine.store(std::min(base, mine.load(std::memory_order_relaxed)), std::memory_order_relaxed);
  }
  act_for(self, which);
  member& m = members_[which];
  use_migrated(self, m, false);
  m.tree.store(static_cast<tree_node*>(t.word), std::memory_order_release);  // pairs with choose_victims: the node
  host_->watch(self, true);
}

entry adws::start_passed(unsigned self, task& t) noexcept {
  if (domains_[layout_of(t).domain].leaf || !leads(self, layout_of(t))) {
    t.word = nullptr;  // nothing below it is laid out any more: as under random_ws
    host_->watch(self, false);
  } else {
    const double here = domains_[layout_of(t).domain].place_of_worker[self];
    layout_of(t).range = {here, here};  // a thief is its owner now
    host_->watch(self, true);
  }
  return host_->entry_of(t);
}

// Nothing below a task that is not laid out is laid out either, so nothing need be watched. Not so on a worker that
// acts for a member above the leaves: it may go on with a task that is laid out, without being asked.
void adws::stop_watching(unsigned self) noexcept {
  // a hint: adopt switches on
  if (now(self).leaf || host_->workers() == 1 || !has_root_.load(std::memory_order_relaxed)) host_->watch(self, false);
}

// --- tasks -------------------------------------------------------------------------------------------------------

placement adws::leave_out(task& t) noexcept {
  t.word = &outside_;
  outside_tasks_.fetch_add(1);
  return placement::stay;
}

placement adws::started(unsigned, const task_info& info) noexcept {
  task& t = info.made;
  if (host_->workers() == 1) return placement::stay;
  if (has_root_.exchange(true)) return leave_out(t);
  t.word = &everything_;
  laid_out& at = t.keep(root_layout());
  if (how_ == layout::by_steals) at.range = {0, 0};
  return send_to(t, owner_of(at), search_root_slot);
}

void adws::announce(unsigned head) noexcept { host_->wake(head); }

void adws::place(unsigned, task& t) noexcept {
  const task::destination to = t.to;  // read now: a list uses its place
  member& m = members_[to.target];
  if (to.slot != passed_slot) {
    if (to.slot == woken_slot) disordered_.store(true, std::memory_order_relaxed);  // a flag for the audit
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
  announce(m.head);
}

placement adws::ready(unsigned, task& t) noexcept {
  if (!is_laid_out(t)) return placement::stay;
  const auto* n = static_cast<const tree_node*>(t.word);
  if (n->owner == &t && n->waits) return send_to(t, n->back, search_root_slot);
  const laid_out& at = layout_of(t);
  // A thread within one worker goes on where it is woken. If it was stolen and owns a group, the end of the group
  // brings it back; without stealing it never left.
  if (!distributes(at) && (n->owner != &t || steals_)) return placement::stay;
  return send_to(t, owner_of(at), woken_slot);
}

// ONTASKCOMPLETION.
void adws::task_end(unsigned self, task& t) noexcept {
  if (t.word == &outside_) {
    outside_tasks_.fetch_sub(1);
  } else if (t.word == &everything_) {
    root_ended(self);
    has_root_.store(false);
  } else if (layout_of(t).range.is_search_root()) {
    activate(*static_cast<tree_node*>(t.word));
  }
}

void adws::activate(tree_node& n) noexcept {
  if (!n.active.exchange(true) && steals_ && how_ == layout::by_work) wake_range(n);
}

void adws::wake_range(const tree_node& n) noexcept {
  // the caller's group, or a group whose child the caller is
  const domain& d = domains_[n.domain.load(std::memory_order_relaxed)];
  const distribution_range r{n.from.load(std::memory_order_relaxed), n.to.load(std::memory_order_relaxed)};  // as above
  const unsigned last = std::min(r.last(), static_cast<unsigned>(d.members.size() - 1));
  for (unsigned place = r.owner(); place <= last; ++place) host_->wake(members_[d.members[place]].head);
}

// --- groups: Algorithm 4.2 ---------------------------------------------------------------------------------------

double adws::checked(unsigned self, double hint, const char* text, bool zero_is_valid) noexcept {
  if (std::isnan(hint)) return hint;
  if (hint > 0 && std::isfinite(hint)) return hint;
  if (hint == 0 && zero_is_valid) return hint;
  const unsigned bit = zero_is_valid ? 1 : 2;
  if ((warned_.fetch_or(bit) & bit) == 0) host_->warn_of_hint(self, text, hint);
  return not_given;
}

// Above the leaves, a task within one member belongs to the head that runs it [adws:1]. A thief that took it from
// the victim's fork queue finds the victim's place in it. A group that began with that place would send its owner
// back to the victim: a second search root there, against Theorem 2 [adws:3].
void adws::settle(unsigned self, laid_out& at) const noexcept {
  const domain& d = domains_[at.domain];
  if (d.leaf || at.range.is_search_root()) return;
  const double here = d.place_of_worker[self];
  at.range = {here, here};
}

// TASKGROUP::INIT, lines 3 and 6 - 7.
void adws::open(unsigned self, tree_node& node, task& owner, const laid_out& next) noexcept {
  tree_node* n = &node;
  laid_out& at = layout_of(owner);
  auto* parent = static_cast<tree_node*>(owner.word);
  n->saved = at;
  n->owner = &owner;
  n->label = nullptr;
  n->expected = 0;
  n->hinted = 0;
  n->waits = false;
  n->opener = self;
  n->base = stations_[self].base.load(std::memory_order_relaxed);  // its own variable
  n->back = owner_of(next);                                        // line 27
  if (next.domain != at.domain) {
    at = next;
    const domain& d = domains_[at.domain];
    // the worker whose base changes here has to get it back: the owner returns to it
    if (members_[n->back].head != self) n->back = d.members[d.place_of_worker[self]];
    stations_[self].base.store(d.level, std::memory_order_relaxed);  // its own variable
    const unsigned which = d.members[d.place_of_worker[self]];
    act_for(self, members_[which].head == self ? which : stations_[self].heads.back());
  } else {
    // its own group's
    const distribution_range above{parent->from.load(std::memory_order_relaxed),
                                   parent->to.load(std::memory_order_relaxed)};
    HEDDLE_AUDIT_CHECK(parent == &everything_ || parent->domain.load() != at.domain || disordered_.load() ||
                           at.range.from == at.range.to || (above.from <= at.range.from && at.range.to <= above.to),
                       "range [%g, %g) is not inside its parent's", at.range.from, at.range.to);
    static_cast<void>(above);
  }
  n->uses.store(n->uses.load(std::memory_order_relaxed) + 1);  // the owner's alone
  n->from.store(at.range.from, std::memory_order_relaxed);     // hints; published with the node
  n->to.store(at.range.to, std::memory_order_relaxed);
  n->domain.store(at.domain, std::memory_order_relaxed);
  n->parent.store(parent, std::memory_order_relaxed);
  owner.word = n;
  now(self).tree.store(n, std::memory_order_release);  // pairs with choose_victims: the node
  if (how_ == layout::by_steals) {
    const double here = domains_[at.domain].place_of_worker[self];
    at.range = {here, here};
    if (at.domain != n->saved.domain) {
      open_groups_[at.domain].fetch_add(1);
      wake_range(*n);
    }
    return;
  }
  if (parent == &everything_) root_group_.store(n);
}

// TASKGROUP::WAIT, lines 26 - 31.
placement adws::close(unsigned self, task& owner, tree_node& n) noexcept {
  n.active.store(false);
  if (how_ == layout::by_steals && n.domain.load(std::memory_order_relaxed) != n.saved.domain) {  // its own node
    open_groups_[n.domain.load(std::memory_order_relaxed)].fetch_sub(1);                          // as above
  }
  tree_node* expected = &n;
  root_group_.compare_exchange_strong(expected, nullptr);
  if (owner.word != &n) disordered_.store(true, std::memory_order_relaxed);  // a flag for the audit
  const unsigned way_back = n.back;
  layout_of(owner) = n.saved;
  layout_of(owner).base = members_[way_back].head == n.opener ? n.base : unchanged;
  owner.word = n.parent.load(std::memory_order_relaxed);  // its own node
  n.owner = nullptr;
  stations_[n.home].nodes.give(n);
  if (members_[way_back].head != self) return send_to(owner, way_back, search_root_slot);
  adopt(self, owner);
  return placement::stay;
}

void adws::group_begin(unsigned self, group_info& info) noexcept {
  if (!is_laid_out(info.owner)) {
    stop_watching(self);
    return;
  }
  laid_out& at = layout_of(info.owner);
  if (!leads(self, at)) return;  // a thief of another level: its children are plain tasks
  settle(self, at);
  const double bytes = info.bytes != 0 ? static_cast<double>(info.bytes) : at.bytes;
  laid_out next = at;
  descend(self, next, bytes);
  const bool leaf = domains_[at.domain].leaf;
  if (next.domain == at.domain && !(leaf ? at.range.spans_members() : at.range.is_search_root())) {
    if (leaf) host_->watch(self, false);
    return;
  }
  tree_node* n = stations_[self].nodes.take();
  if (n == nullptr) return;  // nests too deep
  open(self, *n, info.owner, next);
  layout_of(info.owner).left = checked(self, info.work, "a group's work is not a positive number", false);
  layout_of(info.owner).bytes = bytes;
  info.data = n;
}

// The child's part of what is left, in [0, 1].
double adws::share_of(unsigned self, tree_node& n, laid_out& at, const task_info& info) noexcept {
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
placement adws::hand_out(unsigned self, task& owner, task& child, double share, double bytes) noexcept {
  laid_out& at = layout_of(owner);
  if (how_ == layout::by_steals && domains_[at.domain].leaf)
    return placement::child_first;  // as under random_ws from here on
  if (!at.range.is_search_root() && !leads(self, at)) return placement::child_first;
  child.word = owner.word;
  // above the leaves and within one member: the head that runs it, a thief perhaps, does one child after the other
  if (!at.range.is_search_root()) {
    settle(self, at);
    child.keep<laid_out>({at.range, not_given, bytes * share, at.domain, unchanged});
    return placement::child_first;
  }
  const laid_out& to =
      child.keep<laid_out>({at.range.split_upper(share), not_given, bytes * share, at.domain, unchanged});
  const unsigned target = owner_of(to);
  const bool search_root = to.range.is_search_root();
  if (acts_for(self) == target) {
    if (!search_root && domains_[to.domain].leaf) child.word = nullptr;
    return placement::child_first;
  }
  return send_to(child, target, search_root ? search_root_slot : passed_slot);
}

placement adws::spawn(unsigned self, const task_info& info) noexcept {
  auto* n = static_cast<tree_node*>(info.group_data);
  if (!is_laid_out(*info.parent)) {
    stop_watching(self);
    return placement::child_first;
  }
  laid_out& at = layout_of(*info.parent);
  if (n == nullptr) {  // within one member; or the child of a task that does not own the group
    if (domains_[at.domain].leaf || !leads(self, at)) return placement::child_first;
    const double bytes = info.bytes != 0 ? static_cast<double>(info.bytes) : at.bytes;
    const double share = info.work > 0 && info.group_work > info.work ? info.work / info.group_work : 0.5;
    const double here = domains_[at.domain].place_of_worker[self];
    info.made.word = info.parent->word;
    info.made.keep<laid_out>({{here, here}, not_given, bytes * share, at.domain, unchanged});
    return placement::child_first;
  }
  const double share = share_of(self, *n, at, info);
  // a child of no work, or an owner within one worker: nothing to lay out
  if (domains_[at.domain].leaf && (share <= 0 || how_ == layout::by_steals || !at.range.spans_members()))
    return placement::child_first;
  return hand_out(self, *info.parent, info.made, share, at.bytes);
}

void adws::group_wait(unsigned, group_info& info) noexcept {
  auto* n = static_cast<tree_node*>(info.data);
  if (n == nullptr) return;
  if (n->label != nullptr) memory_.remember(n->label, info.children, n->hinted);
  n->waits = true;
  activate(*n);
}

placement adws::group_end(unsigned self, group_info& info) noexcept {
  auto* n = static_cast<tree_node*>(info.data);
  return n == nullptr ? placement::stay : close(self, info.owner, *n);
}

// --- forks -------------------------------------------------------------------------------------------------------

// Changes nothing but the node that is set aside, since the fork need not come about.
bool adws::fork_begin(unsigned self, const fork_info& info) noexcept {
  if (!is_laid_out(info.owner) || !distributes(layout_of(info.owner))) {
    stop_watching(self);
    return false;
  }
  if (!leads(self, layout_of(info.owner))) return false;
  station& here = stations_[self];
  if (here.reserved == nullptr) here.reserved = here.nodes.take();
  return here.reserved != nullptr;
}

placement adws::fork(unsigned self, const fork_info& info, const task_info& half) noexcept {
  const double first = checked(self, info.first, "the work of half a fork is negative or infinite", true);
  const double second = checked(self, info.second, "the work of half a fork is negative or infinite", true);
  const double share = first + second > 0 ? second / (first + second) : 0.5;
  laid_out& at = layout_of(info.owner);
  settle(self, at);
  const double bytes = info.bytes != 0 ? static_cast<double>(info.bytes) : bytes_of_fork(at.bytes);
  laid_out next = at;
  descend(self, next, bytes);
  open(self, *std::exchange(stations_[self].reserved, nullptr), info.owner, next);
  at.bytes = bytes * (1 - share);
  return hand_out(self, info.owner, half.made, share, bytes);
}

void adws::fork_wait(unsigned, task& owner) noexcept {
  auto* n = static_cast<tree_node*>(owner.word);
  n->waits = true;
  activate(*n);
}

placement adws::fork_end(unsigned self, task& owner) noexcept {
  auto* n = static_cast<tree_node*>(owner.word);
  return close(self, owner, *n);
}

std::unique_ptr<policy> adws::make(parameters& given) {
  const bool steals = given.choice("steal", "on|off") == 0;
  const auto patience = static_cast<unsigned>(given.number("patience", 0, 0, 1000));
  return create<adws>(steals, layout::by_work, patience);
}

}  // namespace heddle::policy
