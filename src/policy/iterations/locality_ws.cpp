// Locality-guided work stealing. A task has an affinity for the worker on which it ran in the iteration before. It is
// queued at the worker that made it and also, if that is another one, in the list of the tasks that want the worker of
// its affinity. A worker without tasks of its own looks into that list before it steals, and the first worker that
// comes upon a task in either place runs it. Protocol and invariants: locality_ws.md.
//
// Sources: Acar, Blelloch, Blumofe, "The data locality of work stealing" (SPAA 2000), as the ADWS thesis,
// section 6.2.1, describes it; Chen and Guo (2017), section 3.2, name it.
//
// Deviations, and why:
// - There the program gives a thread its affinity. Here the policy remembers where each task ran: a task is known
// across
//   iterations by the hash of its path, as under constrained_ws. A task that is not known has no affinity, so the first
//   iteration runs under random work stealing, and its steals are the initial placement.
// - Only tasks below at most `depth` forks and groups have an affinity. Finer ones stay in the fork queue of the worker
//   that runs the task above them, where they are stolen at random. They cost what they cost under random_ws.
// - `patience`, 0, is ours. The thesis reports of Robison et al. that thieves take tasks which want somebody else
// before
//   the tasks come that want the thieves, and that a delay helps. With patience=N a worker steals only after N
//   insisting searches in vain, and looks into its own two lists meanwhile.
// - When `most_waiting` tasks wait at a worker, the further children of groups run at once, child first.
// - A thread that has waited goes on with the worker that wakes it.
#include "policy/iterations/locality_ws.hpp"

#include <algorithm>
#include <bit>

#include "policy/iterations/steal_tree.hpp"

