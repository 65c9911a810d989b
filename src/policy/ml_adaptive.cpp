// Multi-level scheduling whose idle workers leave their level: the layout of ml-adws, and, where that leaves a
// worker without work, greedy stealing. Ours. The ADWS thesis names the idle time of multi-level scheduling as its
// open problem (chapter 7): a memory group runs one root task at a time, and a root task with fewer leaves than the
// group has workers leaves them idle. Rules and invariants: ml_adaptive.md. What was measured:
// docs/investigations/ml-adaptive.md. What an idle worker takes is in ml_adaptive_take.cpp.
#include "policy/ml_adaptive.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

namespace heddle::policy {

namespace {

constexpr double even_share = 0.55;   // of the larger half, at most: [adaptive:6]
constexpr double unlike_share = 0.6;  // the same, for [adaptive:5]

bool halves_differ(const fork_info& info, double share = even_share) noexcept {
  const double all = info.first + info.second;
  return info.first >= 0 && info.second >= 0 && std::isfinite(all) && std::max(info.first, info.second) > share * all;
}

// What is kept of a task that has the word of sb.
struct bound_task {
  sb::anchored of_sb;  // first: where sb looks for it
  // Where it was laid out, if it is the owner of the outermost space-bounded fork; null for the descendants of such a
  // fork.
  tree_node* laid_out_at;
};
static_assert(std::is_standard_layout_v<bound_task>, "so that the first member lies at the beginning");

tree_node*& kept_of(task& t) noexcept { return t.get<bound_task>().laid_out_at; }

// The halves of the fork that this node is of were unlike. The field is free: a fork has no hints of children to sum
// up.
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
    s.victims = rings(rank, host, rings::order::by_circle);
  }
  if (domains_.size() > 1 && settings_.bound) bound_.start(host);
}

placement ml_adaptive::started(unsigned self, const task_info& info) noexcept {
  uneven_.store(false, std::memory_order_relaxed);  // a hint
  return ml_adws::started(self, info);
}

// --- forks that only cut: [adaptive:4] ---------------------------------------------------------------------------

ml_adaptive::fork_shape& ml_adaptive::shape_of(const void* label) noexcept {
  return shapes_[static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(label) * 0x9e3779b97f4a7c15u) >> 56)];
}

void ml_adaptive::note_nesting(const tree_node& above, const void* label) noexcept {
  if (above.label == nullptr || above.label == label) return;
  fork_shape& outer = shape_of(above.label);
  if (outer.is_of(above.label) && outer.nests.load(std::memory_order_relaxed)) return;  // a guess
  outer.begin(above.label, true);
}

// --- forks that are space-bounded: [adaptive:6] ------------------------------------------------------------------

// The fork becomes space-bounded, if it is one for that. A node of the tree keeps the owner's place meanwhile.
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
  bound_.take_in(info.owner);
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
  if (members_[back].head != self) return send_to(owner, back, search_root_slot);
  adopt(self, owner);
  return placement::stay;
}

bool ml_adaptive::fork_begin(unsigned self, const fork_info& info) noexcept {
  return is_bound(info.owner) ? bound_.fork_begin(self, info) : ml_adws::fork_begin(self, info);
}

placement ml_adaptive::fork(unsigned self, const fork_info& info, const task_info& half) noexcept {
  if (is_bound(info.owner) || bind(self, info)) {
    if (tree_node* kept = kept_of(info.owner); kept != nullptr) ++kept->expected;
    const placement where = bound_.fork(self, info, half);
    kept_of(half.made) = nullptr;
    return where;
  }
  note_nesting(*static_cast<const tree_node*>(info.owner.word), half.label);
  fork_info known = info;
  const fork_shape& own = shape_of(half.label);
  if (own.is_of(half.label) && own.only_cuts.load(std::memory_order_relaxed)) known.bytes = 0;  // a guess
  const auto& around = *static_cast<const tree_node*>(info.owner.word);
  const bool unlike = halves_differ(info, unlike_share);
  // a hint
  if (unlike && known.bytes == 0 && around.label == half.label && is_unlike(around))
    uneven_.store(true, std::memory_order_relaxed);
  const placement where = ml_adws::fork(self, known, half);
  auto& own_node = *static_cast<tree_node*>(info.owner.word);
  own_node.label = half.label;
  note_unlike(own_node, unlike);
  return where;
}

void ml_adaptive::fork_wait(unsigned self, task& owner) noexcept {
  if (!is_bound(owner)) ml_adws::fork_wait(self, owner);
}

placement ml_adaptive::fork_end(unsigned self, task& owner) noexcept {
  if (is_bound(owner)) {
    tree_node* kept = kept_of(owner);
    return kept != nullptr && --kept->expected == 0 ? unbind(self, owner, *kept) : placement::stay;
  }
  const auto* n = static_cast<const tree_node*>(owner.word);
  if (n->parent.load(std::memory_order_relaxed)->label != n->label) {  // its own node; the outermost fork of its place
    fork_shape& own = shape_of(n->label);
    if (!own.is_of(n->label)) own.begin(n->label, false);
    if (!own.nests.load(std::memory_order_relaxed)) own.only_cuts.store(true, std::memory_order_relaxed);  // guesses
  }
  return ml_adws::fork_end(self, owner);
}

placement ml_adaptive::spawn(unsigned self, const task_info& info) noexcept {
  if (!is_bound(*info.parent)) return ml_adws::spawn(self, info);
  const placement where = bound_.spawn(self, info);
  kept_of(info.made) = nullptr;
  return where;
}

void ml_adaptive::place(unsigned self, task& t) noexcept {
  is_bound(t) ? bound_.place(self, t) : ml_adws::place(self, t);
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

std::unique_ptr<policy> ml_adaptive::make(parameters& given) {
  settings s;
  s.patience = static_cast<unsigned>(given.number("patience", s.patience, 1, 1e6));
  s.near = static_cast<unsigned>(given.number("near", s.near, 0, 1e6));
  s.levels = given.choice("levels", "on|off") == 0;
  s.bound = given.choice("bound", "on|off") == 0;
  return create<ml_adaptive>(s);
}

}  // namespace heddle::policy
