#include "worker/policy_host.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <heddle/detail/placed_task.hpp>
#include "platform/platform.hpp"
#include "policy/registry.hpp"
#include "trace/emit.hpp"
#include "worker/carriers/carrier.hpp"
#include "worker/exceptions.hpp"
#include "worker/link_messages.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/sources.hpp"

namespace heddle::worker {

namespace {

// Used where a message goes to the victim's own handler.
void no_fence() noexcept {}

}  // namespace

policy_host::policy_host(const std::string& name, const worker_list& workers, sleepers& all, census& alive)
    : workers_(workers), sleepers_(all), census_(alive), policy_(policy::make(name)), wants_(policy_->wants()) {}

void policy_host::start(std::shared_ptr<const machine::topology> machine, trace::recorder* traced, bool trace_forks) {
  machine_ = std::move(machine);
  recorder_ = traced;
  policy_->start(*this);
  wants_ = policy_->wants();
  if (wants_.asks) askers_ = std::make_unique<queue::askers>(workers());
  if (wants_.changes) shares_.reset(new std::atomic<double>[workers_.size()]);
  for (unsigned rank = 0; rank < workers(); ++rank) {
    if (shares_ != nullptr) set_share(rank, -1);
  }
  for (const auto& w : workers_) w->pick_slowly(worker::special_threads, wants_.picks);
  for (const auto& w : workers_) w->watches_groups = wants_.groups || recorder_ != nullptr;
  for (const auto& w : workers_) {
    const bool joins = recorder_ != nullptr && trace_forks;
    w->watches_spawns = wants_.spawns;
    w->queues_children = !w->watches_groups && !w->watches_spawns;
    if (wants_.usage || wants_.elapsed || wants_.running) {
      meters_.push_back(std::make_unique<task_meter>(wants_, accounts_));
      w->meter = meters_.back().get();
    }
    w->watches_switches = w->ring != nullptr || wants_.usage || wants_.running;
    static_cast<void>(queue::watch_every_fork(*w, wants_.forks || joins, joins));  // nobody has asked yet
    if (wants_.forks) queue::keep_next(*w);
  }
}

unsigned policy_host::distance(unsigned a, unsigned b) const noexcept {
  if (a == b) return 0;
  return machine_ == nullptr ? 1 : machine_->view().distance(a, b);
}

entry policy_host::take_by_force(worker& thief, worker& from, void (*fence)() noexcept) const noexcept {
  if (queue::has_any(from)) {
    if (const entry found = queue::force_steal(from, fence); found != 0) {
      thief.counts.forced.fetch_add(1, std::memory_order_relaxed);  // a statistic
      return found;
    }
  }
  if (from.ready.looks_empty() ||
      !from.lone.is_given_up(from.threads.made.load(std::memory_order_relaxed) /* a hint */))
    return 0;
  thread* const t = from.ready.force_pop();
  return t != nullptr ? ready_entry(*t) : 0;
}

entry policy_host::steal(unsigned self, unsigned victim, policy::effort how) noexcept {
  worker& thief = *workers_[self];
  worker& from = *workers_[victim];
  trace::emit<trace::event::steal_attempt>(thief.ring, victim);
  // In a simulation over whose links messages go, the victim's handler of messages gives what the victim has.
  handle_requests();
  const platform::nanoseconds message = message_time(machine_.get(), self, victim);
  const round_trip waits(message);
  if (message != 0) how = policy::effort::insist;
  bool left = false;
  entry found = queue::steal(from, left);
  if (found == 0 && has_given(victim)) {
    if (const entry item = take_from_box(self, victim); item != 0) return item;
  }
  if (found == 0 && how == policy::effort::insist)
    found = take_by_force(thief, from, message == 0 ? platform::heavy_fence : no_fence);
  if (found == 0) {
    platform::charge(platform::operation::failed_steal);
    trace::emit<trace::event::steal_fail>(thief.ring, victim);
    return 0;
  }
  note_steal(thief, victim, found);
  // A request in advance, for the next thief (perhaps the same one): a victim that forks once more and then stays in a
  // long leaf would hide that fork until a forced steal.
  if (!left) queue::request(from);
  else if (sleepers_.idle().anyone_asleep()) sleepers_.wake_thief_of(victim);
  return found;
}

unsigned policy_host::steal_several(worker& thief, worker& from, entry* out, unsigned most) noexcept {
  if (wants_.limits || wants_.asks || wants_.picks || &thief.home != &from.home) return 0;
  if (message_time(machine_.get(), thief.rank, from.rank) != 0) return 0;
  bool left;
  const unsigned count = queue::steal_several(from, out, most, left);
  for (unsigned i = 0; i < count; ++i) note_steal(thief, from.rank, out[i]);
  if (left && sleepers_.idle().anyone_asleep()) sleepers_.wake_thief_of(from.rank);  // as in steal
  return count;
}

void policy_host::note_steal(worker& thief, unsigned victim, entry item) const noexcept {
  thief.counts.steals.fetch_add(1, std::memory_order_relaxed);  // a statistic
  platform::charge(platform::operation::steal, platform::simulated ? distance(thief.rank, victim) : 0);
  trace::emit<trace::event::steal_success>(thief.ring, victim, distance(thief.rank, victim), item);
}

bool policy_host::has_work(unsigned victim) const noexcept {
  const bool has = sources::any_to_rob(*workers_[victim]);
  if (!has) platform::charge(platform::operation::look);
  return has;
}

void policy_host::request(unsigned self, unsigned victim) noexcept {
  worker& from = *workers_[victim];
  if (from.requested.load(std::memory_order_relaxed)) return;  // queue::request looks again
  trace::emit<trace::event::request_post>(workers_[self]->ring, victim);
  queue::request(from);
}

// --- requests with an address: [ask:1] to [ask:6] of src/queue/README.md ------------------------------------------

entry policy_host::oldest(unsigned self) noexcept {
  entry item = 0;
  bool published = false;
  static_cast<void>(queue::take_oldest(*workers_[self], &item, 1, published));  // 0 when there is none
  if (published) workers_[self]->announce_queued();
  return item;
}

unsigned policy_host::queued(unsigned rank) const noexcept {
  platform::charge(platform::operation::look);
  return queue::size(*workers_[rank]) + (has_given(rank) ? 1 : 0);
}

bool policy_host::ask(unsigned self, unsigned victim) noexcept {
  if (workers_[self]->home.gangs().are_used()) return false;  // [ask:6]
  if (askers_ == nullptr || !may_rob(self, victim)) return false;
  if (const platform::nanoseconds message = message_time(machine_.get(), self, victim); message != 0) {
    if constexpr (platform::simulated) {
      if (askers_->has(self) || platform::is_under_way(self)) return false;
      platform::send_request({self, victim, platform::now() + message});
    }
  } else if (!askers_->post(self, victim, *workers_[victim])) {
    return false;
  }
  trace::emit<trace::event::request_post>(worker::current().ring, victim);
  return true;
}

bool policy_host::asks(unsigned self, unsigned victim) const noexcept {
  if (askers_ == nullptr) return false;
  if (message_time(machine_.get(), self, victim) == 0) return askers_->stands(self, victim);
  handle_requests();
  return platform::is_under_way(self);
}

bool policy_host::withdraw(unsigned self, unsigned victim) noexcept {
  if (askers_ == nullptr) return false;
  if (message_time(machine_.get(), self, victim) == 0) return askers_->withdraw(self, victim);
  return false;  // a message cannot be taken back, and its answer comes
}

void policy_host::handle_requests() const noexcept {
  if constexpr (platform::simulated) {
    platform::request_by_name due{};
    while (platform::due_request(due)) {
      worker& thief = *workers_[due.asker];
      worker& from = *workers_[due.victim];
      const platform::nanoseconds answered = due.arrives + message_time(machine_.get(), due.victim, due.asker);
      bool left = false;
      entry found = 0;
      unsigned giver = due.victim;
      if (!askers_->has(due.asker) && !thief.is_inactive()) {
        found = queue::steal(from, left);
        if (found == 0 && platform::has_arrived_in_box(due.victim)) found = askers_->take(due.victim, giver);
        if (found == 0) found = take_by_force(thief, from, no_fence);
      }
      if (found == 0) {
        platform::refuse_request(due.asker, answered);
        continue;
      }
      platform::end_request(due.asker);
      HEDDLE_CHECK(askers_->put(due.asker, due.victim, found), "the mailbox of worker %u is not empty", due.asker);
      platform::expect_in_box(due.asker, answered);
      sources::own_mailbox::announce(thief.home, due.asker);
    }
  }
}

unsigned policy_host::askers(unsigned self) const noexcept { return askers_ == nullptr ? 0 : askers_->count(self); }

// Counts as a steal from the worker that has given the entry.
entry policy_host::take_from_box(unsigned self, unsigned of) noexcept {
  if (!platform::has_arrived_in_box(of)) return 0;
  unsigned giver = of;
  const entry item = askers_->take(of, giver);
  if (item == 0) return 0;
  worker& thief = *workers_[self];
  if (self == of) trace::emit<trace::event::steal_attempt>(thief.ring, giver);
  note_steal(thief, giver, item);
  return item;
}

entry policy_host::entry_of(policy::task& t) noexcept {
  static_assert(std::is_standard_layout_v<thread>);
  if (const platform::sent how = platform::sent_by(&t); how.from != policy::nobody) {
    const platform::nanoseconds message = message_time(machine_.get(), how.from, worker::current().rank);
    const platform::nanoseconds arrives = platform::now() + 2 * message;  // a request, and the answer
    const platform::nanoseconds pushed = std::max(how.when + message, platform::now());
    if (message != 0) platform::pass_message((how.is_pushed ? pushed : arrives) - platform::now());
  }
  // A thread and a task of another library begin a cache line each, and have this at different places in theirs.
  constexpr std::size_t line = alignof(detail::placed_task);
  static_assert(alignof(thread) == line && offsetof(thread, scheduling) % line != 0);
  if (reinterpret_cast<std::uintptr_t>(&t) % line == 0)
    return detail::entry_of(&reinterpret_cast<detail::placed_task*>(&t)->entry);
  return ready_entry(*reinterpret_cast<thread*>(reinterpret_cast<char*>(&t) - offsetof(thread, scheduling)));
}

double policy_host::speed(unsigned rank) const noexcept {
  if (workers_[rank]->is_inactive()) return 0;
  const double declared = machine_ == nullptr ? 1 : machine_->view().unit_of(rank).speed;
  const double share = shares_ == nullptr ? -1 : shares_[rank].load(std::memory_order_relaxed);  // a number
  return share < 0 ? declared : declared * share;
}

policy::source policy_host::speed_source(unsigned rank) const noexcept {
  // a number
  if (shares_ != nullptr && shares_[rank].load(std::memory_order_relaxed) >= 0)
    return platform::simulated ? policy::source::simulated : policy::source::clock;
  return machine_ == nullptr ? policy::source::none : policy::source::declared;
}

void policy_host::interrupt(unsigned victim) noexcept {
  if (!has_preemption()) return;
  worker& w = *workers_[victim];
  w.ticking.end_slice.store(true);  // before the tick, which looks for it
  // a hint: a worker on its way to another carrier is not interrupted
  if (const int id = w.ticking.kernel_thread.load(std::memory_order_relaxed); id != 0) platform::send_tick(id);
}

bool policy_host::wake(unsigned rank) noexcept { return sources::policy_work::is_announced() && sleepers_.wake(rank); }

void policy_host::wake_any(unsigned near) noexcept {
  if (sources::policy_work::is_announced()) sleepers_.wake_any(near);
}

bool policy_host::all_idle() const noexcept {
  for (const auto& w : workers_) {
    if (!w->idle.load(std::memory_order_relaxed)) return false;  // a hint
  }
  return true;
}

void policy_host::watch(unsigned self, bool on) noexcept {
  worker& w = *workers_[self];
  w.watches_groups = (wants_.groups && on) || recorder_ != nullptr;
  w.watches_spawns = wants_.spawns && on;
  w.queues_children = !w.watches_groups && !w.watches_spawns;
  const bool forks = (wants_.forks && on) || w.every_join;
  wants_.forks&& on ? queue::keep_next(w) : queue::keep_none(w);
  if (w.every_fork != forks && queue::watch_every_fork(w, forks, w.every_join)) w.announce_queued();
}

void policy_host::warn_of_hint(unsigned self, const char* text, double value) noexcept {
  worker& w = *workers_[self];
  if (w.ring == nullptr) return;
  const thread* by = w.current_thread();
  trace::emit<trace::event::hint_warning>(w.ring, recorder_->text(text), by != nullptr ? by->id : 0, value);
}

void policy_host::remark(unsigned self, const char* text, std::uint64_t value) noexcept {
  worker& w = *workers_[self];
  if (w.ring != nullptr) trace::emit<trace::event::policy_note>(w.ring, recorder_->text(text), value);
}

void policy_host::place_running() noexcept {
  worker& w = worker::current();
  if (w.current_thread()->ties.belongs.is_pinned()) return;  // it is where it belongs
  const exception_state handled = w.by->leave_exceptions();
  w.switch_away(
      *w.current_thread(),
      [](void* self, void* host) {
        static_cast<policy_host*>(host)->policy_->enqueue(worker::current().rank,
                                                          static_cast<thread*>(self)->scheduling);
      },
      w.current_thread(), this);
  take_back_exceptions(handled);
}

// A worker outlives its call, because the destructor joins it before the policy goes. Any other kernel thread is in the
// same position as in submit: once the policy has queued the thread, that may run and end, and with it the last reason
// for the runtime to stay.
void policy_host::enqueue(unsigned self, thread& t) noexcept {
  if (self != policy::nobody) {
    platform::note_sent(&t.scheduling, self);
    policy_->enqueue(self, t.scheduling);
  } else {
    census_.begin_call();
    policy_->enqueue(self, t.scheduling);
    census_.end_call();
  }
  threads_sent_.fetch_add(1, std::memory_order_relaxed);  // a hint
}

// Repeats the steps [sleep:2], [sleep:4] and [sleep:5] on behalf of all workers that sleep.
void policy_host::widened() noexcept {
  if (!sleepers_.idle().anyone_asleep()) return;
  for (const auto& w : workers_) queue::request_anew(*w);
  platform::heavy_fence();
  for (unsigned r = 0; r < workers(); ++r) {
    if (sources::any_to_rob(*workers_[r])) sleepers_.wake_thief_of(r);
  }
}

}  // namespace heddle::worker
