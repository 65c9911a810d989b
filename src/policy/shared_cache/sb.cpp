// Space-bounded scheduling (sb, and sb-d with distributed queues). A task that fits into a cache is anchored there, its
// descendants run under that cache only, and the tasks anchored under a cache never need more than it holds. sb.md says
// how it works and what it promises.
//
// Sources: Chowdhury, Silvestri, Blakeley, Ramachandran (IPDPS 2010); Blelloch, Fineman, Gibbons, Simhadri,
// "Scheduling irregular parallel computations on hierarchical caches" (SPAA 2011); Simhadri, Blelloch, Fineman,
// Gibbons, Kyrola, "Experimental analysis of space-bounded schedulers" (SPAA 2014), whose sigma = 0.5 and mu = 0.2
// are the defaults.
//
// A task of size S befits the smallest cache on a worker's path with S <= sigma M. If that cache is below its parent's
// anchor, the task is maximal. Before it runs, S is added to the occupied bytes of every cache from there up to, but
// not including, the parent's anchor.
//
// Deviations, and why:
// - heddle's hints give the bytes of groups and forks, not of tasks. A child's size is its share of them by work. If no
//   bytes are given, it is its share of its parent's size. If that is not known either, the task is anchored like its
//   parent.
// - mu bounds the bytes of a cache that the running pieces of tasks anchored above may use. Here it is not counted
//   piece by piece: a share mu of each cache is reserved for them.
// - A task larger than what mu leaves is admitted to a cache that is empty.
// - Children are queued and their parent goes on. (The papers queue both.)
// - When no worker runs anything, a task is admitted over capacity, because the other tasks may be waiting for it.
#include "policy/shared_cache/sb.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/contracts.hpp"

