// Multi-level scheduling whose idle workers leave their level: the layout of ml-adws, and where
// that leaves a worker without work, greedy stealing. Ours. The ADWS thesis names the idle time
// of multi-level scheduling as its open problem (chapter 7): a memory group runs one root task
// at a time, and a root task with fewer leaves than the group has workers leaves them idle.
//
// Rules, on top of those of ml_adws.cpp:
// R1. A worker first takes what ml-adws would let it take. Only when
// it has insisted `patience` times in a row in vain (each
//     time: its own queues, and every victim of its active range) does it take anything else. A worker whose R2 found
//     something bears half as many next time, one that found its own by itself twice as many, between 1 and the
//     parameter.
// R2. Then it takes the oldest task of any worker, nearest first: so
// a further root task is admitted to a memory group whose
//     workers idle before one is taken from another group. Then a search root that waits for a worker that is busy.
//     Last, a head takes a root task of its own that waits above the group that it has opened.
// R3. A root task admitted so is not laid out: the workers of its
// group are not free. It runs as under random stealing, child
//     first, and idle workers take its continuations by R2.
// R4. A fork that touches its data once goes down to the leaves of
// its range at once: levels would have the heads alone run it until
//     the pieces fit, and each piece wait for the last worker of the one before. Such are forks whose bytes nobody
//     gave, and those of a place in the program (the code of the second half) which have ended before without a fork of
//     another place inside them, laid out: loops, merges. Learned anew when such a fork turns up.
// (R5, levels given up where workers idle, gained nothing beside the
// rest and is gone: docs/investigations/ml-adaptive.md.)
// R6. A program that has forked halves of unlike work (the larger one
// above 0.6), and inside one of them again at the same place, by forks
//     of R4, loses more to the ends of ranges than to data that moves: after `near` searches in vain its workers look
//     at one worker of the nearest distance, too, after four times as many at one of the next, but never beyond the
//     last shared cache. near=0: never. Loops that are cut in the middle of whole pieces never do so: their halves
//     differ by one piece, which is above 0.6 for three alone.
// R7. A fork of unlike halves (above 0.55) whose bytes are given and fit into no group below its level is
// space-bounded: the rules of sb.cpp (sb-d)
//     hold for its second half and for everything that its owner forks until it has ended, so that several root tasks
//     are admitted to a cache while they fit together. The owner keeps its place in a node of the tree and returns to
//     it at the end. Groups are not: their children may be many and small, and all would stand in one queue. bound=off:
//     never.
// R8. Patience is worth what the move costs, and that falls with the
// distance: a fourth of the patience of R1 is borne before a worker that
//     insists takes what workers of the next to farthest distance have below their leaves, a fourth of that before the
//     next nearer one's. It admits no root task, and what it finds leaves the patience of R1 as it is. near=0: never.
//
// Invariants:
// - M1. What may_find sees, acquire takes after at most `patience`
// insisting searches of that worker: both go over the same
//   queues. The exception: an owner on its way back to its station is left to that worker; others do not sleep until it
//   has gone.
// - M2. Greedy up to patience: a worker idles while a task is queued
// anywhere for at most `patience` searches that insist, that is
//   O(patience * workers) attempts. So T_P <= T_1 / P + T_inf + steals * O(patience * P) attempts, as for random
//   stealing but for the factor: a lower bound on locality is traded against it, never progress.
// - M3. Over-admission is bounded: a worker runs one thread at a
// time, so a memory group of n workers has at most n root tasks
//   that were admitted by R2 running, beside the one that is laid out.
// - M4. No two workers act for one member: who admits acts for its own leaf.
// - M5. A task has the word of the layout or that of sb, never both;
// each call of the seam goes to the one whose word it is. The word
//   of a fork's owner changes at its outermost space-bounded fork and is restored at that one's end, both by the owner.
// - M6. While `bound_owners_` is not 0, idle workers look into sb's
// queues at each search and before they sleep, first of all; it is
//   raised before the first task is queued there and lowered after the last one has ended. So M1 and M2 hold with them,
//   and the bound of sb on what is anchored under a cache holds among its own tasks.
// - M7. What is queued for a member whose head is awake, and perhaps in a
// long leaf, wakes somebody else: a search root would else wait for its head
//   while workers sleep that may take it by R2.
#include "policy/ml_adaptive.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "policy/parameters.hpp"

