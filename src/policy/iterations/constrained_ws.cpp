// Constrained work stealing. The first iteration of an iterative program runs under random work stealing, and its steal
// tree is recorded. A few iterations follow the record while idle workers still steal, and revise it (RelWS: relaxed).
// From then on each worker runs exactly the pieces that it had, in the order in which it had them (StOWS: strict,
// ordered). Words, invariants and proofs: constrained_ws.md. iterations.cpp has records and the decisions that follow
// from them, constrained_ws_take.cpp what a worker takes next.
//
// Sources: Lifflander, Krishnamoorthy, Kale, "Optimizing data locality for fork/join programs using constrained work
// stealing" (SC 2014) and "Steal tree" (PLDI 2013), as the ADWS thesis, section 4.4.1 and appendix B.1, describes
// and uses them; five iterations of RelWS are the thesis'. replay=stuws is strict in any order, replay=relws stays
// relaxed.
//
// An iteration is the part of a thread without a parent between the beginning of a task group or fork outside any other
// and its end, or the part between two marks (next_iteration). Iterations of one call site (the code of the first
// child, or what the mark gives) are those of one program. One iteration runs at a time; work of other threads
// meanwhile runs as under random_ws.
//
// Deviations, and why:
// - While a record is made or changed, every second half of a fork and every child of a group is a task of its own,
//   queued in the policy's lists (parent first), so that it has an identity. The papers steal continuations, child
//   first. When `flood` tasks are queued at a worker, further children run child first.
// - A piece whose descendants stayed with it is replayed unwatched, in the worker's fork queue, at the cost of
//   random_ws.
// - Under RelWS a worker that expects recorded pieces steals only after `patience` searches in vain (ours). All workers
//   are idle when an iteration begins, and would tear the record apart before its pieces are made.
// - A thread that waited goes on with the worker on which it began; under RelWS it can be stolen from there. The root
//   begins each iteration on the worker of the record: it is sent there when a run begins or an iteration ends.
// - The record does not fit if a task comes that it does not know, or if a task that it knows does not come. Any worker
//   may steal an unknown task, with all that it makes. The order of pieces is given up for the rest of the iteration.
//   The next 1, 2, 4 .. 64 iterations, as misfits repeat, are RelWS, which makes a new record. The order is also given
//   up when no worker runs anything.
// - A record without pieces is not replayed strictly. There is nothing to preserve, and one worker would run everything
//   for ever.
#include "policy/iterations/constrained_ws.hpp"

#include <algorithm>
#include <utility>

#include "policy/iterations/constrained_ws_tasks.hpp"

