// Constrained work stealing, third part: where iterations begin and end, and what is made of their records. Source and
// deviations: constrained_ws.cpp; invariants: constrained_ws.md.
#include <algorithm>
#include <utility>

#include "policy/constrained_ws.hpp"
#include "policy/constrained_ws_tasks.hpp"

namespace heddle::policy {

namespace {

constexpr unsigned longest_relapse = 64;

}  // namespace

constrained_ws::site& constrained_ws::site_of(const void* label) noexcept {
  for (unsigned i = 0; i < most_sites; ++i) {
    if (sites_[i].label == label) return sites_[i];
  }
  site& s = sites_[next_site_];
  next_site_ = (next_site_ + 1) % most_sites;
  s.label = label;
  s.has_tree = s.said_strict = false;
  s.relaxed_left = settings_.relaxed;
  s.misfits = 0;
  return s;
}

// Makes `owner` the root of an iteration of the site `label`; `root` is its node. False: another iteration runs.
bool constrained_ws::begin_iteration(unsigned self, task& owner, const void* label, steal_node* root) noexcept {
  bool free = !busy_.exchange(true);
  if (!free && closing_.exchange(false)) {  // whoever resets it has the old iteration
    free = !has_strays();
    if (free) conclude(self);
    else closing_.store(true);
  }
  if (!free) {
    steal_nodes::give(stations_[self].nodes, *root);
    return false;
  }
  site& s = site_of(label);
  current_ = &s;
  mode as = !s.has_tree ? mode::record : mode::relaxed;
  if (s.has_tree && settings_.how != replay::relws && s.relaxed_left == 0 && s.tree.pieces() != 0) as = mode::strict;
  for (unsigned rank = 0; rank < workers_; ++rank) {
    station& of = stations_[rank];
    of.met = 0;
    of.begun.store(0, std::memory_order_relaxed);  // published with the first task, as below
    of.left.store(as == mode::record ? 0 : s.tree.pieces_of(rank), std::memory_order_relaxed);  // published with mode_
  }
  opener_ = nullptr;
  misfits_.store(0, std::memory_order_relaxed);  // published with the first task
  root->id = root_identity;
  root->parent = root->first_child = root->sibling = nullptr;
  root->worker = self;
  root->inner.store(true, std::memory_order_relaxed);  // published with the first task
  root_ = root;
  owner.word = &inside_;
  owner.keep<in_iteration>({root_identity, root, 0, self, nobody, 0, 0, in_iteration::root});
  if (as == mode::strict) {
    loosened_.store(settings_.how == replay::stuws || s.tree.root_worker() != self);
    if (!s.said_strict) host_->remark(self, "constrained_ws: strict replay from here on; pieces", s.tree.pieces());
    s.said_strict = true;
  }
  root_home_.store(as == mode::strict ? s.tree.root_worker() : self);
  mode_.store(as);
  return true;
}

// Tasks of the iteration are alive, beside its root. Ends are read before beginnings: if the sums are equal, nothing
// was alive at the moment between the two passes.
bool constrained_ws::has_strays() const noexcept {
  std::uint64_t ended = 0, made = 0;
  // pairs with task_end: what it made
  for (unsigned rank = 0; rank < workers_; ++rank) ended += stations_[rank].ended.load(std::memory_order_acquire);
  // ordered by the acquire above
  for (unsigned rank = 0; rank < workers_; ++rank) made += stations_[rank].made.load(std::memory_order_relaxed);
  return made != ended;
}

// Sends the root to the worker of the record, so that it begins the next iteration there.
placement constrained_ws::end_iteration(unsigned self, task& owner) noexcept {
  owner.word = &outside_;
  if (has_strays()) {  // a child of an older group
    closing_.store(true);
    return placement::stay;
  }
  const unsigned home = root_home_.load();
  conclude(self);
  return home == self ? placement::stay : send_to(owner, home, kept_slot);
}

void constrained_ws::conclude(unsigned self) noexcept {
  mode_.load() == mode::strict ? conclude_strict(self) : conclude_record(self);
  mode_.store(mode::none);
  busy_.store(false);
}

void constrained_ws::conclude_record(unsigned self) noexcept {
  site& s = *current_;
  steal_node* used = next_tree_.build(*root_, workers_);
  const std::size_t kept = s.has_tree ? next_tree_.shared_with(s.tree) : 0;
  std::swap(s.tree, next_tree_);
  nodes_.give_back(used);
  if (!s.has_tree) {
    host_->remark(self, "constrained_ws: first iteration recorded; pieces", s.tree.pieces());
  } else {
    host_->remark(self, "constrained_ws: RelWS iteration; pieces that moved", s.tree.pieces() - kept);
    if (s.relaxed_left > 0) --s.relaxed_left;
  }
  s.has_tree = true;
}

void constrained_ws::conclude_strict(unsigned self) noexcept {
  site& s = *current_;
  nodes_.give_back(root_);
  std::size_t met = 0;
  for (unsigned rank = 0; rank < workers_; ++rank) met += stations_[rank].met;
  // after all joins
  const std::size_t unfit = misfits_.load(std::memory_order_relaxed) + (s.tree.size() - std::min(met, s.tree.size()));
  if (unfit == 0) {
    s.misfits = 0;
    return;
  }
  s.relaxed_left = std::min(1u << std::min(s.misfits, 30u), longest_relapse);
  ++s.misfits;
  s.said_strict = false;
  host_->remark(self, "constrained_ws: record abandoned, RelWS again; tasks unknown or missing", unfit);
}

}  // namespace heddle::policy