namespace heddle::policy {

namespace {

constexpr std::size_t most_waiting = 1024;
constexpr unsigned most_depth = 64;

// The depth of a task that this one makes now. A child in a group of another task is below a group, too.
unsigned depth_below(const affine_task& at) noexcept { return std::min(at.depth + std::max(at.open, 1u), most_depth); }

}  // namespace

void locality_ws::start(scheduler& host) {
  policy::start(host);
  const unsigned workers = host.workers();
  // One worker has an affinity for nobody else.
  if (workers == 1)
    wants_.spawns = wants_.forks = wants_.groups = wants_.roots = wants_.picks = wants_.iterations = false;
  lists_.start(workers);
  memory_.start(settings_.tasks);
  victims_.start(workers);
  thieves_.reset(new thief[workers]);
  // a tree of halves has sixteen tasks for each worker
  depth_ = settings_.depth != 0 ? settings_.depth : static_cast<unsigned>(std::bit_width(workers - 1)) + 4;
}

// --- identities --------------------------------------------------------------------------------------------------

// The task begins a group or a fork. For a root, one that is inside no other is an iteration, or, after a mark, one
// that is inside those alone which the mark is in.
void locality_ws::number_anew(affine_task& at) noexcept {
  if (at.is_root && at.open == at.base) at.made = 0;
}

placement locality_ws::next_iteration(unsigned, task& owner, const void*) noexcept {
  if (owner.tag != &known_) return placement::stay;
  affine_task& at = state_of(owner);
  at.base = static_cast<std::uint8_t>(std::min(at.open, 255u));
  at.made = 0;
  return placement::stay;
}

placement locality_ws::started(unsigned, const task_info& info) noexcept {
  info.made.tag = &known_;
  affine_task root{};
  root.is_root = true;
  root.id = root_identity;
  info.made.keep(root);
  return placement::stay;
}

// Gives the task that `parent` has just made its identity, and says where it goes.
placement locality_ws::hand_out(unsigned self, task& parent, const task_info& info) noexcept {
  affine_task& above = state_of(parent);
  affine_task made{};
  made.id = child_identity(above.id, above.made - 1);
  made.depth = static_cast<std::uint8_t>(depth_below(above));
  info.made.keep(made);
  info.made.tag = &known_;
  const unsigned wanted = memory_.worker_of(made.id);
  return send_to(info.made, wanted == self ? nobody : wanted);
}

// --- groups and forks --------------------------------------------------------------------------------------------

void locality_ws::group_begin(unsigned, group_info& info) noexcept {
  if (info.owner.tag != &known_) return;
  affine_task& at = state_of(info.owner);
  number_anew(at);
  ++at.open;
}

placement locality_ws::group_end(unsigned, group_info& info) noexcept {
  if (info.owner.tag == &known_) leave(state_of(info.owner));
  return placement::stay;
}

placement locality_ws::spawn(unsigned self, const task_info& info) noexcept {
  if (info.parent == nullptr || info.parent->tag != &known_) return placement::child_first;
  affine_task& above = state_of(*info.parent);
  if (depth_below(above) > depth_) return placement::child_first;
  ++above.made;
  const placement where = hand_out(self, *info.parent, info);
  if (lists_.own_size(self) < most_waiting) return where;
  begin(self, info.made);
  return placement::child_first;
}

// The number is spent even if the fork does not come about, so that the next one has the number that it had before.
bool locality_ws::fork_begin(unsigned, const fork_info& info) noexcept {
  if (info.owner.tag != &known_) return false;
  affine_task& at = state_of(info.owner);
  if (at.depth + at.open >= depth_) return false;
  number_anew(at);
  ++at.made;
  return true;
}

placement locality_ws::fork(unsigned self, const fork_info& info, const task_info& half) noexcept {
  ++state_of(info.owner).open;
  return hand_out(self, info.owner, half);
}

placement locality_ws::fork_end(unsigned, task& owner, std::uint64_t) noexcept {
  leave(state_of(owner));
  return placement::stay;
}

// --- tasks that wait ---------------------------------------------------------------------------------------------

void locality_ws::enqueue(unsigned self, task& t) noexcept {
  const unsigned wanted = t.to.target;  // read before the task is put into a list, which uses its place
  lists_.put(t, self, wanted);
  if (wanted == nobody || !host_->wake(wanted)) host_->wake_any(self);
}

// Called when the task begins on this worker.
void locality_ws::begin(unsigned self, task& t) noexcept {
  affine_task& at = state_of(t);
  memory_.note(at.id, self);
  host_->watch(self, !is_deepest(at));
}

// The tasks that a deepest task makes are not watched. Its worker may go on with a task that is.
void locality_ws::task_end(unsigned self, task& t) noexcept {
  if (is_deepest(state_of(t))) host_->watch(self, true);
}

entry locality_ws::next_own(unsigned self) noexcept {
  task* t = lists_.take_newest(self);
  if (t == nullptr) t = lists_.take_affine(self);
  if (t == nullptr) return 0;
  begin(self, *t);
  return host_->entry_of(*t);
}

entry locality_ws::pick(unsigned self, bool own_is_empty) noexcept {
  if (own_is_empty) return next_own(self);
  host_->watch(self, true);  // a task that goes on without the policy's help
  return 0;
}

entry locality_ws::steal_from(unsigned self, unsigned victim, effort how) noexcept {
  if (task* const t = lists_.take_oldest(victim); t != nullptr) {
    begin(self, *t);
    return host_->entry_of(*t);
  }
  return rob(*host_, self, victim, how);
}

entry locality_ws::acquire(unsigned self, effort how) noexcept {
  entry found = next_own(self);
  unsigned& in_vain = thieves_[self].in_vain;
  const others victims(self, *host_);
  if (found == 0 && victims.size() != 0) {
    if (in_vain < settings_.patience) {
      if (how == effort::insist) ++in_vain;
      return 0;
    }
    found = victims_.go_round(
        self, victims.size(), how, [&] { return host_->random(self, victims.size()); },
        [&](unsigned place) { return steal_from(self, victims[place], how); },
        [&](unsigned place) { return host_->has_work(victims[place]); });
  }
  if (found != 0) in_vain = 0;
  return found;
}

// Every task that waits is in some worker's own list.
bool locality_ws::may_find(unsigned self) noexcept {
  for (unsigned rank = 0; rank < host_->workers(); ++rank) {
    if (lists_.has_own(rank)) return true;
  }
  return policy::may_find(self);
}

std::unique_ptr<policy> locality_ws::make(parameters& given) {
  settings s{};
  s.tasks = given.whole("tasks", 65536, 1, 1 << 24);
  s.depth = given.whole("depth", 0, 0, most_depth);
  s.patience = given.whole("patience", 0, 0, 1e6);
  s.victim = victim_memory::asked_for(given);
  return create<locality_ws>(s);
}

}  // namespace heddle::policy
