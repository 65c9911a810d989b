// AATS, asymmetric-aware task scheduling, for cores of unlike speed. Tasks of one place in the program form a class,
// and each class has a pool. The policy learns from the ended tasks how long a class takes on each group of equal
// cores. It shares the classes out so that all groups end at the same time, the longest tasks on the fastest cores
// (range_allocation.hpp). A worker takes the longest tasks of its group's classes first. When these are empty, it helps
// the slower groups, the next slower one first, and then the faster ones. Tasks are made parent first.
//
// `aats-np` does not help other groups. `aats-ts` also takes the running task of a slower worker, the one with the
// longest class (snatching.hpp).
//
// Source: Chen, Chen, Huang, Guo, "WATS: workload-aware task scheduling in asymmetric multi-core architectures" (IPDPS
// 2012), as Chen and Guo (2017), chapter 5, describe it: Algorithms 8 and 9, Eq. 5.3 to 5.5, tables 5.3 and 5.4.
//
// Two modes, as in the book. In a program that marks its iterations (heddle::next_iteration) the tasks of an iteration
// are a batch: workers hold off until the marking thread waits for its group, and the batch's own numbers of tasks are
// allocated. In any other program the numbers of the ended tasks are, each `beat`.
//
// Deviations, and why:
// - Groups of cores follow from the speeds that the mechanism measures, and change with them. The history of a group is
//   kept where a group of about that speed is left.
// - The book weighs by IPC (Eq. 5.4), which a change of frequency leaves as it is: tasks of slow cores would seem to
//   take as long as those of fast ones. `weights=time` takes the processor time of the task itself, which interrupts
//   and other processes do not lengthen; `weights=ips` instructions per second; `weights=ipc` is the book's.
// - A class is unknown on a group where none of its tasks has ended. During the warm-up the book lets workers take from
//   any pool until all is known. Here the warm-up of a class also ends when 4 tasks a group have ended, because a rare
//   class may never meet each group; what is then unknown follows from the speeds.
// - A worker takes from a random pool of a cluster in the book, so that workers seldom meet at one pool. A pool's lock
//   is held for some ns here, and the order matters: a slow worker that helps a faster group at the end of a batch
//   lengthens the batch by the difference of the cores' times, least with the shortest tasks. So a worker takes the
//   longest tasks of its own and of slower groups first, and the shortest of faster groups. `pools=random` is the
//   book's.
// - A batch is held for at most `hold`, 10, beats, and not while nobody runs anything: its maker may wait for
//   something else.
// - The book starts the program's main task on the fastest core. Here all tasks that are nobody's children are taken by
//   the fastest group, and by others only when requests for other work have gone unanswered.
// - Programs whose tasks make tasks of their own class (divide and conquer) are scheduled by random stealing, child
//   first, as section 5.7 says. Forks are such tasks by nature, and are always stolen at random.
// - Where all cores are alike, tasks are made parent first and stolen at random, as by `pfws`. Nothing is measured.
// - Algorithm 9 has no end; here a worker that finds nothing sleeps, and a task that comes into a pool wakes one.
#include "policy/asymmetric/aats.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <heddle/policy_victims.hpp>

namespace heddle::policy {

namespace {

constexpr unsigned enough = 4;  // ended tasks of a class for each group

// Values of member::ran_in that are not the number of a group.
constexpr unsigned nowhere = core_groups::most, several = core_groups::most + 1;

// A destination of `send`: the pool of the task's class, the list of roots, or a thief.
enum slot : unsigned { to_pool, to_roots, to_thief };

// "1:0.5" as numbers.
std::vector<double> speeds_of(std::string_view text) {
  std::vector<double> speeds;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(':'));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || !(value > 0 && value <= 1e6))
      throw std::invalid_argument("policy parameter speeds: \"" + std::string(word) +
                                  "\" is not a speed above 0; write speeds=1:0.5, one for each worker in turn");
    speeds.push_back(value);
  }
  return speeds;
}

}  // namespace

aats::aats(options given)
    : options_(std::move(given)), classes_(options_.classes), ranges_(options_.classes, core_groups::most) {
  const options& o = options_;
  wants_.work_conserving = o.groups != across::none;
  wants_.figures = {.elapsed = false,
                    .processor_time = true,
                    .instructions = o.weights != class_weights::processor_time,
                    .misses = false,
                    .accesses = false};
  rows_.reserve(o.classes);
  from_.reserve(core_groups::most);
}

void aats::start(scheduler& host) {
  policy::start(host);
  const unsigned workers = host.workers();
  workers_.reset(new worker[workers]);
  groups_ = core_groups(workers);
  speeds_.resize(workers);
  snatching_.start(host);
  std::lock_guard hold(lock_);
  regroup();
}

