#include "worker/runtime.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/contracts.hpp"
#include "machine/topology.hpp"
#include "worker/faults.hpp"
#include "worker/new_thread.hpp"
#include "worker/section.hpp"
#include "worker/trace_cost.hpp"

namespace heddle::worker {

namespace {

std::string symbol_name(std::uint64_t address) {
  const platform::symbol found = platform::symbol_at(reinterpret_cast<void*>(address));
  if (found.name == nullptr) return {};
  int status = 0;
  char* plain = abi::__cxa_demangle(found.name, nullptr, nullptr, &status);
  std::string name = status == 0 ? plain : found.name;
  std::free(plain);
  return name;
}

trace::code_place place_in_file(std::uint64_t address) {
  const platform::symbol found = platform::symbol_at(reinterpret_cast<void*>(address));
  if (found.module == nullptr) return {};
  // The program's own name may be relative to a folder that it has left.
  std::error_code none;
  const std::string module =
      found.module[0] == '/' ? found.module : std::filesystem::read_symlink("/proc/self/exe", none).string();
  return {module, found.offset};
}

#if !defined(HEDDLE_SIM)
trace::usage used_so_far() noexcept {
  const platform::usage used = platform::used_so_far();
  return {used.cpu, used.sleeps, static_cast<std::uint64_t>(platform::kernel_thread_id())};
}
#endif

}  // namespace

runtime::runtime(settings s)
    : settings_(std::move(s)),
      stacks_(new fiber::stack_pool(settings_.stack_size, settings_.stack_cache)),
      policy_(policy::make(settings_.policy)),
      wants_(policy_->wants()),
      sleepers_(workers_, *policy_, wants_.limits,
                static_cast<unsigned>(std::max<std::size_t>(settings_.units.size(), 1))),
      priorities_(static_cast<unsigned>(std::max<std::size_t>(settings_.units.size(), 1))),
      capacity_(workers_, sleepers_, inbox_, wants_, settings_.allowed,
                static_cast<unsigned>(std::max<std::size_t>(settings_.units.size(), 1))),
      lending_(*this, workers_,
               platform::foreign_threads_borrow() && !settings_.threads.preemptive() && !wants_.roots &&
                   !wants_.limits && !settings_.allowed),
      blocking_calls_(settings_.blocking_limit),
      ticks_(settings_.plan, static_cast<unsigned>(std::max<std::size_t>(settings_.units.size(), 1))) {
  if (settings_.units.empty()) settings_.units.push_back(-1);
  if (settings_.units.size() > policy_->most_workers()) settings_.units.resize(policy_->most_workers());
  const auto count = static_cast<unsigned>(settings_.units.size());
  platform::explain_faults(explain_fault);
  static_cast<void>(kind_of(preemption::as_runtime, tls::as_runtime));
  if (!settings_.trace_file.empty()) {
    trace::recorder_options options;
    options.records = settings_.trace_records;
    options.now = platform::now;
    options.policy = settings_.policy;
    options.program = settings_.program;
    options.machine = settings_.machine != nullptr ? settings_.machine->name() : std::string();
    options.symbol = symbol_name;
    options.place = place_in_file;
#if !defined(HEDDLE_SIM)
    options.use = used_so_far;
#endif
    options.attributes["forks"] = settings_.trace_forks ? "all" : "slow path";
    options.attributes["seed"] = std::to_string(settings_.seed);
    options.attributes["clock"] = platform::simulated ? "virtual" : "real";
    if (platform::simulated) options.attributes["event_ns"] = "0";
    if (settings_.trace_forks) options.attributes["fork_ns"] = std::to_string(cost_of_traced_fork());
    recorder_ = std::make_unique<trace::recorder>(count, options);
    traced_.emplace(*this);
  }
  for (unsigned rank = 0; rank < count; ++rank) {
    workers_.push_back(std::make_unique<worker>(*this, rank, settings_.units[rank], settings_.seed + rank));
    if (recorder_ != nullptr) workers_.back()->ring = recorder_->of(rank);
  }
  capacity_.begin();
  for (const auto& w : workers_) w->picks_specially.store(wants_.picks);
  for (const auto& w : workers_) w->watches_groups = wants_.groups || recorder_ != nullptr;
  policy_->start(*this);
  for (const auto& w : workers_) {
    const bool traced = recorder_ != nullptr && settings_.trace_forks;
    w->watches_spawns = wants_.spawns;
    w->queues_children = !w->watches_groups && !w->watches_spawns;
    static_cast<void>(queue::watch_every_fork(*w, wants_.forks || traced, traced));  // nobody has asked yet
  }
  watchdog_ = std::make_unique<watchdog>(*this, settings_.watchdog, settings_.dump_signal);
  for (unsigned rank = 0; rank < count; ++rank) {
    carrier* c = carriers_.make(settings_.units[rank]);
    if (c != nullptr) {
      workers_[rank]->by = c;
      c->assigned = workers_[rank].get();
      c->signal.store(1);
      platform::wake_one(c->signal);
      continue;
    }
    creator_.end();
    stop();
    const int error = carriers_.start_error();
    throw std::system_error(std::error_code(error, std::generic_category()),
                            "heddle: kernel thread " + std::to_string(rank + 1) + " of " + std::to_string(count) +
                                " could not be started (" + platform::why_not_started(error).text +
                                "); set HEDDLE_WORKERS lower, or raise the limit");
  }
  if (capacity_.has_limits() && capacity_.can_change()) {
    capacity_.begin_to_follow();
    creator_.start();
  }
  platform::runtime_started(this, settings_.policy.c_str(), count,
                            [](const void* home) { dump_threads(*static_cast<runtime*>(const_cast<void*>(home))); });
}

runtime::~runtime() {
  watchdog_.reset();
  {
    const section inside;
    HEDDLE_CHECK(worker::current() == nullptr || &worker::current()->home != this,
                 "a runtime is destroyed by one of its own workers");
  }
  census_.wait_until_drained([this] { sleepers_.send_tokens(); });
  census_.wait_for_calls();         // somebody is still in submit or place, past its push
  for (const auto& w : workers_) {  // a foreign kernel thread gives the worker back, its call being over
    while (worker::state::is_lent(w->token.load())) platform::yield_processor();
  }
  creator_.end();
  capacity_.set_active(workers());
  stop();
  platform::runtime_ended(this);
  if (traced_) traced_->finish();
}

// All workers end, and all carriers with them.
void runtime::stop() noexcept {
  stopping_.store(true);
  carriers_.forget_spares();
  sleepers_.send_tokens();
  carriers_.join_all();
}

// --- threads from outside ----------------------------------------------------------------------------------------

void runtime::submit(thread& t) noexcept {
  // Until the push the thread keeps the runtime alive; from then on only this count does.
  census_.begin_call();
  const unsigned raised = precedence_.raised();
  const int level = t.level.load();
  if (level == 0 || !priorities_.push(t, static_cast<unsigned>(t.id % workers()), place::on_top)) [[likely]] {
    inbox_.push(t);
    // perhaps that one: the workers have looked for it before it was there
    if (precedence_.raised() != raised) [[unlikely]]
      precedence_.look_again();
  }
  sleepers_.wake_one_for(0);
  if (precedence_.is_used()) [[unlikely]]
    precedence_.evict_for(level);
  census_.end_call();
}

// A worker outlives its call, for the destructor joins it before the policy goes.
// Any other kernel thread is where submit is: once the policy has queued the
// thread, it may run and end, and with it the last reason for the runtime to stay.
void runtime::place(unsigned self, thread& t, const policy::placement& where) noexcept {
  if (self != policy::nobody) return policy_->place(self, t.scheduling, where);
  census_.begin_call();
  policy_->place(self, t.scheduling, where);
  census_.end_call();
}

thread* runtime::new_block(std::size_t stack_bytes) noexcept {
  const unsigned size_class = stack_bytes == 0 ? stacks_->default_class() : fiber::stack_pool::class_for(stack_bytes);
  if (size_class >= fiber::stack_pool::classes) return nullptr;
  worker* w = worker::current();
  const bool from_cache = w != nullptr && &w->home == this && size_class == stacks_->default_class();
  thread* t = from_cache ? w->blocks.new_block() : stacks_->take(size_class, 1);
  if (t == nullptr) return nullptr;
  if (!from_cache) t->cache = nullptr;
  renew_thread(*t, *this);
  t->preemptive = nullptr;  // of a child whose end left it, in a runtime whose threads are preemptive as a rule
  return t;
}

thread* runtime::new_light() noexcept {
  worker* w = worker::current();
  thread* t = w != nullptr && &w->home == this ? w->blocks.new_light() : stacks_->take_light();
  if (t != nullptr) renew_light(*t, *this);
  return t;
}

void runtime::free_thread(thread& t) noexcept {
  worker* w = worker::current();
  if (w != nullptr && &w->home.stacks() == t.pool) return w->blocks.free_thread(t);
  if (fiber::is_light(t)) return t.pool->give_light(t);
  t.next = nullptr;
  t.pool->give(&t);
}

// --- what a policy asks of the mechanism -------------------------------------------------------------------------

unsigned runtime::distance(unsigned a, unsigned b) const noexcept {
  if (a == b) return 0;
  return settings_.machine == nullptr ? 1 : settings_.machine->distance(a, b);
}

entry runtime::steal(unsigned self, unsigned victim, policy::effort how) noexcept {
  worker& thief = *workers_[self];
  worker& from = *workers_[victim];
  trace::emit<trace::event::steal_attempt>(thief.ring, victim);
  bool left = false;
  entry found = queue::steal(from, left);
  if (found == 0 && how == policy::effort::insist) {
    if (queue::has_any(from)) {
      found = queue::force_steal(from, platform::heavy_fence);
      if (found != 0) thief.counts.forced.fetch_add(1, std::memory_order_relaxed);  // a statistic
    }
    if (found == 0 && !from.ready.looks_empty() &&
        from.lone.is_given_up(from.threads_made.load(std::memory_order_relaxed) /* a hint */)) {
      if (thread* t = from.ready.force_pop(); t != nullptr) found = ready_entry(*t);
    }
  }
  if (found == 0) {
    platform::charge(platform::operation::failed_steal);
    trace::emit<trace::event::steal_fail>(thief.ring, victim);
    return 0;
  }
  thief.counts.steals.fetch_add(1, std::memory_order_relaxed);  // a statistic
  platform::charge(platform::operation::steal, platform::simulated ? distance(self, victim) : 0);
  trace::emit<trace::event::steal_success>(thief.ring, victim, distance(self, victim), found);
  // In advance, for the next thief (this one, perhaps): a victim that forks once more and then stays in a long leaf
  // would hide that fork until a forced steal.
  if (!left) queue::request(from);
  else if (sleepers_.idle().anyone_asleep()) sleepers_.wake_thief_of(victim);
  return found;
}

bool runtime::has_work(unsigned victim) const noexcept {
  const bool has = queue::has_any(*workers_[victim]) || !workers_[victim]->ready.looks_empty();
  if (!has) platform::charge(platform::operation::look);
  return has;
}

void runtime::request(unsigned self, unsigned victim) noexcept {
  worker& from = *workers_[victim];
  if (from.requested.load(std::memory_order_relaxed)) return;  // queue::request looks again
  trace::emit<trace::event::request_post>(workers_[self]->ring, victim);
  queue::request(from);
}

entry runtime::entry_of(policy::task& t) noexcept {
  static_assert(std::is_standard_layout_v<thread>);
  return ready_entry(*reinterpret_cast<thread*>(reinterpret_cast<char*>(&t) - offsetof(thread, scheduling)));
}

bool runtime::all_idle() const noexcept {
  for (const auto& w : workers_) {
    if (!w->idle.load(std::memory_order_relaxed)) return false;  // a hint
  }
  return true;
}

void runtime::watch(unsigned self, bool on) noexcept {
  worker& w = *workers_[self];
  w.watches_groups = (wants_.groups && on) || recorder_ != nullptr;
  w.watches_spawns = wants_.spawns && on;
  w.queues_children = !w.watches_groups && !w.watches_spawns;
  const bool forks = (wants_.forks && on) || w.every_join;
  if (w.every_fork != forks && queue::watch_every_fork(w, forks, w.every_join)) w.announce_work();
}

void runtime::warn_of_hint(unsigned self, const char* text, double value) noexcept {
  worker& w = *workers_[self];
  if (w.ring == nullptr) return;
  const thread* by = w.current_thread();
  trace::emit<trace::event::hint_warning>(w.ring, recorder_->text(text), by != nullptr ? by->id : 0, value);
}

void runtime::remark(unsigned self, const char* text, std::uint64_t value) noexcept {
  worker& w = *workers_[self];
  if (w.ring != nullptr) trace::emit<trace::event::policy_note>(w.ring, recorder_->text(text), value);
}

void runtime::place_running(const policy::placement& where) noexcept {
  struct move {
    runtime* home;
    policy::placement where;
    thread* self;
  } m{this, where, worker::current()->current_thread()};
  worker* w = worker::current();
  const exception_state handled = w->by->leave_exceptions();
  w->switch_away(
      *m.self,
      [](void* data, void*) {
        const move inner = *static_cast<move*>(data);  // on the thread's stack, ours until it is placed
        inner.home->policy_->place(worker::current()->rank, inner.self->scheduling, inner.where);
      },
      &m, nullptr);
  if (handled.any()) [[unlikely]]
    *worker::current()->by->exceptions = handled;
}

}  // namespace heddle::worker
