// A policy of its own at each level of the machine: `levels:l3=adws,l2=random_ws` lays tasks out among the groups that
// share a third cache, and lets the workers of each such group steal from each other. Rules, invariants and what a
// level's policy sees: levels.md. What a worker takes next is in levels_take.cpp; between `levels` and each inner
// policy stands a stage (stage.hpp).
//
// Source: Shiina, "Efficient thread scheduling strategies for nested parallel programs" (2021), section 5.3: "different
// scheduling policies can be adopted at each memory level". The thesis evaluates equal policies only.
//
// Deviations, and why:
// - Any worker of a memory group acts for it, one at a time, whatever the policy. The thesis lets the smallest rank do
//   so under ADWS.
// - What is made above the innermost level is queued, as a task, though its policy says child first: the worker's own
//   queue belongs to the level below.
// - A task goes down when its bytes fit into the memory group that took it, as in Algorithm 5.3. Where bytes are not
//   given it goes down when it is a small part of its root's work: one of `pieces` for each group. In the thesis
//   such a task goes down at once, to leaves that belong to the whole machine. Here it would keep all other groups
//   idle.
// - There is no aggregation: a task that fits into several groups together is laid out over all of them.
#include "policy/levels.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "policy/registry.hpp"

namespace heddle::policy {

struct levels::stranger {
  task seen{};
};

namespace {

constexpr machine::group_kind kinds[] = {machine::group_kind::numa, machine::group_kind::l5, machine::group_kind::l4,
                                         machine::group_kind::l3,   machine::group_kind::l2, machine::group_kind::l1,
                                         machine::group_kind::unit};

}  // namespace

levels::levels(std::vector<line> lines, unsigned pieces) : lines_(std::move(lines)), pieces_(pieces) {
  wants_.greedy = false;
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
  for (unsigned rank = 0; rank < host.workers(); ++rank) {
    if (made.has(rank)) stations_[rank].stages.push_back(&made);
  }
  if (made.is_innermost()) return;
  for (const unsigned id : groups_of_kind(whole, root, used[level].kind)) build(level + 1, id, used);
}

// A kind of which the machine has none, or one for all workers, counts for nothing; but the innermost line is for the
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
  if (self == nobody) records_.give_back(none);  // what else came with it
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
    r.at[level].seen.word = nullptr;
    r.at[level].of = &r;
  }
}

void levels::drop_record(unsigned self, level_task& r) noexcept { records::give(stations_[self].free, r); }

// --- what goes down ----------------------------------------------------------------------------------------------

// Of a task, or of a group or fork as a whole, above the innermost level: it is too large for that member.
bool levels::stays_above(const stage& at, unsigned member, double share, double bytes) const noexcept {
  if (at.workers() < 2) return false;
  const double capacity = at.capacity_of(member);
  if (bytes > 0 && capacity > 0) return bytes > capacity;
  return share * pieces_ * at.workers() > 1;
}

double levels::part_of(double work, double whole, double otherwise) noexcept {
  return work >= 0 && whole > 0 && std::isfinite(whole) ? std::min(work / whole, 1.0) : otherwise;
}

// What is deeper than there are frames is not laid out (fork_begin, child_above).
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

// The task becomes a root of that stage. Answers stay, or send: then the inner policy is to place it.
placement levels::enter(unsigned self, level_task& r, stage& to) noexcept {
  r.in = &to;
  r.share = 1;
  r.depth = 0;
  if (!to.wants().roots) return placement::stay;
  const task_info info{r.here(), nullptr, r.label, not_given, not_given, 0, 0, 0, nullptr};
  return to.act(self, [&](unsigned member) { return to.inner().started(member, info); });
}

// The same for a task that has not begun, and that nobody has taken yet. Answers send.
placement levels::root_of(unsigned self, level_task& r, stage& to) noexcept {
  if (enter(self, r, to) == placement::send) return answer(r, level_task::way::by_policy);
  if (to.is_innermost()) return answer(r, level_task::way::loose);
  r.member = self != nobody && to.has(self) ? to.member_of(self) : 0;
  return answer(r, level_task::way::own_queue);
}

// --- tasks -------------------------------------------------------------------------------------------------------

placement levels::started(unsigned self, const task_info& info) noexcept {
  stage& top = *stages_.front();
  const bool is_main = count_ > 1 && !has_main_.exchange(true);
  stage* to = &top;
  if (count_ > 1 && !is_main) {
    const unsigned next = next_inner_.fetch_add(1, std::memory_order_relaxed);  // any of them
    to = self != nobody ? &innermost(self) : inner_[next % inner_.size()];
  }
  level_task* r = new_record(self, *to, info.made, info.label);
  if (r == nullptr) {
    if (is_main) has_main_.store(false);
    return placement::stay;
  }
  r->is_main = is_main;
  info.made.word = r;
  const bool stays = to->is_innermost() && self != nobody;
  if (!stays) return root_of(self, *r, *to);
  if (enter(self, *r, *to) == placement::send) return answer(*r, level_task::way::by_policy);
  if (to->is_quiet()) host_->watch(self, false);
  return placement::stay;
}