namespace heddle::policy {

namespace {

constexpr double even_share = 0.55;   // of the larger half, at most
constexpr double unlike_share = 0.6;  // R6

bool halves_differ(const fork_info& info, double share = even_share) noexcept {
  const double all = info.first + info.second;
  return info.first >= 0 && info.second >= 0 && std::isfinite(all) && std::max(info.first, info.second) > share * all;
}

// Of a task whose forks are space-bounded: where it was laid out; null:
// it is such a task's descendant. In `room`, behind what sb keeps there.
tree_node*& kept_of(task& t) noexcept {
  return *std::launder(reinterpret_cast<tree_node**>(t.room + sizeof t.room - sizeof(tree_node*)));
}

// Of the node of a fork, which has no hints of children to sum up.
bool is_unlike(const tree_node& n) noexcept { return n.hinted != 0; }
void note_unlike(tree_node& n, bool is) noexcept { n.hinted = is ? 1 : 0; }

}  // namespace

void ml_adaptive::start(scheduler& host) {
  ml_adws::start(host);
  expect_no_order();
  const unsigned workers = host.workers();
  searchers_.reset(new searcher[workers]);
  for (unsigned rank = 0; rank < workers; ++rank) {
    searcher& s = searchers_[rank];
    s.patience = settings_.patience;
    for (unsigned i = 1; i < workers; ++i) s.victims.push_back((rank + i) % workers);
    std::sort(s.victims.begin(), s.victims.end(), [&](unsigned a, unsigned b) {
      return std::pair(host.distance(rank, a), (a + workers - rank) % workers) <
             std::pair(host.distance(rank, b), (b + workers - rank) % workers);
    });
    for (unsigned i = 0; i < s.victims.size(); ++i) {
      if (i + 1 == s.victims.size() || host.distance(rank, s.victims[i]) != host.distance(rank, s.victims[i + 1]))
        s.rings.push_back(i + 1);
    }
  }
  if (domains_.size() > 1 && settings_.bound) bound_.start(host);
}

placement ml_adaptive::started(unsigned self, task& t) noexcept {
  uneven_.store(false, std::memory_order_relaxed);  // a hint
  return ml_adws::started(self, t);
}

// --- forks that only cut: R4 -------------------------------------------------------------------------------------

ml_adaptive::fork_shape& ml_adaptive::shape_of(const void* label) noexcept {
  return shapes_[static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(label) * 0x9e3779b97f4a7c15u) >> 56)];
}

void ml_adaptive::note_nesting(const tree_node& above, const void* label) noexcept {
  if (above.label == nullptr || above.label == label) return;
  fork_shape& outer = shape_of(above.label);
  if (outer.is_of(above.label) && outer.nests.load(std::memory_order_relaxed)) return;  // a guess
  outer.begin(above.label, true);
}

// --- forks that are space-bounded: R7 ----------------------------------------------------------------------------

// The owner keeps its place in a node of the tree while its forks are sb's.
bool ml_adaptive::bind(unsigned self, const fork_info& info) noexcept {
  if (domains_.size() < 2 || !settings_.bound || info.bytes == 0 || !halves_differ(info)) return false;
  laid_out& at = layout_of(info.owner);
  if (domains_[at.domain].leaf) return false;
  laid_out next = at;
  ml_adws::descend(self, next, static_cast<double>(info.bytes));
  if (domains_[next.domain].leaf) return false;  // it fits
  tree_node& n = *std::exchange(stations_[self].reserved, nullptr);
  n.saved = at;
  n.owner = &info.owner;
  n.label = nullptr;
  n.waits = false;
  n.expected = 0;  // forks of its own that have not ended
  n.back = owner_of(at);
  n.parent.store(static_cast<tree_node*>(info.owner.word), std::memory_order_relaxed);  // nobody walks from here
  bound_owners_.fetch_add(1);
  static_cast<void>(bound_.started(self, info.owner));
  bound_word_.store(info.owner.word);
  kept_of(info.owner) = &n;
  return true;
}

