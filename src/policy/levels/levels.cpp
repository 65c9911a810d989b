// A policy of its own at each level of the machine: `levels:l3=adws,l2=random_ws` lays tasks out among the groups that
// share a third-level cache, and lets the workers of each such group steal from each other. levels.md has the rules,
// the invariants, and what a level's policy sees. levels_take.cpp says what a worker takes next. A stage stands between
// `levels` and each inner policy (stage.hpp).
//
// Source: Shiina, "Efficient thread scheduling strategies for nested parallel programs" (2021), section 5.3: "different
// scheduling policies can be adopted at each memory level". The thesis evaluates equal policies only.
//
// Deviations, and why:
// - Any worker of a memory group acts for it, one at a time, whatever the policy. In the thesis, under ADWS, the worker
//   of the smallest rank does.
// - A child made above the innermost level is queued, as a task, even if its policy says child first, because the
//   worker's own queue belongs to the level below.
// - A task goes down when its bytes fit into the memory group that took it, as in Algorithm 5.3. If the bytes are not
//   given, it goes down when it is a small part of its root's work: one of `pieces` for each group. In the thesis such
//   a task goes down at once, to leaves that belong to the whole machine. Here it would keep all other groups idle.
// - There is no aggregation: a task that fits into several groups together is laid out over all of them.
#include "policy/levels/levels.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "policy/registry.hpp"