// Of a task above the innermost level.
placement levels::child_above(unsigned self, const task_info& info, level_task& parent) noexcept {
  stage& at = *parent.in;
  const bool deep = parent.depth > level_task::most_frames;
  const level_task::frame now{parent.share, parent.bytes, false};
  const level_task::frame& before = parent.depth != 0 && !deep ? parent.frames[parent.depth - 1] : now;
  const double part = part_of(info.work, info.group_work, info.siblings > 1 ? 1.0 / info.siblings : 0.5);
  const double bytes = info.bytes != 0 ? static_cast<double>(info.bytes) : before.bytes;
  // What the owner makes itself while the group is open is at most the rest; of many children, it is one of them.
  if (parent.depth != 0 && !deep) {
    parent.share = std::min(parent.share, before.share * std::max(std::min(1 - part, 0.5), 1e-9));
    parent.bytes = std::min(parent.bytes > 0 ? parent.bytes : bytes, bytes * 0.5);
  }
  const bool down = deep || !stays_above(at, parent.member, before.share, bytes);
  stage& to = down ? *stations_[self].stages[at.level() + 1] : at;
  if (down && to.is_innermost() && !to.wants().roots) return placement::child_first;
  level_task* r = new_record(self, to, info.made, info.label);
  if (r == nullptr) return placement::child_first;
  info.made.word = r;
  if (down) {
    const placement where = root_of(self, *r, to);
    r->bytes = bytes * part;
    return where;
  }
  r->share = before.share * part;
  r->bytes = bytes * part;
  r->member = at.member_of(self);
  if (at.wants().spawns) {
    const task_info shown{r->here(),  &parent.here(), info.label,    info.work,      info.group_work,
                          info.bytes, info.index,     info.siblings, info.group_data};
    if (at.act(self, [&](unsigned member) { return at.inner().spawn(member, shown); }) == placement::send)
      return answer(*r, level_task::way::by_policy);
  }
  return answer(*r, level_task::way::own_queue);
}

placement levels::spawn(unsigned self, const task_info& info) noexcept {
  level_task* parent = record_of(*info.parent);
  if (parent != nullptr && !parent->in->has(self)) return placement::child_first;  // see "Not covered" in levels.md
  if (parent != nullptr && !parent->in->is_innermost()) return child_above(self, info, *parent);
  stage& at = innermost(self);
  if (!at.wants().spawns) {
    if (at.is_quiet()) host_->watch(self, false);
    return placement::child_first;
  }
  level_task* r = new_record(self, at, info.made, info.label);
  if (r == nullptr) return placement::child_first;
  stranger plain;
  const task_info shown{r->here(),       parent != nullptr ? &parent->here() : &plain.seen,
                        info.label,      info.work,
                        info.group_work, info.bytes,
                        info.index,      info.siblings,
                        info.group_data};
  const placement where = at.inner().spawn(at.member_of(self), shown);
  if (where != placement::send && r->here().word == nullptr) {
    drop_record(self, *r);
    return where;
  }
  info.made.word = r;
  r->goes = level_task::way::by_policy;
  return where;
}

void levels::place(unsigned self, task& t) noexcept {
  level_task& r = *record_of(t);
  stage& to = *r.in;
  const unsigned member = r.member;  // read now: in a list it may be taken, and end
  switch (r.goes) {
    case level_task::way::by_policy: to.act(self, [&](unsigned by) { to.inner().place(by, r.here()); }); return;
    case level_task::way::own_queue:
      to.seat_of(member).own.push_back(r.here());
      to.wake_any(member);
      return;
    case level_task::way::resumed:
      to.seat_of(member).resumed.push_back(r.here());
      to.wake_member(member);
      return;
    case level_task::way::loose:
      to.loose().push_back(r.here());
      to.wake_any(0);
      return;
  }
}

placement levels::ready(unsigned self, task& t) noexcept {
  level_task& r = *record_of(t);
  stage& at = *r.in;
  auto where = placement::stay;
  if (r.here().word != nullptr)
    where = at.act(self, [&](unsigned member) { return at.inner().ready(member, r.here()); });
  if (where == placement::send) return answer(r, level_task::way::by_policy);
  if (!at.is_innermost()) return answer(r, level_task::way::resumed);
  if (self != nobody && at.has(self)) return placement::stay;
  return answer(r, level_task::way::loose);  // else it would leave its part of the machine
}

