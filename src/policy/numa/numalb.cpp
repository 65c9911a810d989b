// NUMALB serves programs that repeat the same tasks, which send messages to each other. The time that each task used in
// one iteration, and the messages that it sent to other tasks, decide where it runs in the next one. The heaviest task
// is placed first, and each task goes where it costs least, by load and by the data that it has to fetch from other
// nodes (numa_balance.hpp).
//
// Source: Pilla, Ribeiro, Cordeiro, Bhatele, Navaux, Mehaut, Kale, "Improving parallel system performance with a
// NUMA-aware load balancer" (TR-JLPC-11-02, 2011), as Chen and Guo (2017), section 4.3, describe it. Theirs balances
// the objects of Charm++.
//
// Deviations, and why:
// - An object is a child of a group, outside any other placed child: the i-th child of a place in the program (its
//   label), each time the same one. An iteration is a group. A place may have `objects` children, 1024, which talk to
//   eight others each on average, and there may be `sites` places, 4. Children beyond that are not placed, and run as
//   under random_ws:spawn=child; messages beyond that number are ignored.
// - Messages are those that the program tells by heddle::communicates. Charm++ sees them itself.
// - In the first iteration children are dealt out in equal blocks if their number is told, else round robin.
// - Objects are placed anew in each iteration, by the load of the one before. A child of which nothing is known
//   (because the clock does not tell) has no load.
// - The latency of the own node is the time that a worker waits for a line that another worker of the node had last. So
//   it is the latency of their shared cache if they have one. A node of one worker has no such latency, and its factors
//   are 1.
// - The paper leaves alpha to the user. Ours, `alpha`, is the ns of load that a local message is worth, 100: about a
//   line from memory.
// - No worker steals a placed task. The forks of placed children are stolen at random.
#include "policy/numa/numalb.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

namespace heddle::policy {

namespace {

struct object {
  unsigned number;
};

}  // namespace

numalb::site::site(const numa_factors& factors, const std::vector<unsigned>& nodes, double alpha, unsigned objects)
    : balance(factors, nodes, alpha), cores(objects, 0) {
  balance.reserve(objects, 4 * objects);
  balance.clear(objects);
}

void numalb::start(scheduler& host) {
  policy::start(host);
  const unsigned workers = host.workers();
  queues_.reset(new queue[workers]);
  std::vector<unsigned> node_of(workers, 0), first{0};  // `first` has, for each node, a worker
  const machine::view machine = host.machine();
  if (machine.workers() == workers) {
    first.clear();
    for (unsigned w = 0; w < workers; ++w) {
      const auto same = [&](unsigned other) { return machine.unit_of(other).numa == machine.unit_of(w).numa; };
      const auto known = std::find_if(first.begin(), first.end(), same);
      node_of[w] = static_cast<unsigned>(known - first.begin());
      if (known == first.end()) first.push_back(w);
    }
  }
  const auto nodes = static_cast<unsigned>(first.size());
  std::vector<double> latencies(std::size_t{nodes} * nodes, 0);
  for (unsigned i = 0; i < nodes && nodes > 1; ++i) {
    for (unsigned w = 0; w < workers; ++w) {
      if (w == first[i]) continue;
      double& known = latencies[i * nodes + node_of[w]];
      known = std::max(known, machine.latency(first[i], w));
    }
  }
  const numa_factors factors(std::move(latencies), nodes);
  for (unsigned i = 0; i < sites_; ++i) all_.push_back(std::make_unique<site>(factors, node_of, alpha_, objects_));
}

numalb::site* numalb::site_of(const void* label) noexcept {
  std::lock_guard hold(lock_);
  for (const auto& s : all_) {
    if (s->label == nullptr) s->label = label;
    if (s->label == label) return s.get();
  }
  return nullptr;
}

// Must be called under the site's lock, when the next iteration makes its first child.
void numalb::place_anew(unsigned self, site& s) noexcept {
  s.balance.assign(s.seen);
  std::uint64_t moved = 0;
  for (unsigned i = 0; i < s.seen; ++i) {
    const unsigned core = s.balance.core_of(i);
    if (i >= s.placed || s.cores[i] != core) ++moved;
    s.cores[i] = core;
  }
  s.placed = s.seen;
  s.seen = 0;
  s.balance.clear(objects_);
  host_->remark(self, "numalb: children that go to another worker than before", moved);
}

placement numalb::spawn(unsigned self, const task_info& info) noexcept {
  const bool is_outermost = info.parent == nullptr || info.parent->tag == nullptr;
  site* const s = is_outermost && info.index < objects_ ? site_of(info.label) : nullptr;
  if (s == nullptr) return placement::child_first;
  const unsigned workers = host_->workers();
  unsigned core = 0;
  {
    std::lock_guard hold(s->lock);
    if (info.index == 0 && s->seen != 0) place_anew(self, *s);
    s->seen = std::max(s->seen, info.index + 1);
    if (info.index < s->placed) core = s->cores[info.index];
    else if (info.siblings > info.index)
      core = static_cast<unsigned>(std::uint64_t{info.index} * workers / info.siblings);
    else core = info.index % workers;
  }
  info.made.keep(object{info.index});
  info.made.tag = s;
  return send_to(info.made, core);
}

void numalb::enqueue(unsigned, task& t) noexcept {
  const unsigned target = t.to.target;
  queues_[target].tasks.push_back(t);
  host_->wake(target);
}

void numalb::used(unsigned, task& t, const task_usage& what) noexcept {
  if (!what.processor_time.is_known()) return;
  site& s = *static_cast<site*>(t.tag);
  std::lock_guard hold(s.lock);
  s.balance.set_load(t.get<object>().number, static_cast<double>(what.processor_time.value));
}

void numalb::communicates(unsigned, task& by, unsigned to, double messages) noexcept {
  if (by.tag == nullptr || to >= objects_) return;
  site& s = *static_cast<site*>(by.tag);
  std::lock_guard hold(s.lock);
  // If there is no room, only a hint is lost.
  static_cast<void>(s.balance.add_messages(by.get<object>().number, to, messages));
}

entry numalb::take(unsigned self) noexcept {
  task* const t = queues_[self].tasks.pop_front();
  return t == nullptr ? 0 : host_->entry_of(*t);
}

entry numalb::acquire(unsigned self, effort how) noexcept {
  const entry found = take(self);
  return found != 0 ? found : others(self, *host_).rob_at_random(*host_, how);
}

bool numalb::may_find(unsigned self) noexcept { return !queues_[self].tasks.looks_empty() || policy::may_find(self); }

std::unique_ptr<policy> numalb::make(parameters& given) {
  const double alpha = given.number("alpha", 100, 0, 1e12);
  const auto objects = given.whole("objects", 1024, 1, 1e6);
  const auto sites = given.whole("sites", 4, 1, 1000);
  return create<numalb>(alpha, objects, sites);
}

}  // namespace heddle::policy