double aats::speed_of(unsigned worker) const noexcept {
  if (options_.speeds.empty() || host_->speed(worker) == 0) return host_->speed(worker);
  return options_.speeds[worker % options_.speeds.size()];
}

// Must be called under the lock.
void aats::regroup() noexcept {
  const unsigned workers = host_->workers();
  double before[core_groups::most];
  const unsigned were = groups_.count();
  for (unsigned g = 0; g < were; ++g) before[g] = groups_.speed(g);
  for (unsigned w = 0; w < workers; ++w) speeds_[w] = speed_of(w);
  groups_.divide(speeds_, options_.step);
  from_.clear();
  bool same = groups_.count() == were;
  for (unsigned g = 0; g < groups_.count(); ++g) {
    unsigned like = core_groups::most;
    for (unsigned other = 0; other < were; ++other) {
      const double ratio = before[other] / groups_.speed(g);
      if (ratio > 1 - options_.step && ratio < 1 / (1 - options_.step)) like = other;
    }
    same = same && like == g;
    from_.push_back(like);
  }
  for (unsigned w = 0; w < workers; ++w) workers_[w].group.store(groups_.group_of(w));
  groups_count_.store(groups_.count());
  if (same) return;
  for (unsigned i = 0; i < classes_.count(); ++i) {
    task_class& c = classes_[i];
    std::lock_guard hold(c.lock);
    c.history.regroup(from_);
  }
}

void aats::workers_changed() noexcept {
  {
    std::lock_guard hold(lock_);
    regroup();
  }
  allocate(false);
  for (unsigned w = 0; w < host_->workers(); ++w) host_->wake(w);  // their clusters may be others now
}

// The group to which a class is allocated. There may be fewer groups than when that was decided.
unsigned aats::cluster_of(const task_class& c) const noexcept {
  return std::min(c.cluster.load(), groups_count_.load() - 1);
}

// Shares the classes out anew: by the tasks in the pools if `of_batch`, else by the tasks that have ended. Returns true
// if some group may take a class that it could not take before.
bool aats::allocate(bool of_batch) noexcept {
  std::lock_guard hold(lock_);
  rows_.clear();
  bool all_known = true;
  for (unsigned i = 0; i < classes_.count(); ++i) {
    task_class& c = classes_[i];
    std::lock_guard hold_class(c.lock);
    const std::uint64_t ended = c.history.ended();
    const auto count = static_cast<double>(of_batch ? c.pool.size() : ended);
    if (count == 0) continue;
    bool known = ended >= enough * groups_.count();
    row r{.what = &c, .count = count, .time = {}};
    bool everywhere = true;
    for (unsigned g = 0; g < groups_.count(); ++g) {
      r.time[g] = c.history.time(g, groups_);
      everywhere = everywhere && c.history.is_known(g);
    }
    known = known || everywhere;
    all_known = all_known && known;
    c.expected.store(r.time[0]);
    rows_.push_back(r);
  }
  const bool warms_up = !all_known || rows_.empty();
  const bool was_warming_up = warm_up_.exchange(warms_up);
  if (warms_up) return !was_warming_up;
  std::sort(rows_.begin(), rows_.end(), [](const row& a, const row& b) {
    return a.time[0] > b.time[0] || (a.time[0] == b.time[0] && a.what < b.what);
  });
  ranges_.find(static_cast<unsigned>(rows_.size()), groups_.cores(),
               [&](unsigned c, unsigned g) { return rows_[c].count * rows_[c].time[g]; });
  bool moved = was_warming_up;
  for (unsigned c = 0; c < rows_.size(); ++c)
    moved |= rows_[c].what->cluster.exchange(ranges_.group_of(c)) != ranges_.group_of(c);
  return moved;
}

void aats::beat() noexcept {
  if (holds_.load()) {
    bool over = host_->all_idle();
    {
      std::lock_guard hold(lock_);
      over = ++held_ >= options_.hold || over;
    }
    if (over) release(nobody);
    return;
  }
  if (groups_count_.load() == 1 || in_batches_.load() || !allocate(false)) return;
  to_tell_.store(true);
  // Workers that take from their own cluster alone may sleep beside a class that is theirs now.
  for (unsigned g = 0; options_.groups == across::none && g < groups_count_.load(); ++g) announce(g);
}

placement aats::next_iteration(unsigned, task& owner, const void*) noexcept {
  in_batches_.store(true);
  if (groups_count_.load() > 1) {
    batch_of_.store(&owner);
    {
      std::lock_guard hold(lock_);
      held_ = 0;
    }
    holds_.store(true);
  }
  return placement::stay;
}

void aats::group_wait(unsigned self, group_info& info) noexcept {
  if (holds_.load() && batch_of_.load() == &info.owner) release(self);
}