namespace heddle::policy {

namespace {

constexpr std::size_t flood = 1024;

char inside_group;  // the data of a group within an iteration

}  // namespace

void constrained_ws::start(scheduler& host) {
  policy::start(host);
  workers_ = host.workers();
  stations_.reset(new station[workers_]);
  memory_.start(workers_);
  iterations_.start(host);
}

// --- tasks -------------------------------------------------------------------------------------------------------

placement constrained_ws::started(unsigned, const task_info& info) noexcept {
  if (workers_ == 1) return placement::stay;
  info.made.tag = &outside_;
  const unsigned home = iterations_.root_home();
  if (roots_.fetch_add(one_root) < one_root)
    return home == nobody || iterations_.is_busy() ? placement::stay : send_to(info.made, home, kept_slot);
  host_->widened();  // robs() may have changed
  return placement::stay;
}

placement constrained_ws::ready(unsigned, task& t) noexcept {
  if (t.tag != &inside_) return placement::stay;
  const in_iteration& at = state_of(t);
  const bool strict = iterations_.now() == mode::strict && !at.is(in_iteration::lost);
  return send_to(t, at.home, strict ? kept_slot : open_slot);
}

// With the last root no task is alive that could be in a fork queue, so the bit is cleared, too [relws:6].
void constrained_ws::end_root() noexcept {
  unsigned now = roots_.load();
  while (!roots_.compare_exchange_weak(now, now < 2 * one_root ? 0 : now - one_root)) {
  }
}

void constrained_ws::task_end(unsigned self, task& t) noexcept {
  if (t.tag != &inside_) return end_root();
  const in_iteration& at = state_of(t);
  if (at.is(in_iteration::root)) {  // the last iteration that it has marked
    static_cast<void>(end_iteration(self, t));
    return end_root();
  }
  if (at.node != nullptr) iterations_.note_end(self, *at.node);
  if (at.is(in_iteration::unwatched)) host_->watch(self, true);
  iterations_.ended(self);
}

// Gives the newest child of `parent` its identity. The record says where the child goes; without a record it stays
// where it is, to be stolen.
placement constrained_ws::hand_out(unsigned self, task& parent, task& child, steal_node* node) noexcept {
  in_iteration& above = state_of(parent);
  const std::uint64_t id = child_identity(above.id, above.children - 1);
  child.tag = &inside_;
  in_iteration& at = child.keep<in_iteration>({id, node, 0, nobody, nobody, 0, 0, 0});
  iterations_.made(self);
  const mode now = iterations_.now();
  if (node != nullptr) iterations::note_child(*above.node, *node, id);
  const bool is_lost = above.is(in_iteration::lost);
  const steal_tree::line* line = is_lost ? nullptr : iterations_.recorded(id);
  if (line != nullptr && line->piece) {
    at.recorded = line->worker;
    at.order = line->order;
  }
  if (now == mode::strict) {
    if (line == nullptr) {
      at.flags = in_iteration::lost;
      iterations_.misfit(is_lost ? 0 : 1);
      return send_to(child, self, open_slot);
    }
    iterations_.met(self);
    if (!line->inner) at.flags = in_iteration::unwatched;
    return send_to(child, line->worker, line->worker == self ? kept_slot : assigned_slot);
  }
  if (line != nullptr && line->worker != self) return send_to(child, line->worker, passed_slot);
  return send_to(child, self, open_slot);
}

void constrained_ws::enqueue(unsigned self, task& t) noexcept {
  const task::destination to = t.to;  // read before the task is put into a list, which uses its place
  station& there = stations_[to.target];
  switch (to.slot) {
    case kept_slot: there.kept.push_back(t); break;
    case open_slot: there.open.push_back(t); break;
    case passed_slot: there.passed.push_back(t); break;
    default: there.assigned.insert(t); break;
  }
  if (to.target != self) host_->wake(to.target);
  if (to.slot == open_slot || to.slot == passed_slot) host_->wake_any(to.target);
}

// --- groups and forks --------------------------------------------------------------------------------------------

void constrained_ws::group_begin(unsigned self, group_info& info) noexcept {
  if (info.owner.tag == &marked_) begin_marked(self, info.owner);
  if (info.owner.tag == &marked_) return;
  if (info.owner.tag == &outside_) {
    // the group's number as an odd value, which is no address
    info.data = reinterpret_cast<void*>(2 * groups_.fetch_add(1, std::memory_order_relaxed) + 1);
  } else if (info.owner.tag == &inside_) {
    info.data = &inside_group;
  } else {
    host_->watch(self, false);
  }
}

placement constrained_ws::spawn(unsigned self, const task_info& info) noexcept {
  const placement where = record_child(self, info);
  if (where == placement::child_first) leave_unrecorded();
  return where;
}

placement constrained_ws::record_child(unsigned self, const task_info& info) noexcept {
  task& parent = *info.parent;
  if (parent.tag == nullptr || (parent.tag == &inside_ && state_of(parent).is(in_iteration::unwatched))) {
    host_->watch(self, false);
    return placement::child_first;
  }
  // the child is in an older group, or nothing is to be recorded
  if (parent.tag == &marked_) return placement::child_first;
  if (parent.tag == &outside_) {
    if (info.group_data == nullptr || !iterations_.may_begin()) return placement::child_first;
    steal_node* root = iterations_.take_node(self);
    if (root == nullptr || !begin_iteration(self, parent, info.label, root)) return placement::child_first;
    opener_ = info.group_data;
  }
  // The group began before the iteration.
  if (info.group_data != nullptr && info.group_data != &inside_group && info.group_data != opener_)
    return placement::child_first;
  steal_node* node = nullptr;
  if (iterations_.now() != mode::strict) {
    node = iterations_.take_node(self);
    if (node == nullptr) return placement::child_first;
    // The child is in the group of another task, so it may outlive its parent [relws:5].
    if (info.group_data == nullptr) state_of(parent).node->keep();
  }
  ++state_of(parent).children;
  const placement where = hand_out(self, parent, info.made, node);
  if (info.made.to.target != self || stations_[self].open.size() + stations_[self].kept.size() < flood) return where;
  in_iteration& at = state_of(info.made);
  at.flags &= static_cast<std::uint8_t>(~in_iteration::unwatched);  // it ends by a return to its watched parent
  begin(self, info.made);
  return placement::child_first;
}

placement constrained_ws::group_end(unsigned self, group_info& info) noexcept {
  task& owner = info.owner;
  // a group that was there before the mark
  if (owner.tag == &marked_ && info.data != nullptr) owner.tag = &outside_;
  if (owner.tag != &inside_ || info.data == &inside_group || info.data == nullptr ||
      !state_of(owner).is(in_iteration::root))
    return placement::stay;
  // A group that was there before the mark ends a marked iteration.
  return info.data == opener_ || opener_ == &marked_ ? end_iteration(self, owner) : placement::stay;
}

// Only takes a node and a number, because the fork may not come about.
bool constrained_ws::fork_begin(unsigned self, const fork_info& info) noexcept {
  const bool recorded = prepare_fork(self, info.owner);
  if (!recorded) leave_unrecorded();
  return recorded;
}

bool constrained_ws::prepare_fork(unsigned self, task& owner) noexcept {
  station& mine = stations_[self];
  if (owner.tag == nullptr || (owner.tag == &inside_ && state_of(owner).is(in_iteration::unwatched))) {
    host_->watch(self, false);
    return false;
  }
  if (owner.tag == &marked_) begin_marked(self, owner);
  if (owner.tag == &marked_) return false;
  if (owner.tag == &outside_) {
    if (!iterations_.may_begin()) return false;
    if (mine.reserved_root == nullptr) mine.reserved_root = iterations_.take_node(self);
    if (mine.reserved_root == nullptr) return false;
  }
  if (mine.reserved == nullptr) mine.reserved = iterations_.take_node(self);
  if (mine.reserved == nullptr) return false;
  if (owner.tag == &inside_) ++state_of(owner).children;
  return true;
}

placement constrained_ws::fork(unsigned self, const fork_info& info, const task_info& half) noexcept {
  station& mine = stations_[self];
  if (info.owner.tag == &outside_) {
    if (!begin_iteration(self, info.owner, half.label, std::exchange(mine.reserved_root, nullptr))) {
      leave_unrecorded();
      return placement::child_first;
    }
    state_of(info.owner).children = 1;
  }
  ++state_of(info.owner).forks;
  return hand_out(self, info.owner, half.made,
                  iterations_.now() == mode::strict ? nullptr : std::exchange(mine.reserved, nullptr));
}

placement constrained_ws::fork_end(unsigned self, task& owner, std::uint64_t) noexcept {
  if (owner.tag != &inside_) return placement::stay;
  in_iteration& at = state_of(owner);
  if (--at.forks == 0 && at.is(in_iteration::root) && opener_ == nullptr) return end_iteration(self, owner);
  return placement::stay;
}

std::unique_ptr<policy> constrained_ws::make(parameters& given) {
  settings s{};
  s.how = static_cast<replay>(given.choice("replay", "stows|stuws|relws"));
  s.relaxed = given.whole("relws", 5, 0, 1e9);
  s.patience = given.whole("patience", 1, 0, 1e6);
  s.victim = victim_memory::asked_for(given);
  return create<constrained_ws>(s);
}

}  // namespace heddle::policy
