// The beginnings and ends of the iterations of constrained_ws. The rest: constrained_ws.cpp.
#include "policy/iterations/constrained_ws.hpp"
#include "policy/iterations/constrained_ws_tasks.hpp"

namespace heddle::policy {

// Makes `owner` the root of an iteration of the site `label`; `root` is its node. Returns false if another iteration
// runs.
bool constrained_ws::begin_iteration(unsigned self, task& owner, const void* label, steal_node* root) noexcept {
  return iterations_.begin(self, label, *root, [&](mode as) {
    for (unsigned rank = 0; rank < workers_; ++rank) {
      station& of = stations_[rank];
      of.begun.store(0, std::memory_order_relaxed);  // relaxed: published with the first task, as below
      // relaxed: published with the mode
      of.left.store(as == mode::record ? 0 : iterations_.pieces_of(rank), std::memory_order_relaxed);
    }
    opener_ = nullptr;
    owner.tag = &inside_;
    owner.keep<in_iteration>({root_identity, root, 0, self, nobody, 0, 0, in_iteration::root});
  });
}

// Sends the root to the worker of the record, so that the root begins the next iteration there.
placement constrained_ws::end_iteration(unsigned self, task& owner) noexcept {
  owner.tag = &outside_;
  const unsigned home = iterations_.root_home();
  if (!iterations_.end(self)) return placement::stay;
  return home == self ? placement::stay : send_to(owner, home, kept_slot);
}

// A mark ends the iteration that is under way, however it began. The next one begins with the first group or fork after
// the mark, when its root is where the record has it. A mark within a fork comes too early, because the fork ends
// later.
placement constrained_ws::next_iteration(unsigned self, task& owner, const void* label) noexcept {
  placement where = placement::stay;
  if (owner.tag == &inside_) {
    const in_iteration& at = state_of(owner);
    if (!at.is(in_iteration::root) || at.forks != 0) return placement::stay;
    where = end_iteration(self, owner);
  }
  if (owner.tag != &outside_ && owner.tag != &marked_) return placement::stay;
  owner.tag = &marked_;
  owner.keep(label);
  return where;
}

// If another iteration runs, or tasks of an older one live, nothing is recorded up to the next mark, because half of an
// iteration would be a record that fits none.
void constrained_ws::begin_marked(unsigned self, task& owner) noexcept {
  const void* label = owner.get<const void*>();
  if (label == nullptr) return;
  owner.keep<const void*>(nullptr);
  if (!iterations_.may_begin()) return;
  steal_node* root = iterations_.take_node(self);
  if (root != nullptr && begin_iteration(self, owner, label, root)) opener_ = &marked_;
}

}  // namespace heddle::policy