namespace heddle::policy {

namespace {

sb::anchored& state_of(task& t) noexcept { return t.get<sb::anchored>(); }

// The list of its anchor to which a task is sent.
constexpr unsigned fresh_slot = 0, woken_slot = 1;
constexpr unsigned tries = 8;
char sized_mark;  // the tag of every task

}  // namespace

void sb::start(scheduler& host) {
  policy::start(host);
  const machine::view machine = host.machine();
  const bool flat = machine.workers() != host.workers();
  count_ = flat ? 1 : static_cast<unsigned>(machine.groups().size());
  caches_.reset(new cache[count_]);
  path_.resize(host.workers());
  seen_.resize(host.workers());
  for (unsigned id = 0; id < count_; ++id) {
    cache& c = caches_[id];
    c.capacity = std::numeric_limits<double>::infinity();
    c.worker_count = host.workers();
    if (!flat) {
      const machine::memory_group& g = machine.group(id);
      if (id != 0) {
        c.parent = g.parent;
        caches_[g.parent].children.push_back(id);
        if (g.capacity != 0 && g.capacity != machine::unlimited) c.capacity = static_cast<double>(g.capacity);
      }
      c.first_worker = g.first_worker;
      c.worker_count = g.worker_count;
    }
  }
  for (unsigned id = 0; id < count_; ++id) {
    cache& c = caches_[id];
    c.lists = distributed_ ? std::max<unsigned>(1, static_cast<unsigned>(c.children.size())) : 1;
    c.fresh.reset(new shared_task_list[c.lists]);
  }
  for (unsigned rank = 0; rank < host.workers(); ++rank) {
    unsigned id = flat ? 0 : machine.leaf_of(rank).id;
    for (;; id = caches_[id].parent) {
      path_[rank].push_back(id);
      if (id == 0) break;
    }
  }
}

// --- where tasks stand -------------------------------------------------------------------------------------------

unsigned sb::list_of(unsigned self, const cache& c) const noexcept {
  if (c.lists == 1 || self == nobody) return 0;
  for (unsigned i = 0; i < c.lists; ++i) {
    const cache& child = caches_[c.children[i]];
    if (self - child.first_worker < child.worker_count) return i;
  }
  return 0;
}

void sb::wake_under(unsigned self, unsigned top, double bytes) noexcept {
  const cache& c = caches_[top];
  for (unsigned i = 0; i < c.worker_count; ++i) {
    const unsigned rank = c.first_worker + i;
    if (rank != self && fits(rank, top, bytes)) host_->wake(rank);
  }
}

void sb::enqueue(unsigned self, task& t) noexcept {
  const unsigned near = self == nobody ? 0 : self;
  const anchored at = state_of(t);  // copied, because the task may run and end once it is in a list
  const bool woken = t.to.slot == woken_slot;
  const unsigned top = woken ? at.anchor : at.parents;
  cache& c = caches_[top];
  if (woken) {
    c.woken.push_back(t);
  } else {
    c.fresh[list_of(self, c)].push_front(t);
    changes_.fetch_add(1);
  }
  // A task that needs room, or may run under one cache only, is announced to every sleeper that it fits. A single
  // sleeper might refuse it, or not be under that cache. A worker that is passed over here because there is no room is
  // woken by the worker that makes room, and then finds the task in its list [sb:2].
  if (top == 0 && (woken || at.size <= 0)) return host_->wake_any(near);
  wake_under(self, top, woken ? 0 : at.size);
}

void sb::take_in(task& t) noexcept {
  t.tag = &sized_mark;
  t.keep<anchored>({0, 0, 0});
}

placement sb::started(unsigned, const task_info& info) noexcept {
  take_in(info.made);
  return send_to(info.made, nobody, woken_slot);
}

placement sb::ready(unsigned, task& t) noexcept { return send_to(t, nobody, woken_slot); }

// A child of `parent`, which touches `given` bytes with its group or fork. The child has `part` of `whole` work.
placement sb::child_of(task& parent, task& child, std::size_t given, double part, double whole) noexcept {
  const anchored& at = state_of(parent);
  const double bytes = given != 0 ? static_cast<double>(given) : at.size;
  const double share = part >= 0 && whole > 0 && std::isfinite(whole) ? std::min(part / whole, 1.0) : 0.5;
  child.tag = &sized_mark;
  child.keep<anchored>({bytes * share, at.anchor, at.anchor});
  return send_to(child, nobody, fresh_slot);
}

placement sb::spawn(unsigned, const task_info& info) noexcept {
  if (info.parent->tag == nullptr) return placement::child_first;
  return child_of(*info.parent, info.made, info.bytes, info.work, info.group_work);
}

bool sb::fork_begin(unsigned, const fork_info& info) noexcept { return info.owner.tag != nullptr; }

placement sb::fork(unsigned, const fork_info& info, const task_info& half) noexcept {
  const double whole = info.first >= 0 ? half.group_work : 0;
  return child_of(info.owner, half.made, info.bytes, info.second, whole);
}

// --- admission ---------------------------------------------------------------------------------------------------

bool sb::has_room(const cache& c, double occupied, double bytes) const noexcept {
  const double after = occupied + bytes;
  return after <= (1 - mu_) * c.capacity || (occupied == 0 && after <= c.capacity);
}

bool sb::try_occupy(cache& c, double bytes, bool over_capacity) noexcept {
  double now = c.occupied.load();
  do {
    if (!over_capacity && !has_room(c, now, bytes)) return false;
  } while (!c.occupied.compare_exchange_weak(now, now + bytes));
  HEDDLE_AUDIT_CHECK(over_capacity || now + bytes <= c.capacity, "%g bytes in a cache of %g", now + bytes, c.capacity);
  return true;
}

// The index on a worker's path where a task of this size that stands at cache `top` would be anchored.
std::size_t sb::befitting(unsigned rank, unsigned top, double bytes) const noexcept {
  const std::vector<unsigned>& path = path_[rank];
  std::size_t i = 0;
  while (path[i] != top && bytes > sigma_ * caches_[path[i]].capacity) ++i;
  return i;
}

bool sb::fits(unsigned rank, unsigned top, double bytes) const noexcept {
  if (bytes <= 0) return true;
  const std::vector<unsigned>& path = path_[rank];
  for (std::size_t i = befitting(rank, top, bytes); path[i] != top; ++i) {
    if (!has_room(caches_[path[i]], caches_[path[i]].occupied.load(), bytes)) return false;
  }
  return true;
}

// Anchors the task, for this worker, at or below its parent's anchor. Unless the answer is granted, nothing is occupied
// afterwards. given_up: bytes were occupied for a moment, until a cache further up turned out to be full.
sb::admission sb::admit(unsigned self, task& t, bool over_capacity) noexcept {
  anchored& at = state_of(t);
  at.anchor = at.parents;
  if (at.size <= 0) return admission::granted;
  // A look first. A worker that occupies a cache only to find the next one full keeps others out of it for that moment.
  if (!over_capacity && !fits(self, at.parents, at.size)) return admission::refused;
  const std::vector<unsigned>& path = path_[self];
  const std::size_t befits = befitting(self, at.parents, at.size);
  for (std::size_t end = befits; path[end] != at.parents; ++end) {
    if (try_occupy(caches_[path[end]], at.size, over_capacity)) continue;
    if (end == befits) return admission::refused;
    while (end-- > befits) caches_[path[end]].occupied.fetch_sub(at.size);
    return admission::given_up;
  }
  at.anchor = path[befits];
  return admission::granted;
}

void sb::task_end(unsigned self, task& t) noexcept {
  const anchored at = state_of(t);
  for (unsigned id = at.anchor; id != at.parents; id = caches_[id].parent) caches_[id].occupied.fetch_sub(at.size);
  if (at.anchor == at.parents) return;
  made_room(self, at.parents);
}

void sb::made_room(unsigned self, unsigned below) noexcept {
  changes_.fetch_add(1);
  wake_under(self, below, 0);
}

// Takes the newest task that is admitted. A few are tried, so that a single large task does not keep small ones back.
task* sb::take_fresh(unsigned self, unsigned top, bool over_capacity) noexcept {
  cache& from = caches_[top];
  const unsigned own = list_of(self, from);
  for (unsigned i = 0; i < from.lists; ++i) {
    shared_task_list& list = from.fresh[(own + i) % from.lists];
    bool gave_up = false;
    task* t = list.pop_first_of(tries, [&](task& each) noexcept {
      const admission answer = admit(self, each, over_capacity);
      gave_up = gave_up || answer == admission::given_up;
      return answer == admission::granted;
    });
    // Others may have been refused because of the bytes that this worker occupied for a moment. That happens at most
    // once for each task that was admitted meanwhile [sb:2].
    if (gave_up) made_room(self, top);
    if (t != nullptr) return t;
  }
  return nullptr;
}

entry sb::take(unsigned self, bool over_capacity) noexcept {
  seen_[self] = changes_.load();
  for (const unsigned id : path_[self]) {
    cache& c = caches_[id];
    task* t = c.woken.pop_front();
    if (t == nullptr) t = take_fresh(self, id, over_capacity);
    if (t != nullptr) return host_->entry_of(*t);
  }
  return 0;
}

entry sb::acquire(unsigned self, effort how) noexcept {
  if (const entry found = take(self, false); found != 0) return found;
  return how == effort::insist && host_->all_idle() ? take(self, true) : 0;
}

bool sb::may_find(unsigned self) noexcept {
  // A task that was refused in the last search is still refused, with two exceptions: a task was added or made room
  // since then; or no worker runs anything, so that acquire admits over capacity [sb:1].
  const bool stuck = host_->all_idle() || changes_.load() != seen_[self];
  for (const unsigned id : path_[self]) {
    const cache& c = caches_[id];
    if (!c.woken.looks_empty()) return true;
    for (unsigned i = 0; i < c.lists && stuck; ++i) {
      if (!c.fresh[i].looks_empty()) return true;
    }
  }
  return false;
}

namespace {

std::unique_ptr<policy> make_sb(bool distributed, parameters& given) {
  const double sigma = given.number("sigma", 0.5, 0.01, 1);
  const double mu = given.number("mu", 0.2, 0, 0.9);
  return create<sb>(sigma, mu, distributed);
}

}  // namespace

std::unique_ptr<policy> sb::make(parameters& given) { return make_sb(false, given); }
std::unique_ptr<policy> sb::make_distributed(parameters& given) { return make_sb(true, given); }

}  // namespace heddle::policy
