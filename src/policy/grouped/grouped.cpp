// Offline grouping by shared lines. An earlier run of the program has told which lines each task touches. From that,
// `heddle group` has made groups of tasks that share many lines and fit into the caches. Under this policy each worker
// runs its groups one after the other, and the tasks of each group in the order that was found.
//
// Source: Yoo, Hughes, Kim, Chen, Kozyrakis, "Locality-aware task management for unstructured parallelism: a
// quantitative limit study" (SPAA 2013), as Chen and Guo (2017), section 4.3.7, describe it.
//
// Versions:
// - steal=off is what the book describes: the schedule that was found offline, and nothing else.
// - steal=near, the default, is ours. It follows the spirit of the paper, which has a section about stealing that keeps
//   to groups; the book says nothing of it. A worker that has nothing left takes the last group, whole, of the nearest
//   worker that has one, by the machine's tree. From a worker with a single group it takes the later half of that
//   group.
//
// Deviations, and why:
// - A task is a child of a group, outside any other such child: the i-th child of a place in the program (its label),
//   each time the same one. Places are numbered in the order in which the program reaches them first.
// - A worker runs the first task of its order that has been made already, and does not wait for one that is to come.
// - A task that the file does not know, and every task if no file is given, is dealt out by its number: in equal blocks
//   if the number of the group's children is told (task_group::expect), else round robin.
// - The forks of tasks are stolen at random.
// - A worker takes from others only after `patience` searches that insist, and four times as many for each further ring
//   of the tree, because its own tasks may be about to be made.
//
// profile=FILE records instead (access_recorder.hpp): one worker, which runs children in the order in which they are
// made.
#include "policy/grouped/grouped.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace heddle::policy {

namespace {

struct child {
  unsigned site, number;
  // position is nobody if the task has no slot.
  unsigned worker, position;
};

constexpr unsigned word_bits = 64;

}  // namespace

grouped::grouped(std::optional<grouping> plan, std::string file, bool steal, unsigned patience, std::string profile)
    : plan_(std::move(plan)), file_(std::move(file)), steal_(steal), patience_(patience) {
  if (!profile.empty()) recorder_ = std::make_unique<access_recorder>(std::move(profile));
  wants_.work_conserving = steal;
}

std::unique_ptr<policy> grouped::make(parameters& given) {
  std::string file(given.text("file")), profile(given.text("profile"));
  const bool steal = given.choice("steal", "near|off") == 0;
  const auto patience = given.whole("patience", 2, 0, 1e6);
  if (!file.empty() && !profile.empty())
    throw std::invalid_argument("policy grouped: file and profile: a run that is recorded goes by no file");
  std::optional<grouping> plan;
  if (!file.empty()) {
    try {
      plan = grouping::read(file);
    } catch (const std::invalid_argument& e) {
      throw std::invalid_argument(std::string("policy grouped: ") + e.what());
    }
  }
  return create<grouped>(std::move(plan), std::move(file), steal, patience, std::move(profile));
}

void grouped::start(scheduler& host) {
  policy::start(host);
  const unsigned workers = host.workers();
  if (plan_) {
    const std::string tree = tree_text(host.machine());
    if (plan_->workers != workers || plan_->tree != tree) {
      throw std::invalid_argument("policy grouped: " + file_ + " is for " + std::to_string(plan_->workers) +
                                  " workers of " + plan_->machine + " (" + plan_->tree + "), these are " +
                                  std::to_string(workers) + " (" + (tree.empty() ? "machine not known" : tree) +
                                  "): group for this machine");
    }
  }
  queues_.reset(new task_queue[workers]);
  for (unsigned w = 0; w < workers; ++w) near_.emplace_back(w, host, rings::order::by_circle);
  if (!plan_) return;
  for (const grouping::site& s : plan_->sites) {
    std::vector<place>& places = places_.emplace_back(s.tasks, place{0, 0});
    for (unsigned w = 0; w < workers; ++w) {
      line& l = queues_[w].lines.emplace_back();
      for (const grouping::group& g : s.workers[w]) {
        const auto begin = static_cast<unsigned>(l.group_begins.size());
        for (const unsigned number : g) {
          places[number] = {w, static_cast<unsigned>(l.group_begins.size())};
          l.group_begins.push_back(begin);
        }
      }
      l.slots.assign(l.group_begins.size(), nullptr);
      l.filled.assign((l.slots.size() + word_bits - 1) / word_bits, 0);
    }
  }
}

