// Multi-level scheduling in which idle workers leave their level: the layout of ml-adws, and work-conserving stealing
// where that leaves a worker without work. It is heddle's own. The ADWS thesis names the idle time of multi-level
// scheduling as its open problem (chapter 7): a memory group runs one root task at a time, and a root task with fewer
// leaves than the group has workers leaves them idle. Rules and invariants: ml_adaptive.md. Measurements:
// docs/investigations/ml-adaptive.md. ml_adaptive_take.cpp says what an idle worker takes.
#include "policy/adws/ml_adaptive.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace heddle::policy {

namespace {

constexpr double even_share = 0.55;   // the largest share of a half in a fork of alike halves: [adaptive:6]
constexpr double unlike_share = 0.6;  // the same, for [adaptive:5]

bool halves_differ(const fork_info& info, double share = even_share) noexcept {
  const double all = info.first + info.second;
  return info.first >= 0 && info.second >= 0 && std::isfinite(all) && std::max(info.first, info.second) > share * all;
}

// The data of a task that has the tag of sb: sb's own, and these fields.
struct bound_task {
  sb::anchored of_sb;  // first, because sb looks for it there
  // The node of its place in the layout, if it is the owner of the outermost space-bounded fork; null for the
  // descendants of such a fork.
  tree_node* laid_out_at;
  unsigned open_forks;  // for such an owner: the number of its forks that have not ended
};
static_assert(std::is_standard_layout_v<bound_task> && offsetof(bound_task, of_sb) == 0,
              "so that sb finds what is its own at the beginning");

bound_task& bound_in(task& t) noexcept { return t.get<bound_task>(); }

// Called after sb has begun its data in the task.
void keep_beside(task& t, tree_node* laid_out_at) noexcept {
  t.keep<bound_task>({t.get<sb::anchored>(), laid_out_at, 0});
}

layout_rules rules_of(const ml_adaptive::settings& given, std::function<void(double bytes)> hears_bytes) {
  layout_rules rules;
  rules.lines = given.levels ? number_lines::kind::by_range : number_lines::kind::one;
  rules.forks_touch = layout_rules::fork_bytes::unknown;             // [adaptive:4]
  rules.announced = layout_rules::announcement::to_head_or_anybody;  // [adaptive:14]
  rules.in_order = false;                                            // [adaptive:2]
  rules.hears_bytes = std::move(hears_bytes);
  return rules;
}

}  // namespace

// The policy stays work-conserving, which is the default: [adaptive:8], [adaptive:9].
ml_adaptive::ml_adaptive(settings given, std::function<void(double bytes)> hears_bytes)
    : settings_(given), layout_(rules_of(given, std::move(hears_bytes))) {}

void ml_adaptive::start(scheduler& host) {
  policy::start(host);
  layout_.start(host);
  search_.start(host);
  const unsigned workers = host.workers();
  searchers_.reset(new searcher[workers]);
  for (unsigned rank = 0; rank < workers; ++rank) {
    searcher& s = searchers_[rank];
    s.patience = settings_.patience;
    s.victims = rings(rank, host, rings::order::by_circle);
  }
  if (layout_.lines().have_levels() && settings_.bound) bound_.start(host);
}

placement ml_adaptive::started(unsigned, const task_info& info) noexcept {
  uneven_.store(false, std::memory_order_relaxed);  // a hint
  return layout_.started(info);
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

// Makes the fork space-bounded if it qualifies. A node of the tree keeps the owner's place meanwhile.
bool ml_adaptive::bind(unsigned self, const fork_info& info) noexcept {
  const number_lines& lines = layout_.lines();
  if (!lines.have_levels() || !settings_.bound || info.bytes == 0 || !halves_differ(info)) return false;
  laid_out next = layout_of(info.owner);
  if (lines.line(next.domain).leaf) return false;
  lines.descend(self, next, static_cast<double>(info.bytes));
  if (lines.line(next.domain).leaf) return false;  // it fits
  tree_node& place = layout_.set_aside(self, info.owner);
  bound_owners_.fetch_add(1);
  bound_.take_in(info.owner);
  bound_tag_.store(info.owner.tag);
  keep_beside(info.owner, &place);
  return true;
}

bool ml_adaptive::fork_begin(unsigned self, const fork_info& info) noexcept {
  return is_bound(info.owner) ? bound_.fork_begin(self, info) : layout_.fork_begin(self, info);
}

placement ml_adaptive::fork(unsigned self, const fork_info& info, const task_info& half) noexcept {
  if (is_bound(info.owner) || bind(self, info)) {
    if (bound_task& owner = bound_in(info.owner); owner.laid_out_at != nullptr) ++owner.open_forks;
    const placement where = bound_.fork(self, info, half);
    keep_beside(half.made, nullptr);
    return where;
  }
  const tree_node& around = node_of(info.owner);
  note_nesting(around, half.label);
  fork_info known = info;
  const fork_shape& own = shape_of(half.label);
  if (own.is_of(half.label) && own.only_cuts.load(std::memory_order_relaxed)) known.bytes = 0;  // a guess
  const bool unlike = halves_differ(info, unlike_share);
  // a hint
  if (unlike && known.bytes == 0 && around.label == half.label && around.unlike)
    uneven_.store(true, std::memory_order_relaxed);
  const placement where = layout_.fork(self, known, half);
  node_of(info.owner).unlike = unlike;
  return where;
}

void ml_adaptive::fork_wait(unsigned, task& owner) noexcept {
  if (!is_bound(owner)) layout_.fork_wait(owner);
}

placement ml_adaptive::fork_end(unsigned self, task& owner, std::uint64_t) noexcept {
  if (is_bound(owner)) {
    bound_task& kept = bound_in(owner);
    if (kept.laid_out_at == nullptr || --kept.open_forks != 0) return placement::stay;
    bound_owners_.fetch_sub(1);
    return layout_.take_back(self, owner, *kept.laid_out_at);
  }
  const tree_node& n = node_of(owner);
  if (n.before.tag->label != n.label) {  // the outermost fork of its place in the program
    fork_shape& own = shape_of(n.label);
    if (!own.is_of(n.label)) own.begin(n.label, false);
    if (!own.nests.load(std::memory_order_relaxed)) own.only_cuts.store(true, std::memory_order_relaxed);  // guesses
  }
  return layout_.fork_end(self, owner);
}

placement ml_adaptive::spawn(unsigned self, const task_info& info) noexcept {
  if (!is_bound(*info.parent)) return layout_.spawn(self, info);
  const placement where = bound_.spawn(self, info);
  keep_beside(info.made, nullptr);
  return where;
}

void ml_adaptive::enqueue(unsigned self, task& t) noexcept {
  is_bound(t) ? bound_.enqueue(self, t) : layout_.enqueue(t);
}

placement ml_adaptive::ready(unsigned self, task& t) noexcept {
  return is_bound(t) ? bound_.ready(self, t) : layout_.ready(t);
}

void ml_adaptive::task_end(unsigned self, task& t) noexcept {
  is_bound(t) ? bound_.task_end(self, t) : layout_.task_end(t);
}

void ml_adaptive::group_begin(unsigned self, group_info& info) noexcept {
  if (!is_bound(info.owner)) layout_.group_begin(self, info);
}

std::unique_ptr<policy> ml_adaptive::make(parameters& given) {
  settings s;
  s.patience = given.whole("patience", s.patience, 1, 1e6);
  s.near = given.whole("near", s.near, 0, 1e6);
  s.levels = given.choice("levels", "on|off") == 0;
  s.bound = given.choice("bound", "on|off") == 0;
  return create<ml_adaptive>(s);
}

}  // namespace heddle::policy