// The batch is made, or has been waited for long enough.
void aats::release(unsigned self) noexcept {
  batch_of_.store(nullptr);
  if (!holds_.load()) return;
  if (allocate(true)) to_tell_.store(true);
  if (!holds_.exchange(false)) return;
  for (unsigned w = 0; w < host_->workers(); ++w) {
    if (w != self) host_->wake(w);
  }
}

placement aats::started(unsigned, const task_info& info) noexcept {
  info.made.keep(member{nowhere});
  info.made.tag = &root_;
  return send_to(info.made, 0, to_roots);
}

placement aats::spawn(unsigned self, const task_info& info) noexcept {
  if (groups_count_.load() == 1) return placement::parent_first;
  task_class& c = classes_.of(info.label);
  if (!c.makes_itself.load() && info.parent != nullptr && info.parent->tag == &c) {
    if (!c.makes_itself.exchange(true))
      host_->remark(self, "aats: tasks that make tasks of their own class are stolen at random; class",
                    &c - &classes_[0]);
  }
  if (c.makes_itself.load()) return placement::child_first;
  info.made.keep(member{nowhere});
  info.made.tag = &c;
  return send_to(info.made, 0, to_pool);
}

void aats::enqueue(unsigned, task& t) noexcept {
  const task::destination to = t.to;
  if (to.slot == to_thief) return snatching_.enqueue(t, to.target);
  if (to.slot == to_roots) {
    root_.pool.push_back(t);
    return announce(0);
  }
  task_class& c = *static_cast<task_class*>(t.tag);
  c.pool.push_back(t);
  if (!holds_.load()) announce(cluster_of(c));
}

// Wakes a worker that may take what has come into the cluster, one of the group first.
void aats::announce(unsigned cluster) noexcept {
  unsigned any = 0;
  for (unsigned w = 0; w < host_->workers(); ++w) {
    if (workers_[w].group.load() != cluster) continue;
    any = w;
    if (host_->wake(w)) return;
  }
  if (options_.groups != across::none || warm_up_.load()) host_->wake_any(any);
}

// --- what is measured ---

double aats::rate_of(unsigned self, double time, const task_usage& what) const noexcept {
  if (options_.weights == class_weights::processor_time || !what.instructions.is_known() || time == 0) return 0;
  const double per_time = static_cast<double>(what.instructions.value) / time;
  return options_.weights == class_weights::instructions_per_second ? per_time : per_time / speed_of(self);
}

void aats::used(unsigned self, task& t, const task_usage& what) noexcept {
  const unsigned here = workers_[self].group.load();
  if (t.tag == &root_ || t.get<member>().ran_in != here || !what.processor_time.is_known()) return;
  const auto time = static_cast<double>(what.processor_time.value);
  task_class& c = *static_cast<task_class*>(t.tag);
  std::lock_guard hold(c.lock);
  c.history.add(here, time, rate_of(self, time, what));
}

void aats::task_end(unsigned self, task&) noexcept { workers_[self].running.store(nullptr); }

placement aats::preempted(unsigned self, task& t) noexcept {
  if (options_.groups != across::snatch) return placement::stay;
  const unsigned thief = snatching_.claimant_of(self);
  if (thief == nobody) return placement::stay;
  workers_[self].running.store(nullptr);
  return send_to(t, thief, to_thief);
}

// The victim is a slower worker, the one whose task is of the longest class.
void aats::snatch(unsigned self) noexcept {
  const unsigned own = workers_[self].group.load();
  const auto length = [&](unsigned w) {
    const task_class* const c = workers_[w].running.load();
    return c == nullptr || workers_[w].group.load() <= own ? 0 : c->expected.load();
  };
  snatching_.try_claim(self,
                       [&](unsigned best, unsigned w) { return length(w) > (best == nobody ? 0 : length(best)); });
}

// --- what a worker takes ---

template <class Accept>
task* aats::take_at_random(unsigned self, Accept&& accept) noexcept {
  const auto has_tasks = [&](const task_class& c) { return !c.pool.looks_empty() && accept(c); };
  unsigned count = 0;
  classes_.find_from(0, [&](task_class& c) { return count += has_tasks(c), false; });
  while (count != 0) {
    unsigned left = host_->random(self, count);
    task_class* const c = classes_.find_from(0, [&](task_class& c) { return has_tasks(c) && left-- == 0; });
    if (c == nullptr) return nullptr;  // others were quicker
    task* const t = c->pool.pop_front();
    if (t != nullptr) return t;
    count = 0;
    classes_.find_from(0, [&](task_class& c) { return count += has_tasks(c), false; });
  }
  return nullptr;
}

task* aats::take_of_class(unsigned self, unsigned cluster) noexcept {
  if (options_.order == pools::sorted) return take_by_length(cluster, cluster >= workers_[self].group.load());
  return take_at_random(self, [&](const task_class& c) { return cluster_of(c) == cluster; });
}