// A task above the innermost level goes on where its level is served, and is watched there.
placement levels::preempted(unsigned, task& t) noexcept {
  level_task& r = *record_of(t);
  return r.in->is_innermost() ? placement::stay : answer(r, level_task::way::resumed);
}

void levels::task_end(unsigned self, task& t) noexcept {
  level_task& r = *record_of(t);
  for (unsigned level = r.in->level();; --level) {
    stage& at = *stations_[self].stages[level];
    if (task& seen = r.at[level].seen; seen.word != nullptr)
      at.act(self, [&](unsigned member) { at.inner().task_end(member, seen); });
    if (level == r.made) break;
    stage& above = *stations_[self].stages[level - 1];
    leave_seat(above, above.member_of(self), *r.holds[level - 1]);
  }
  if (r.is_main) has_main_.store(false);
  t.word = nullptr;
  drop_record(self, r);
}

// --- groups ------------------------------------------------------------------------------------------------------

namespace {

// The same group, as the policy of a stage knows its owner.
group_info seen_by(const group_info& info, task& owner) noexcept {
  return {info.work, info.bytes, info.children, info.expected, owner, info.data};
}

}  // namespace

void levels::group_begin(unsigned self, group_info& info) noexcept {
  level_task* owner = record_of(info.owner);
  stage& at = owner != nullptr ? *owner->in : innermost(self);
  if (!at.is_innermost()) push_frame(*owner, false);
  if (at.is_quiet()) host_->watch(self, false);
  if (!at.wants().groups) return;
  stranger plain;
  group_info seen = seen_by(info, owner != nullptr ? owner->here() : plain.seen);
  at.act(self, [&](unsigned member) { at.inner().group_begin(member, seen); });
  info.data = seen.data;
}

void levels::group_wait(unsigned self, group_info& info) noexcept {
  level_task* owner = record_of(info.owner);
  stage& at = owner != nullptr ? *owner->in : innermost(self);
  if (!at.wants().groups) return;
  stranger plain;
  group_info seen = seen_by(info, owner != nullptr ? owner->here() : plain.seen);
  at.act(self, [&](unsigned member) { at.inner().group_wait(member, seen); });
}

placement levels::group_end(unsigned self, group_info& info) noexcept {
  level_task* owner = record_of(info.owner);
  stage& at = owner != nullptr ? *owner->in : innermost(self);
  if (!at.is_innermost()) pop_frame(*owner);
  if (!at.wants().groups) return placement::stay;
  stranger plain;
  group_info seen = seen_by(info, owner != nullptr ? owner->here() : plain.seen);
  const placement where = at.act(self, [&](unsigned member) { return at.inner().group_end(member, seen); });
  return where == placement::send && owner != nullptr ? answer(*owner, level_task::way::by_policy) : placement::stay;
}

placement levels::next_iteration(unsigned self, task& owner, const void* label) noexcept {
  level_task* r = record_of(owner);
  if (r == nullptr || !r->in->wants().iterations || !r->in->has(self)) return placement::stay;
  stage& at = *r->in;
  const placement where =
      at.act(self, [&](unsigned member) { return at.inner().next_iteration(member, r->here(), label); });
  return where == placement::send ? answer(*r, level_task::way::by_policy) : placement::stay;
}

// --- forks -------------------------------------------------------------------------------------------------------

// Above the innermost level every second half becomes a task, unless it is for the workers of this group: those take
// it from the queue where it lies.
bool levels::fork_begin(unsigned self, const fork_info& info) noexcept {
  level_task* owner = record_of(info.owner);
  if (owner != nullptr && !owner->in->has(self)) return false;
  stage& at = owner != nullptr ? *owner->in : innermost(self);
  station& mine = stations_[self];
  if (at.is_innermost() && !at.wants().forks) {
    if (at.is_quiet()) host_->watch(self, false);
    return false;
  }
  if (!at.is_innermost()) {
    if (owner->depth >= level_task::most_frames) return false;
    const stage& below = *mine.stages[at.level() + 1];
    const double bytes = info.bytes != 0 ? static_cast<double>(info.bytes) : owner->bytes;
    if (!stays_above(at, owner->member, owner->share, bytes) && below.is_innermost() && !below.wants().roots)
      return false;
  }
  if (mine.reserved == nullptr) mine.reserved = new_record(self, at, info.owner, nullptr);
  if (mine.reserved == nullptr) return false;
  stranger plain;
  const fork_info seen{info.first, info.second, info.bytes, owner != nullptr ? owner->here() : plain.seen};
  mine.shown = at.wants().forks && at.act(self, [&](unsigned member) { return at.inner().fork_begin(member, seen); });
  return !at.is_innermost() || mine.shown;
}