placement ml_adaptive::unbind(unsigned self, task& owner, tree_node& n) noexcept {
  bound_owners_.fetch_sub(1);
  layout_of(owner) = n.saved;
  layout_of(owner).base = unchanged;
  owner.word = n.parent.load(std::memory_order_relaxed);  // its own node
  const unsigned back = n.back;
  n.owner = nullptr;
  stations_[n.home].nodes.give(n);
  if (members_[back].head != self) return {placement::kind::send, back, search_root_slot};
  adopt(self, owner);
  return stay;
}

bool ml_adaptive::fork_begin(unsigned self, const fork_info& info) noexcept {
  return is_bound(info.owner) ? bound_.fork_begin(self, info) : ml_adws::fork_begin(self, info);
}

placement ml_adaptive::fork(unsigned self, const fork_info& info, task& child) noexcept {
  if (is_bound(info.owner) || bind(self, info)) {
    if (tree_node* kept = kept_of(info.owner); kept != nullptr) ++kept->expected;
    const placement where = bound_.fork(self, info, child);
    kept_of(child) = nullptr;
    return where;
  }
  note_nesting(*static_cast<const tree_node*>(info.owner.word), info.label);
  fork_info known = info;
  const fork_shape& own = shape_of(info.label);
  if (own.is_of(info.label) && own.only_cuts.load(std::memory_order_relaxed)) known.bytes = 0;  // a guess
  const auto& around = *static_cast<const tree_node*>(info.owner.word);
  const bool unlike = halves_differ(info, unlike_share);
  // a hint
  if (unlike && known.bytes == 0 && around.label == info.label && is_unlike(around))
    uneven_.store(true, std::memory_order_relaxed);
  const placement where = ml_adws::fork(self, known, child);
  auto& own_node = *static_cast<tree_node*>(info.owner.word);
  own_node.label = info.label;
  note_unlike(own_node, unlike);
  return where;
}

void ml_adaptive::fork_wait(unsigned self, task& owner) noexcept {
  if (!is_bound(owner)) ml_adws::fork_wait(self, owner);
}

placement ml_adaptive::fork_end(unsigned self, task& owner) noexcept {
  if (is_bound(owner)) {
    tree_node* kept = kept_of(owner);
    return kept != nullptr && --kept->expected == 0 ? unbind(self, owner, *kept) : stay;
  }
  const auto* n = static_cast<const tree_node*>(owner.word);
  if (n->parent.load(std::memory_order_relaxed)->label != n->label) {  // its own node; the outermost fork of its place
    fork_shape& own = shape_of(n->label);
    if (!own.is_of(n->label)) own.begin(n->label, false);
    if (!own.nests.load(std::memory_order_relaxed)) own.only_cuts.store(true, std::memory_order_relaxed);  // guesses
  }
  return ml_adws::fork_end(self, owner);
}

placement ml_adaptive::spawn(unsigned self, const spawn_info& info) noexcept {
  if (!is_bound(info.parent)) return ml_adws::spawn(self, info);
  const placement where = bound_.spawn(self, info);
  kept_of(info.child) = nullptr;
  return where;
}

void ml_adaptive::place(unsigned self, task& t, const placement& where) noexcept {
  is_bound(t) ? bound_.place(self, t, where) : ml_adws::place(self, t, where);
}

placement ml_adaptive::ready(unsigned self, task& t) noexcept {
  return is_bound(t) ? bound_.ready(self, t) : ml_adws::ready(self, t);
}

void ml_adaptive::task_end(unsigned self, task& t) noexcept {
  is_bound(t) ? bound_.task_end(self, t) : ml_adws::task_end(self, t);
}

void ml_adaptive::group_begin(unsigned self, group_info& info) noexcept {
  if (!is_bound(info.owner)) ml_adws::group_begin(self, info);
}

std::unique_ptr<policy> ml_adaptive::make(const std::vector<parameter>& given) {
  parameters p("ml-adaptive", given);
  settings s;
  s.patience = static_cast<unsigned>(p.number("patience", s.patience, 1, 1e6));
  s.near = static_cast<unsigned>(p.number("near", s.near, 0, 1e6));
  s.levels = p.choice("levels", "on|off") == 0;
  s.bound = p.choice("bound", "on|off") == 0;
  p.finish();
  return std::make_unique<ml_adaptive>(s);
}

}  // namespace heddle::policy