task* aats::take_by_length(unsigned cluster, bool longest) noexcept {
  for (;;) {
    task_class* best = nullptr;
    const auto is_better = [&](const task_class& c) {
      return best == nullptr || (c.expected.load() > best->expected.load()) == longest;
    };
    classes_.find_from(0, [&](task_class& c) {
      if (!c.pool.looks_empty() && cluster_of(c) == cluster && is_better(c)) best = &c;
      return false;
    });
    if (best == nullptr) return nullptr;
    if (task* const t = best->pool.pop_front(); t != nullptr) return t;
  }
}

// The preference list of Algorithm 9: the own group, the slower ones, then the faster ones, the next faster one first.
// Returns true if f returned true for one of them.
template <class F>
bool aats::any_preferred(unsigned self, F&& f) const noexcept {
  const unsigned own = workers_[self].group.load(), groups = groups_count_.load();
  if (f(own)) return true;
  if (options_.groups == across::none) return false;
  for (unsigned g = own + 1; g < groups; ++g) {
    if (f(g)) return true;
  }
  for (unsigned g = own; g-- > 0;) {
    if (f(g)) return true;
  }
  return false;
}

task* aats::take_root(unsigned self, effort how) noexcept {
  return workers_[self].group.load() == 0 || how == effort::insist ? root_.pool.pop_front() : nullptr;
}

entry aats::take(unsigned self, effort how) noexcept {
  task* found = options_.groups == across::snatch ? snatching_.take(self, how) : nullptr;
  if (found == nullptr) found = take_root(self, how);
  if (found == nullptr && !holds_.load()) {
    if (warm_up_.load()) found = take_at_random(self, [](const task_class&) { return true; });
    else any_preferred(self, [&](unsigned g) { return (found = take_of_class(self, g)) != nullptr; });
  }
  if (found == nullptr) return 0;
  if (options_.groups == across::snatch) snatching_.fed(self);
  member& m = found->get<member>();
  const unsigned here = workers_[self].group.load();
  m.ran_in = m.ran_in == nowhere || m.ran_in == here ? here : several;
  workers_[self].running.store(static_cast<task_class*>(found->tag));
  // The kernel thread of `beat` has no trace, so a worker tells.
  if (to_tell_.load(std::memory_order_relaxed) && to_tell_.exchange(false)) [[unlikely]]  // relaxed: a hint
    host_->remark(self,
                  in_batches_.load() ? "aats: the batch is shared out; groups of cores"
                                     : "aats: classes are shared out, by what has ended; groups of cores",
                  groups_count_.load());
  return host_->entry_of(*found);
}

entry aats::pick(unsigned self, bool own_is_empty) noexcept { return own_is_empty ? take(self, effort::glance) : 0; }

entry aats::acquire(unsigned self, effort how) noexcept {
  if (const entry found = take(self, how); found != 0) return found;
  const entry stolen = others(self, *host_).rob_at_random(*host_, how);
  if (options_.groups == across::snatch) {
    if (stolen != 0) snatching_.fed(self);
    else if (how == effort::insist) snatch(self);
  }
  return stolen;
}

bool aats::may_find(unsigned self) noexcept {
  if (!root_.pool.looks_empty() || policy::may_find(self)) return true;
  if (options_.groups == across::snatch && snatching_.may_find(self)) return true;
  if (holds_.load()) return false;
  const auto has_tasks = [&](unsigned g) {
    return classes_.find_from(0, [&](task_class& c) { return !c.pool.looks_empty() && cluster_of(c) == g; }) != nullptr;
  };
  if (warm_up_.load()) return classes_.find_from(0, [](task_class& c) { return !c.pool.looks_empty(); }) != nullptr;
  return any_preferred(self, has_tasks);
}

std::unique_ptr<policy> aats::make_as(parameters& given, across groups) {
  options o{};
  o.groups = groups;
  o.order = static_cast<pools>(given.choice("pools", "sorted|random"));
  o.weights = static_cast<class_weights>(given.choice("weights", "time|ips|ipc"));
  o.classes = given.whole("classes", 64, 2, 4096);
  o.hold = given.whole("hold", 10, 1, 1e6);
  o.step = given.number("step", 0.125, 0.01, 0.9);
  o.speeds = speeds_of(given.text("speeds"));
  return create<aats>(std::move(o));
}
std::unique_ptr<policy> aats::make(parameters& given) { return make_as(given, across::prefer); }
std::unique_ptr<policy> aats::make_np(parameters& given) { return make_as(given, across::none); }
std::unique_ptr<policy> aats::make_ts(parameters& given) { return make_as(given, across::snatch); }

}  // namespace heddle::policy
