// Random pushing: no worker steals. A worker that has made a task and whose queue is longer than a threshold pushes the
// oldest task of the queue, which is the largest, to a random other worker. The number of a worker's tasks in transit
// at the same time is limited.
//
// Source: van Nieuwpoort, Kielmann, Bal, "Efficient load balancing for wide-area divide-and-conquer applications"
// (PPoPP 2001), as Chen and Guo (2017), section 4.3, describe it.
//
// Deviations, and why:
// - The papers name no numbers, and say that they depend on program and network. Ours: a queue longer than `threshold`,
//   4, pushes; `transit`, 8, is the upper limit.
// - A push is a change of lists and arrives at once. The papers' limit guards against buffers of receivers that fill
//   up; here that corresponds to a task that lies where no worker takes it up. So a task is in transit until a worker
//   takes it up or pushes it on.
// - A worker that insists takes threads which were woken by a worker that is in a long leaf now. Such threads stand
//   with that worker, and in no queue.
// - Tasks that a foreign kernel thread makes go to worker 0.
#include "policy/stealing/random_pushing.hpp"

#include "platform/messages.hpp"

namespace heddle::policy {

namespace {

// For a task in a queue: the worker that has pushed it there; nobody if it was made there.
unsigned& sender_of(task& t) noexcept { return t.get<unsigned>(); }

}  // namespace

void random_pushing::start(scheduler& host) {
  policy::start(host);
  nodes_.reset(new node[host.workers()]);
}

void random_pushing::enqueue(unsigned self, task& t) noexcept {
  const unsigned rank = self == nobody ? 0 : self;
  t.keep(nobody);
  nodes_[rank].queue.push_front(t);
  if (self == nobody) host_->wake(rank);
  else push_surplus(self);
}

// Called when the task has left its queue.
void random_pushing::arrived(task& t) noexcept {
  const unsigned sender = sender_of(t);
  if (sender != nobody) nodes_[sender].in_transit.fetch_sub(1);
}

void random_pushing::push_surplus(unsigned self) noexcept {
  node& mine = nodes_[self];
  const unsigned workers = host_->workers();
  while (workers > 1 && mine.queue.size() > threshold_ && mine.in_transit.load() < transit_) {
    task* const t = mine.queue.pop_back();
    if (t == nullptr) return;
    arrived(*t);
    sender_of(*t) = self;
    mine.in_transit.fetch_add(1);  // incremented before another worker can take the task
    const unsigned drawn = host_->random(self, workers - 1);
    const unsigned receiver = drawn < self ? drawn : drawn + 1;
    platform::note_sent(t, self, true);  // tells simulations, in which a push takes time
    nodes_[receiver].queue.push_back(*t);
    host_->wake(receiver);
  }
}

entry random_pushing::take(unsigned self) noexcept {
  task* const t = nodes_[self].queue.pop_front();
  if (t == nullptr) return 0;
  arrived(*t);
  return host_->entry_of(*t);
}

entry random_pushing::acquire(unsigned self, effort how) noexcept {
  if (const entry found = take(self); found != 0 || how == effort::glance) return found;
  for (unsigned victim = 0; victim < host_->workers(); ++victim) {
    if (victim == self || !host_->has_work(victim)) continue;
    if (const entry found = host_->steal(self, victim, how); found != 0) return found;
  }
  return 0;
}

bool random_pushing::may_find(unsigned self) noexcept {
  return !nodes_[self].queue.looks_empty() || policy::may_find(self);
}

std::unique_ptr<policy> random_pushing::make(parameters& given) {
  const auto threshold = given.whole("threshold", 4, 0, 1e6);
  const auto transit = given.whole("transit", 8, 1, 1e6);
  return create<random_pushing>(threshold, transit);
}

}  // namespace heddle::policy
