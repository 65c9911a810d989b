#include "tools/trace/dag_tasks.hpp"

#include <utility>

namespace heddle::trace {

namespace {

constexpr std::uint32_t out = 1;  // the only kind whose tasks exclude each other

}  // namespace

void task_graph::begin_region(std::uint64_t team, const longest_path& at) {
  team_record fresh;
  fresh.start = at;
  teams_[team] = std::move(fresh);
}

task_graph::number task_graph::begin_member(std::uint64_t team, std::uint32_t function) {
  task_record member;
  member.team = team;
  member.function = function;
  member.start = teams_[team].start;
  tasks_.push_back(std::move(member));
  return static_cast<number>(tasks_.size() - 1);
}

void task_graph::make(number by, std::uint64_t id, const longest_path& at, std::uint32_t function, bool awaited) {
  task_record made;
  made.parent = by;
  made.function = function;
  made.team = tasks_[by].team;
  made.group = tasks_[by].group;
  made.awaited = awaited;
  made.start = awaited ? at : at.with_burden(burden_ns_);
  tasks_.push_back(std::move(made));
  by_id_[id] = static_cast<number>(tasks_.size() - 1);
}

void task_graph::follow(number which, const std::vector<number>& before) {
  std::vector<number>& after = tasks_[which].after;
  after.insert(after.end(), before.begin(), before.end());
}

void task_graph::depend(std::uint64_t id, std::uint32_t kind, std::uint64_t address) {
  const number which = known(id);
  if (which == 0) return;
  task_record& parent = tasks_[tasks_[which].parent];
  if (address == 0) {  // all memory: it follows every task of the last sets, and all that comes follows it
    for (auto& [at, p] : parent.places) follow(which, p.now);
    if (parent.everything != 0) follow(which, {parent.everything});
    parent.places.clear();
    parent.everything = which;
    return;
  }
  const auto [found, fresh] = parent.places.try_emplace(address);
  place& p = found->second;
  if (fresh && parent.everything != 0) p = {out, {parent.everything}, {}};
  if (p.now.empty() || p.kind != kind || kind == out) {
    p.before = std::exchange(p.now, {});
    p.kind = kind;
  }
  p.now.push_back(which);
  follow(which, p.before);
}

longest_path task_graph::begin(std::uint64_t id, number& which) {
  which = known(id);
  if (which == 0) return {};
  task_record& it = tasks_[which];
  for (const number p : it.after) it.start.join(tasks_[p].end.with_burden(burden_ns_));
  return it.start;
}

void task_graph::end(std::uint64_t id, number which, const longest_path& at, double work, longest_path& back) {
  if (known(id) == which) by_id_.erase(id);
  task_record& it = tasks_[which];
  it.end = at;
  it.over = true;
  it.work += work;
  it.places.clear();
  const longest_path returns = it.awaited ? at : at.with_burden(burden_ns_);
  // The work of what a task has made is its own, too: that of a task which is over is its maker's.
  number above = it.parent;
  while (above != 0 && tasks_[above].over) above = tasks_[above].parent;
  if (above != 0) tasks_[above].work += it.work;
  tasks_[it.parent].children.join(returns);
  for (std::size_t g = it.group; g != 0; g = groups_[g].outer) groups_[g].ended.join(returns);
  if (it.team != 0) teams_[it.team].tasks.join(returns);
  if (it.awaited) back.join(returns);
}

void task_graph::begin_group(number by) {
  groups_.push_back({tasks_[by].group, {}});
  tasks_[by].group = groups_.size() - 1;
}

void task_graph::end_group(number by) { tasks_[by].group = groups_[tasks_[by].group].outer; }

longest_path task_graph::children(number by, const longest_path& at) const {
  longest_path to = at;
  to.join(tasks_[by].children);
  return to;
}

longest_path task_graph::group(number by, const longest_path& at) const {
  longest_path to = at;
  to.join(groups_[tasks_[by].group].ended);
  return to;
}

longest_path task_graph::predecessors(std::uint64_t id, const longest_path& at) const {
  longest_path to = at;
  for (const number p : tasks_[known(id)].after) to.join(tasks_[p].end.with_burden(burden_ns_));
  return to;
}

void task_graph::arrive(number by, const longest_path& at) {
  team_record& of = teams_[tasks_[by].team];
  const std::size_t barrier = tasks_[by].barriers;
  if (of.arrived.size() <= barrier) of.arrived.resize(barrier + 1);
  of.arrived[barrier].join(at);
}

longest_path task_graph::leave(number by, const longest_path& at) {
  team_record& of = teams_[tasks_[by].team];
  const std::size_t barrier = tasks_[by].barriers++;
  if (of.arrived.size() <= barrier) of.arrived.resize(barrier + 1);  // the recording begins in the wait
  while (of.left.size() <= barrier) {
    of.left.push_back(of.arrived[of.left.size()]);
    of.left.back().join(of.tasks);
  }
  longest_path to = at;
  to.join(of.left[barrier]);
  return to;
}

}  // namespace heddle::trace
