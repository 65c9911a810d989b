#include "policy/levels/machine_part.hpp"

#include <algorithm>
#include <cstddef>

namespace heddle::policy {

namespace {

std::vector<unsigned> leaves_below(machine::view whole, unsigned root) {
  std::vector<unsigned> leaves;
  const machine::memory_group& all = whole.group(root);
  for (unsigned w = 0; w < all.worker_count; ++w) {
    const unsigned id = whole.leaf_of(all.first_worker + w).id;
    if (leaves.empty() || leaves.back() != id) leaves.push_back(id);
  }
  return leaves;
}

}  // namespace

std::vector<unsigned> groups_of_kind(machine::view whole, unsigned root, machine::group_kind kind) {
  std::vector<unsigned> found;
  const machine::memory_group& all = whole.group(root);
  for (unsigned w = all.first_worker; w < all.first_worker + all.worker_count;) {
    const machine::memory_group* member = &whole.leaf_of(w);
    for (const machine::memory_group* g = member; g->id != root; g = &whole.group(g->parent)) {
      if (g->kind == kind) member = g;
    }
    found.push_back(member->id);
    w = member->first_worker + member->worker_count;
  }
  return found;
}

machine_part::machine_part(machine::view whole, unsigned root) { copy(whole, root, leaves_below(whole, root)); }

machine_part::machine_part(machine::view whole, unsigned root, const std::vector<unsigned>& members) {
  copy(whole, root, members);
  for (machine::memory_group& g : groups_) {
    // From the member that holds the group's first worker to the one that holds its last; each member is a worker in
    // the new machine.
    const auto place = [&](unsigned worker) {
      unsigned i = 0;
      while (!whole.group(members[i]).has(worker)) ++i;
      return i;
    };
    const unsigned begin = whole.group(root).first_worker + g.first_worker;
    g.first_worker = place(begin);
    g.worker_count = place(begin + g.worker_count - 1) + 1 - g.first_worker;
    if (g.is_leaf()) leaves_[g.first_worker] = g.id;
  }
  leaves_.resize(members.size());
  units_.clear();
  for (const unsigned id : members) {
    const machine::memory_group& g = whole.group(id);
    units_.push_back(whole.unit_of(g.first_worker));
    double speed = 0;
    for (unsigned w = 0; w < g.worker_count; ++w) speed += whole.unit_of(g.first_worker + w).speed;
    units_.back().speed = speed / g.worker_count;
  }
}

void machine_part::copy(machine::view whole, unsigned root, const std::vector<unsigned>& members) {
  const machine::memory_group& all = whole.group(root);
  std::vector<unsigned> ids{root};  // ids of the whole machine, in the new order
  for (std::size_t i = 0; i < ids.size(); ++i) {
    machine::memory_group g = whole.group(ids[i]);
    const bool is_member = std::find(members.begin(), members.end(), g.id) != members.end();
    g.first_child = static_cast<unsigned>(ids.size());
    if (is_member) g.child_count = g.first_child = 0;
    else
      for (const machine::memory_group& child : whole.children(whole.group(ids[i]))) ids.push_back(child.id);
    g.id = static_cast<unsigned>(i);
    g.level -= all.level;
    g.first_worker -= all.first_worker;
    groups_.push_back(g);
  }
  for (machine::memory_group& g : groups_) {
    for (unsigned c = 0; c < g.child_count; ++c) groups_[g.first_child + c].parent = g.id;
  }
  machine::memory_group& top = groups_.front();
  top.parent = machine::no_group;
  top.kind = machine::group_kind::memory;  // policies take the root for the memory
  top.capacity = machine::unlimited;
  leaves_.resize(all.worker_count);
  for (const machine::memory_group& g : groups_) {
    for (unsigned w = 0; g.is_leaf() && w < g.worker_count; ++w) leaves_[g.first_worker + w] = g.id;
  }
  for (unsigned w = 0; w < all.worker_count; ++w) units_.push_back(whole.unit_of(all.first_worker + w));
}

}  // namespace heddle::policy
