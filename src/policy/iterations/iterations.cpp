#include "policy/iterations/iterations.hpp"

#include <algorithm>
#include <utility>

namespace heddle::policy {

namespace {

constexpr unsigned longest_relapse = 64;

}  // namespace

void iterations::start(scheduler& host) {
  host_ = &host;
  accounts_.reset(new account[host.workers()]);
  sites_.reset(new site[most_sites]);
}

iterations::site& iterations::site_of(const void* label) noexcept {
  for (unsigned i = 0; i < most_sites; ++i) {
    if (sites_[i].label == label) return sites_[i];
  }
  site& s = sites_[next_site_];
  next_site_ = (next_site_ + 1) % most_sites;
  s.label = label;
  s.has_tree = s.said_strict = false;
  s.relaxed_left = rules_.relaxed;
  s.misfits = 0;
  return s;
}

// --- beginning and end -------------------------------------------------------------------------------------------

// A caller that gets true holds busy_ until the iteration that it begins has ended.
bool iterations::occupy(unsigned self) noexcept {
  bool free = !busy_.exchange(true);
  if (!free && closing_.exchange(false)) {  // the worker that resets it has the old iteration
    free = !has_strays();
    if (free) conclude(self);
    else closing_.store(true);
  }
  return free;
}

iterations::mode iterations::choose(const void* label) noexcept {
  site& s = site_of(label);
  current_ = &s;
  if (!s.has_tree) return mode::record;
  return rules_.strict && s.relaxed_left == 0 && s.tree.pieces() != 0 ? mode::strict : mode::relaxed;
}

void iterations::open(unsigned self, steal_node& root, mode as) noexcept {
  site& s = *current_;
  misfits_.store(0, std::memory_order_relaxed);  // relaxed: published with the first task
  root.id = root_identity;
  root.parent = root.first_child = root.sibling = nullptr;
  root.worker = self;
  root.inner.store(true, std::memory_order_relaxed);  // relaxed: published with the first task
  root_ = &root;
  if (as == mode::strict) {
    loosened_.store(!rules_.ordered || s.tree.root_worker() != self);
    if (!s.said_strict) host_->remark(self, rules_.says.strict, s.tree.pieces());
    s.said_strict = true;
  }
  root_home_.store(as == mode::strict ? s.tree.root_worker() : self);
  mode_.store(as);
}

// Returns whether tasks of the iteration, apart from its root, are alive. Ends are read before beginnings. So if the
// sums are equal, no task was alive at the moment between the two passes.
bool iterations::has_strays() const noexcept {
  std::uint64_t ended = 0, made = 0;
  const unsigned workers = host_->workers();
  // pairs with iterations::ended: makes the tasks that it made visible
  for (unsigned rank = 0; rank < workers; ++rank) ended += accounts_[rank].ended.load(std::memory_order_acquire);
  // relaxed: ordered by the acquire above
  for (unsigned rank = 0; rank < workers; ++rank) made += accounts_[rank].made.load(std::memory_order_relaxed);
  return made != ended;
}

bool iterations::end(unsigned self) noexcept {
  if (has_strays()) {  // a child of an older group is alive
    closing_.store(true);
    return false;
  }
  conclude(self);
  busy_.store(false);
  return true;
}

void iterations::conclude(unsigned self) noexcept {
  mode_.load() == mode::strict ? conclude_strict(self) : conclude_record(self);
  mode_.store(mode::none);
}

void iterations::conclude_record(unsigned self) noexcept {
  site& s = *current_;
  steal_node* used = next_tree_.build(*root_, host_->workers());
  const std::size_t kept = s.has_tree ? next_tree_.shared_with(s.tree) : 0;
  std::swap(s.tree, next_tree_);
  nodes_.give_back(used);
  if (!s.has_tree) {
    host_->remark(self, rules_.says.recorded, s.tree.pieces());
  } else {
    host_->remark(self, rules_.says.relaxed, s.tree.pieces() - kept);
    if (s.relaxed_left > 0) --s.relaxed_left;
  }
  s.has_tree = true;
}

void iterations::conclude_strict(unsigned self) noexcept {
  site& s = *current_;
  nodes_.give_back(root_);
  std::size_t met = 0;
  for (unsigned rank = 0; rank < host_->workers(); ++rank) met += accounts_[rank].met;
  // relaxed: read after all joins
  const std::size_t unfit = misfits_.load(std::memory_order_relaxed) + (s.tree.size() - std::min(met, s.tree.size()));
  if (unfit == 0) {
    s.misfits = 0;
    return;
  }
  s.relaxed_left = std::min(1u << std::min(s.misfits, 30u), longest_relapse);
  ++s.misfits;
  s.said_strict = false;
  host_->remark(self, rules_.says.abandoned, unfit);
}

// --- nodes -------------------------------------------------------------------------------------------------------

void iterations::note_child(steal_node& parent, steal_node& child, std::uint64_t identity) noexcept {
  child.id = identity;
  child.parent = &parent;
  child.first_child = nullptr;
  child.sibling = parent.first_child;
  child.worker = nobody;
  child.order = 0;
  child.inner.store(false, std::memory_order_relaxed);  // relaxed: published with the task
  parent.first_child = &child;
}

void iterations::note_end(unsigned self, steal_node& n) noexcept {
  if (n.inner.load(std::memory_order_relaxed)) return;  // relaxed: descendants have been joined
  while (n.first_child != nullptr) {
    steal_node* child = n.first_child;
    n.first_child = child->sibling;
    give_node(self, *child);
  }
}

}  // namespace heddle::policy