namespace heddle::policy {

namespace {

constexpr machine::group_kind kinds[] = {machine::group_kind::numa, machine::group_kind::l5, machine::group_kind::l4,
                                         machine::group_kind::l3,   machine::group_kind::l2, machine::group_kind::l1,
                                         machine::group_kind::unit};

}  // namespace

levels::levels(std::vector<line> lines, unsigned pieces) : lines_(std::move(lines)), pieces_(pieces) {
  wants_.work_conserving = false;
}

// --- the stages --------------------------------------------------------------------------------------------------

void levels::build(unsigned level, unsigned root, const std::vector<line>& used) {
  scheduler& host = *host_;
  const machine::view whole = host.machine();
  const bool known = whole.is_known() && whole.workers() == host.workers();
  std::unique_ptr<policy> inner = heddle::policy::make(used[level].name);
  if (level + 1 == used.size()) {
    const unsigned first = known ? whole.group(root).first_worker : 0;
    const unsigned count = known ? whole.group(root).worker_count : host.workers();
    stages_.push_back(std::make_unique<stage>(host, level, std::move(inner), first, count,
                                              known ? machine_part(whole, root) : machine_part()));
    inner_.push_back(stages_.back().get());
  } else {
    const std::vector<unsigned> members = groups_of_kind(whole, root, used[level].kind);
    std::vector<unsigned> first;
    std::vector<double> capacities;
    for (const unsigned id : members) {
      const machine::memory_group& g = whole.group(id);
      first.push_back(g.first_worker);
      capacities.push_back(g.capacity == machine::unlimited ? 0 : static_cast<double>(g.capacity));
    }
    const machine::memory_group& all = whole.group(root);
    stages_.push_back(std::make_unique<stage>(host, level, std::move(inner), first, all.first_worker + all.worker_count,
                                              std::move(capacities), machine_part(whole, root, members)));
  }
  stage& made = *stages_.back();
  made.begin();
  if (const policy_wants& w = made.wants(); w.usage || w.changes || w.beats || w.asks || w.elapsed || w.running) {
    throw std::invalid_argument("policy levels: " + std::string(used[level].name) +
                                " wants measured figures or requests by name, which no level has; take the policy " +
                                std::string(used[level].name) + " itself");
  }
  for (unsigned rank = 0; rank < host.workers(); ++rank) {
    if (made.has(rank)) stations_[rank].stages.push_back(&made);
  }
  if (made.is_innermost()) return;
  for (const unsigned id : groups_of_kind(whole, root, used[level].kind)) build(level + 1, id, used);
}

// A kind is ignored if the machine has no group of it, or one group for all workers. But the innermost line is for the
// workers of whatever is above it.
void levels::start(scheduler& host) {
  policy::start(host);
  stations_.reset(new station[host.workers()]);
  const machine::view whole = host.machine();
  std::vector<line> used;
  for (std::size_t i = 0; i + 1 < lines_.size() && whole.is_known() && whole.workers() == host.workers(); ++i) {
    if (groups_of_kind(whole, whole.root().id, lines_[i].kind).size() < 2) continue;
    const bool is_there = std::any_of(whole.groups().begin(), whole.groups().end(),
                                      [&](const machine::memory_group& g) { return g.kind == lines_[i].kind; });
    if (is_there) used.push_back(lines_[i]);
  }
  used.push_back(lines_.back());
  count_ = static_cast<unsigned>(used.size());
  build(0, 0, used);
  const policy_wants& last = inner_.front()->wants();
  const bool above = count_ > 1;
  wants_.spawns = above || last.spawns;
  wants_.forks = above || last.forks;
  wants_.groups = above || last.groups;
  wants_.limits = above || last.limits;
  wants_.preemptions = above;
  wants_.iterations = stages_.front()->wants().iterations;
}

// --- records -----------------------------------------------------------------------------------------------------

level_task* levels::new_record(unsigned self, stage& in, task& real, const void* label) noexcept {
  level_task* none = nullptr;
  level_task* r = records_.take(self != nobody ? stations_[self].free : none);
  if (r == nullptr) return nullptr;
  if (self == nobody) records_.give_back(none);  // gives back the other nodes that came with it
  begin_record(*r, in, real, label);
  return r;
}

void levels::begin_record(level_task& r, stage& in, task& real, const void* label) const noexcept {
  r.real = &real;
  r.in = &in;
  r.made = in.level();
  r.member = 0;
  r.label = label;
  r.share = 1;
  r.bytes = 0;
  r.depth = 0;
  r.begun = r.is_main = false;
  for (unsigned level = in.level(); level < count_; ++level) {
    r.holds[level] = nullptr;
    r.at[level].seen.tag = nullptr;
    r.at[level].of = &r;
  }
}

void levels::drop_record(unsigned self, level_task& r) noexcept { records::give(stations_[self].free, r); }

// --- what goes down ----------------------------------------------------------------------------------------------

// Whether a task, or a group or fork as a whole, above the innermost level is too large for that member.
bool levels::stays_above(const stage& at, unsigned member, double share, double bytes) const noexcept {
  if (at.members() < 2) return false;
  const double capacity = at.capacity_of(member);
  if (bytes > 0 && capacity > 0) return bytes > capacity;
  return share * pieces_ * at.members() > 1;
}

double levels::part_of(double work, double whole, double otherwise) noexcept {
  return work >= 0 && whole > 0 && std::isfinite(whole) ? std::min(work / whole, 1.0) : otherwise;
}

// Groups and forks deeper than the number of frames are not laid out (fork_begin, child_above).
void levels::push_frame(level_task& r, bool shown) noexcept {
  if (r.depth < level_task::most_frames) r.frames[r.depth] = {r.share, r.bytes, shown};
  ++r.depth;
}

bool levels::pop_frame(level_task& r) noexcept {
  if (r.depth == 0) return false;
  if (--r.depth >= level_task::most_frames) return false;
  const level_task::frame& f = r.frames[r.depth];
  r.share = f.share;
  r.bytes = f.bytes;
  return f.shown;
}

// Makes the task a root of that stage. Answers stay, or send if the inner policy is to place it.
placement levels::enter(unsigned self, level_task& r, stage& to) noexcept {
  r.in = &to;
  r.share = 1;
  r.depth = 0;
  if (!to.wants().roots) return placement::stay;
  const task_info info{r.here(), nullptr, r.label, not_given, not_given, 0, 0, 0, nullptr};
  return to.act(self, [&](unsigned member) { return to.inner().started(member, info); });
}

// The same for a task that has not begun and that no worker has taken yet. Answers send.
placement levels::root_of(unsigned self, level_task& r, stage& to) noexcept {
  if (enter(self, r, to) == placement::send) return answer(r, level_task::way::by_policy);
  if (to.is_innermost()) return answer(r, level_task::way::loose);
  r.member = self != nobody && to.has(self) ? to.member_of(self) : 0;
  return answer(r, level_task::way::own_queue);
}

// --- making ------------------------------------------------------------------------------------------------------

std::unique_ptr<policy> levels::make(parameters& given) {
  // Every policy in the table is allowed, also a program's own, except those that cannot be a part.
  std::vector<std::string_view> names{"none"};
  std::string words = "none";
  for (const registration& known : all()) {
    const std::string_view name = known.name;
    if (name == "levels" || name == "serial") continue;
    names.push_back(name);
    words += "|";
    words += name;
  }
  std::vector<line> lines;
  for (const machine::group_kind kind : kinds) {
    const unsigned chosen = given.choice(machine::name(kind), words);
    if (chosen != 0) lines.push_back({kind, names[chosen]});
  }
  if (lines.empty()) lines = {{machine::group_kind::l3, "adws"}, {machine::group_kind::l2, "random_ws"}};
  const auto pieces = given.whole("pieces", 4, 1, 1000);
  if (lines.size() < 2) {
    throw std::invalid_argument("policy levels: " + std::string(machine::name(lines[0].kind)) + "=" +
                                std::string(lines[0].name) +
                                " is one level; name a second one, whose policy the workers of each group have, or " +
                                "take the policy " + std::string(lines[0].name) + " itself");
  }
  if (lines.size() > most_levels)
    throw std::invalid_argument("policy levels: at most " + std::to_string(most_levels) + " levels");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].name != "constrained_ws" && lines[i].name != "locality_ws") continue;
    throw std::invalid_argument("policy levels: " + std::string(machine::name(lines[i].kind)) + "=" +
                                std::string(lines[i].name) +
                                ": it tells iterations by threads that are nobody's child, which only the outermost "
                                "level has");
  }
  return create<levels>(std::move(lines), pieces);
}

}  // namespace heddle::policy