// --- tasks -------------------------------------------------------------------------------------------------------

unsigned grouped::site_of(const void* label) noexcept {
  // acquire pairs with the store below: makes the labels up to that number visible
  const unsigned known = sites_.load(std::memory_order_acquire);
  for (unsigned i = 0; i < known; ++i)
    if (labels_[i] == label) return i;
  std::lock_guard hold(lock_);
  const unsigned now = sites_.load(std::memory_order_relaxed);  // under lock_
  for (unsigned i = known; i < now; ++i)
    if (labels_[i] == label) return i;
  if (now == most_sites) return nobody;
  labels_[now] = label;
  sites_.store(now + 1, std::memory_order_release);  // pairs with the load above: publishes the label
  return now;
}

placement grouped::spawn(unsigned self, const task_info& info) noexcept {
  if (info.parent != nullptr && info.parent->tag != nullptr) return placement::child_first;
  const unsigned site = site_of(info.label);
  if (site == nobody) return placement::child_first;
  const unsigned workers = host_->workers();
  child made{site, info.index, 0, nobody};
  if (site < places_.size() && info.index < places_[site].size()) {
    made.worker = places_[site][info.index].worker;
    made.position = places_[site][info.index].position;
  } else {
    made.worker = info.siblings > info.index
                      ? static_cast<unsigned>(std::uint64_t{info.index} * workers / info.siblings)
                      : info.index % workers;
    if (plan_ && !has_met_unknown_.exchange(true))
      host_->remark(self, "grouped: the file does not know this child, which is dealt out by its number", info.index);
  }
  info.made.keep(made);
  info.made.tag = this;
  return placement::send;
}

void grouped::enqueue(unsigned, task& t) noexcept {
  child& c = t.get<child>();
  task_queue& to = queues_[c.worker];
  {
    std::lock_guard hold(to.lock);
    task** slot = c.position != nobody ? &to.lines[c.site].slots[c.position] : nullptr;
    if (slot != nullptr && *slot == nullptr) {
      *slot = &t;
      to.lines[c.site].filled[c.position / word_bits] |= std::uint64_t{1} << c.position % word_bits;
    } else {
      to.others.push_back(t);  // the same child of another iteration stands in its slot
    }
    to.count.fetch_add(1, std::memory_order_relaxed);  // under the lock; a hint elsewhere
  }
  const unsigned target = c.worker;
  if (!host_->wake(target) && steal_) host_->wake_any(target);
}

placement grouped::ready(unsigned self, task& t) noexcept {
  if (recorder_ == nullptr) return placement::stay;
  child& c = t.get<child>();
  c.worker = self == nobody ? 0 : self;
  c.position = nobody;
  return placement::send;  // send, so that `own` says again whose accesses come
}

void grouped::task_end(unsigned, task&) noexcept {
  if (recorder_ != nullptr) recorder_->end();
}

// --- what a worker takes -----------------------------------------------------------------------------------------

// Must be called under the queue's lock.
task* grouped::first_of(task_queue& l) noexcept {
  for (line& of : l.lines) {
    for (std::size_t w = 0; w < of.filled.size(); ++w) {
      if (of.filled[w] == 0) continue;
      const auto bit = static_cast<unsigned>(std::countr_zero(of.filled[w]));
      of.filled[w] &= of.filled[w] - 1;
      return std::exchange(of.slots[w * word_bits + bit], nullptr);
    }
  }
  return l.others.pop_front();
}

