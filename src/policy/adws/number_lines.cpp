#include "policy/adws/number_lines.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace heddle::policy {

void number_lines::start(const scheduler& host) {
  host_ = &host;
  headed_by_.resize(host.workers());
  const machine::view machine = host.machine();
  const bool flat = machine.levels() < 2 || machine.workers() != host.workers();
  flat || kind_ == kind::one ? start_one(host.workers()) : start_levels(machine);
  for (domain& d : lines_) {
    if (by_speed_) d.speeds = speeds_of(d, machine);
  }
}

speed_line number_lines::speeds_of(const domain& d, machine::view machine) const {
  std::vector<double> speeds;
  for (const unsigned which : d.members) {
    double sum = 0;
    const unsigned first = members_[which].head;
    const unsigned count = have_levels() ? machine.group(which).worker_count : 1;
    for (unsigned rank = first; rank < first + count; ++rank) sum += host_->speed(rank);
    speeds.push_back(sum);
  }
  return speed_line(speeds);
}

void number_lines::start_one(unsigned workers) {
  member_count_ = workers;
  members_.reset(new member[workers]);
  lines_.resize(1);
  for (unsigned rank = 0; rank < workers; ++rank) {
    members_[rank].head = rank;
    lines_[0].members.push_back(rank);
    lines_[0].place_of_worker.push_back(rank);
    headed_by_[rank].push_back(rank);
  }
}

void number_lines::start_levels(machine::view machine) {
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
    headed_by_[m.head].push_back(g.id);  // breadth first, so the topmost comes first
  }
  line_of_.resize(groups.size() * levels_);
  for (const machine::memory_group& root : groups) {
    for (unsigned level = root.level; level < levels_; ++level) {
      domain d;
      d.root = root.id;
      d.level = level;
      d.place_of_worker.resize(machine.workers(), 0);
      for (const unsigned id : machine.groups_at(level)) {
        const machine::memory_group& g = machine.group(id);
        if (g.first_worker < root.first_worker || g.first_worker >= root.first_worker + root.worker_count) continue;
        for (unsigned w = 0; w < g.worker_count; ++w)
          d.place_of_worker[g.first_worker + w] = static_cast<unsigned>(d.members.size());
        d.members.push_back(id);
        d.leaf = d.leaf && g.is_leaf();
      }
      line_of_[root.id * levels_ + level] = static_cast<std::uint32_t>(lines_.size());
      lines_.push_back(std::move(d));
    }
  }
}

laid_out number_lines::whole() const noexcept {
  if (line_of_.empty()) return {{0, static_cast<double>(host_->workers())}, not_given, 0, 0, unchanged};
  return {{0, 1}, not_given, 0, line_of_[host_->machine().root().id * levels_], unchanged};
}

// The sum of the capacities at `level` of the memory groups on which the range lies and which are of that level or
// above.
double number_lines::capacity_of(const laid_out& at, unsigned level) const noexcept {
  const machine::view machine = host_->machine();
  const domain& d = lines_[at.domain];
  const unsigned last = std::min(at.range.last(), static_cast<unsigned>(d.members.size() - 1));
  double sum = 0;
  for (unsigned place = at.range.owner(); place <= last; ++place) {
    const std::uint64_t part = machine.capacity_at(machine.group(d.members[place]), level);
    if (part == 0 || part == machine::unlimited) return std::numeric_limits<double>::infinity();
    sum += static_cast<double>(part);
  }
  return sum;
}

void number_lines::descend(unsigned self, laid_out& at, double bytes) const noexcept {
  const domain& now = lines_[at.domain];
  if (now.leaf) return;
  // If the task lies within one memory group, or the rule is that of Algorithm 5.3, the capacity of everything below
  // the group in which the worker lies counts.
  laid_out from = at;
  if (kind_ == kind::by_group || !at.range.is_search_root()) {
    // This is not the member for which the worker acts, because another worker than the head of its memory group may
    // run the task.
    const unsigned which = now.member_of(self);
    if (members_[which].leaf) return;
    from.domain = line_of_[which * levels_ + members_[which].level];
    from.range = {0, 1};
  }
  const domain& top = lines_[from.domain];
  unsigned level = top.level;
  while (level + 1 < levels_ && bytes <= capacity_of(from, level)) ++level;
  if (level == top.level) return;
  const domain& below = lines_[line_of_[top.root * levels_ + level]];
  // The place on the number line of the level below where a place of the upper line begins.
  const auto place_below = [&](unsigned place) {
    if (place >= top.members.size()) return static_cast<double>(below.members.size());
    return static_cast<double>(below.place_of_worker[members_[top.members[place]].head]);
  };
  const unsigned first = std::min(from.range.owner(), static_cast<unsigned>(top.members.size() - 1));
  const auto whole = static_cast<unsigned>(from.range.to);
  const double begin = place_below(whole);
  const double part = from.range.to - whole;
  const double end = below.speeds.is_even() || part <= 0 ? begin + part * (place_below(whole + 1) - begin)
                                                         : below.speeds.cut(begin, place_below(whole + 1), 1 - part);
  at.range = {place_below(first), end};
  at.domain = line_of_[top.root * levels_ + level];
}

}  // namespace heddle::policy
