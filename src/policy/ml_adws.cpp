// Multi-level almost deterministic work stealing: ADWS among the memory groups of a level, and within a group, once
// a task's data fits there, among its children. So what runs under a cache at the same time fits into it.
// Introduction: adws.md.
//
// Source: Shiina, "Efficient thread scheduling strategies for nested parallel programs" (2021), sections 5.3 and
// 5.4, Algorithms 5.2 and 5.3. What is said of single-level ADWS at the head of adws.cpp holds here at each level.
//
// Both rules for the capacity that a group of tasks is compared with ("memory group aggregation") are there.
// aggregation=range is that of section 5.3.3, by which the thesis was measured: it sums the capacities over the
// memory groups of the present distribution range. aggregation=group is lines 4 - 10 as printed, which sum over the
// present memory group's descendants.
//
// Deviations, and why:
// - A range that begins inside a memory group and goes down begins with that group's first child: the owner is the
//   group's head, and so need not move.
// - Bytes that are not given. The child of a group whose bytes are known has its share of them by work. Otherwise
//   nothing is known, and such a task goes down to the leaves at once, which is single-level ADWS. (If it stayed
//   above, one worker would run all of it.)
// - A worker also acts for members below its own level, but not above the innermost group that it has opened. A
//   group that skips a level passes tasks to workers which the algorithm as printed leaves at that level.
// - A capacity that the machine does not tell counts as unlimited.
// - Thieves walk up the tree to the end of their level, for groups of other levels are no victims of theirs.
// - When no worker runs anything, a worker takes what waits at another of its levels (adws::rescue). Tasks that wait
//   for each other otherwise than by groups would hang without that.
#include "policy/ml_adws.hpp"

namespace heddle::policy {

void ml_adws::survey() {
  const machine::view machine = host_->machine();
  if (machine.levels() < 2 || machine.workers() != host_->workers()) return adws::survey();
  const std::span<const machine::memory_group> groups = machine.groups();
  levels_ = machine.levels();
  member_count_ = static_cast<unsigned>(groups.size());
  members_.reset(new member[member_count_]);
  for (const machine::memory_group& g : groups) {
    member& m = members_[g.id];
    m.head = g.first_worker;
    m.level = g.level;
    m.capacity = g.capacity;
    m.leaf = g.is_leaf();
    stations_[m.head].heads.push_back(g.id);  // breadth first: the topmost comes first
  }
  for (unsigned rank = 0; rank < host_->workers(); ++rank) {
    stations_[rank].acts_for = stations_[rank].heads.front();
    stations_[rank].base = members_[stations_[rank].heads.front()].level;
  }
  domain_of_.resize(groups.size() * levels_);
  for (const machine::memory_group& root : groups) {
    for (unsigned level = root.level; level < levels_; ++level) {
      domain d;
      d.root = root.id;
      d.level = level;
      d.place_of_worker.resize(host_->workers(), 0);
      for (const unsigned id : machine.groups_at(level)) {
        const machine::memory_group& g = machine.group(id);
        if (g.first_worker < root.first_worker || g.first_worker >= root.first_worker + root.worker_count) continue;
        for (unsigned w = 0; w < g.worker_count; ++w)
          d.place_of_worker[g.first_worker + w] = static_cast<unsigned>(d.members.size());
        d.members.push_back(id);
        d.leaf = d.leaf && g.is_leaf();
      }
      domain_of_[root.id * levels_ + level] = static_cast<std::uint32_t>(domains_.size());
      domains_.push_back(std::move(d));
    }
  }
}

laid_out ml_adws::root_layout() const noexcept {
  if (levels_ == 1) return adws::root_layout();
  return {{0, 1}, not_given, 0, domain_of_[host_->machine().root().id * levels_], unchanged};
}

// The sum of the capacities at `level` of the memory groups that the range lies on, which are of that level or above.
double ml_adws::capacity_of(const laid_out& at, unsigned level) const noexcept {
  const machine::view machine = host_->machine();
  const domain& d = domains_[at.domain];
  const unsigned last = std::min(at.range.last(), static_cast<unsigned>(d.members.size() - 1));
  double sum = 0;
  for (unsigned place = at.range.owner(); place <= last; ++place) {
    const std::uint64_t part = machine.capacity_at(machine.group(d.members[place]), level);
    if (part == 0 || part == machine::unlimited) return std::numeric_limits<double>::infinity();
    sum += static_cast<double>(part);
  }
  return sum;
}

void ml_adws::descend(unsigned self, laid_out& at, double bytes) const noexcept {
  const domain& now = domains_[at.domain];
  if (now.leaf) return;
  // The task lies within one memory group, or the rule is that of Algorithm 5.3: what counts is all that is below
  // the group in which the worker lies.
  laid_out from = at;
  if (rule_ == aggregation::group || !at.range.is_search_root()) {
    // not acts_for(self): the task may be run by another worker than the head of its memory group
    const unsigned which = now.members[now.place_of_worker[self]];
    if (members_[which].leaf) return;
    from.domain = domain_of_[which * levels_ + members_[which].level];
    from.range = {0, 1};
  }
  const domain& top = domains_[from.domain];
  unsigned level = top.level;
  while (level + 1 < levels_ && bytes <= capacity_of(from, level)) ++level;
  if (level == top.level) return;
  const domain& below = domains_[domain_of_[top.root * levels_ + level]];
  // Where a place of the upper number line begins on that of the level below.
  const auto place_below = [&](unsigned place) {
    if (place >= top.members.size()) return static_cast<double>(below.members.size());
    return static_cast<double>(below.place_of_worker[members_[top.members[place]].head]);
  };
  const unsigned first = std::min(from.range.owner(), static_cast<unsigned>(top.members.size() - 1));
  const auto whole = static_cast<unsigned>(from.range.to);
  const double begin = place_below(whole);
  at.range = {place_below(first), begin + (from.range.to - whole) * (place_below(whole + 1) - begin)};
  at.domain = domain_of_[top.root * levels_ + level];
}

std::unique_ptr<policy> ml_adws::make(parameters& given) {
  const bool by_group = given.choice("aggregation", "range|group") == 1;
  const bool steals = given.choice("steal", "on|off") == 0;
  return create<ml_adws>(by_group ? aggregation::group : aggregation::range, steals);
}

}  // namespace heddle::policy