entry grouped::own(unsigned self) noexcept {
  task_queue& mine = queues_[self];
  // a hint; a worker that puts a task there wakes us
  if (mine.count.load(std::memory_order_relaxed) == 0) return 0;
  task* t;
  {
    std::lock_guard hold(mine.lock);
    t = first_of(mine);
    if (t != nullptr) mine.count.fetch_sub(1, std::memory_order_relaxed);  // under the lock; a hint elsewhere
  }
  if (t == nullptr) return 0;
  mine.in_vain = 0;
  if (recorder_ != nullptr) recorder_->begin(t->get<child>().site, t->get<child>().number);
  return host_->entry_of(*t);
}

// Must be called under the queue's lock. Moves the tasks of the last group that have come to `out`, in their order. If
// nothing else is there, the earlier half of the group stays. Returns how many tasks were moved.
unsigned grouped::last_of(task_queue& l, task_list& out) noexcept {
  unsigned moved = 0;
  for (auto of = l.lines.rbegin(); of != l.lines.rend(); ++of) {
    std::size_t w = of->filled.size();
    while (w != 0 && of->filled[w - 1] == 0) --w;
    if (w == 0) continue;
    const auto last =
        static_cast<unsigned>(w * word_bits - 1 - static_cast<unsigned>(std::countl_zero(of->filled[w - 1])));
    const unsigned begin = of->group_begins[last];
    const auto is_filled = [&](unsigned i) { return of->slots[i] != nullptr; };
    unsigned in_group = 0;
    for (unsigned i = begin; i <= last; ++i) in_group += is_filled(i) ? 1 : 0;
    unsigned left = in_group;
    if (in_group == l.count.load(std::memory_order_relaxed)) left = (in_group + 1) / 2;  // under the lock
    for (unsigned i = last + 1; left != 0; --left) {
      do --i;
      while (!is_filled(i));
      out.push_front(*std::exchange(of->slots[i], nullptr));
      of->filled[i / word_bits] &= ~(std::uint64_t{1} << i % word_bits);
      ++moved;
    }
    return moved;
  }
  if (task* const t = l.others.pop_back(); t != nullptr) {
    out.push_back(*t);
    ++moved;
  }
  return moved;
}

entry grouped::take_from_near(unsigned self) noexcept {
  task_queue& mine = queues_[self];
  const rings& near = near_[self];
  ++mine.in_vain;
  unsigned needed = patience_;
  for (unsigned r = 0; r < near.count() && mine.in_vain > needed; ++r, needed *= 4) {
    for (unsigned i = near.begin_of(r); i < near.end_of(r); ++i) {
      task_queue& victim = queues_[near.workers()[i]];
      if (victim.count.load(std::memory_order_relaxed) == 0) continue;  // a hint
      task_list taken;
      {
        std::lock_guard hold(victim.lock);
        const unsigned moved = last_of(victim, taken);
        victim.count.fetch_sub(moved, std::memory_order_relaxed);  // under the lock; a hint elsewhere
      }
      task* const first = taken.pop_front();
      if (first == nullptr) continue;
      unsigned more = 0;
      {
        std::lock_guard hold(mine.lock);
        for (task* t = taken.pop_front(); t != nullptr; t = taken.pop_front(), ++more) mine.others.push_back(*t);
        mine.count.fetch_add(more, std::memory_order_relaxed);  // under the lock; a hint elsewhere
      }
      if (more != 0) host_->wake_any(self);
      mine.in_vain = 0;
      return host_->entry_of(*first);
    }
  }
  return 0;
}

entry grouped::acquire(unsigned self, effort how) noexcept {
  if (const entry found = own(self); found != 0) return found;
  if (const entry found = others(self, *host_).rob_at_random(*host_, how); found != 0) return found;
  return steal_ && how == effort::insist ? take_from_near(self) : 0;
}

bool grouped::may_find(unsigned self) noexcept {
  const unsigned workers = steal_ ? host_->workers() : 0;
  for (unsigned w = 0; w < workers; ++w)
    if (queues_[w].count.load(std::memory_order_relaxed) != 0) return true;  // ordered by the caller's heavy fence
  return queues_[self].count.load(std::memory_order_relaxed) != 0 || policy::may_find(self);  // as above
}

}  // namespace heddle::policy