// Of a task above the innermost level.
placement levels::half_above(unsigned self, const fork_info& info, const task_info& half, level_task& owner) noexcept {
  stage& at = *owner.in;
  const bool shown = stations_[self].shown;
  const double part = part_of(info.second, info.first + info.second, 0.5);
  const double bytes = info.bytes != 0 ? static_cast<double>(info.bytes) : owner.bytes;
  push_frame(owner, shown);
  level_task& r = *record_of(half.made);
  const bool down = !stays_above(at, owner.member, owner.share, bytes);
  const double share = owner.share * part;
  owner.share *= std::max(1 - part, 1e-9);
  owner.bytes = bytes * (1 - part);
  if (!down || shown) {  // what its policy was promised is its own
    r.share = share;
    r.bytes = bytes * part;
    r.member = at.member_of(self);
    if (!shown) return answer(r, level_task::way::own_queue);
    const fork_info seen{info.first, info.second, info.bytes, owner.here()};
    const task_info seen_half{r.here(),   &owner.here(), half.label,    half.work,      half.group_work,
                              half.bytes, half.index,    half.siblings, half.group_data};
    const placement where = at.act(self, [&](unsigned member) { return at.inner().fork(member, seen, seen_half); });
    return answer(r, where == placement::send ? level_task::way::by_policy : level_task::way::own_queue);
  }
  stage& to = *stations_[self].stages[at.level() + 1];
  r.made = to.level();
  const placement where = root_of(self, r, to);
  r.bytes = bytes * part;
  return where;
}

placement levels::fork(unsigned self, const fork_info& info, const task_info& half) noexcept {
  level_task* owner = record_of(info.owner);
  stage& at = owner != nullptr ? *owner->in : innermost(self);
  level_task& r = *std::exchange(stations_[self].reserved, nullptr);
  begin_record(r, at, half.made, half.label);  // it was reserved for another task, perhaps on another level
  half.made.word = &r;
  if (!at.is_innermost()) return half_above(self, info, half, *owner);
  stranger plain;
  task& seen_owner = owner != nullptr ? owner->here() : plain.seen;
  const fork_info seen{info.first, info.second, info.bytes, seen_owner};
  const task_info seen_half{r.here(),   &seen_owner, half.label,    half.work,      half.group_work,
                            half.bytes, half.index,  half.siblings, half.group_data};
  const placement where = at.inner().fork(at.member_of(self), seen, seen_half);
  if (where == placement::send) return answer(r, level_task::way::by_policy);
  if (r.here().word == nullptr) {
    half.made.word = nullptr;
    drop_record(self, r);
  }
  return where;
}

void levels::fork_wait(unsigned self, task& owner) noexcept {
  level_task* r = record_of(owner);
  stage& at = r != nullptr ? *r->in : innermost(self);
  if (!at.is_innermost() && (r->depth == 0 || !r->frames[r->depth - 1].shown)) return;
  stranger plain;
  at.act(self, [&](unsigned member) { at.inner().fork_wait(member, r != nullptr ? r->here() : plain.seen); });
}

placement levels::fork_end(unsigned self, task& owner) noexcept {
  level_task* r = record_of(owner);
  stage& at = r != nullptr ? *r->in : innermost(self);
  if (!at.is_innermost() && !pop_frame(*r)) return placement::stay;
  stranger plain;
  const placement where =
      at.act(self, [&](unsigned member) { return at.inner().fork_end(member, r != nullptr ? r->here() : plain.seen); });
  return where == placement::send && r != nullptr ? answer(*r, level_task::way::by_policy) : placement::stay;
}

// --- making ------------------------------------------------------------------------------------------------------

std::unique_ptr<policy> levels::make(parameters& given) {
  // Any policy that is in the table, also a program's own, but for those that cannot be a part.
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
  const auto pieces = static_cast<unsigned>(given.number("pieces", 4, 1, 1000));
  if (lines.size() < 2) {
    throw std::invalid_argument("policy levels: " + std::string(machine::name(lines[0].kind)) + "=" +
                                std::string(lines[0].name) +
                                " is one level; name a second one, whose policy the workers of each group have, or " +
                                "take the policy " + std::string(lines[0].name) + " itself");
  }
  if (lines.size() > most_levels)
    throw std::invalid_argument("policy levels: at most " + std::to_string(most_levels) + " levels");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].name != "constrained_ws") continue;
    throw std::invalid_argument("policy levels: " + std::string(machine::name(lines[i].kind)) +
                                "=constrained_ws: it tells iterations by threads that are nobody's child, which only "
                                "the outermost level has");
  }
  return create<levels>(std::move(lines), pieces);
}

}  // namespace heddle::policy
