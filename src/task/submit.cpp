// Submitted jobs: which queue one goes to, and what the policy and the trace are told ("Submitted jobs" in README.md).
#include <heddle/job.hpp>

#include <heddle/runtime.hpp>

#include "platform/messages.hpp"
#include "task/fork_apart.hpp"
#include "task/spawn.hpp"
#include "worker/inline.hpp"
#include "worker/jobs.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle {

namespace detail {

namespace {

using block = fiber::thread;

// The body of a thread that was made for a job.
HEDDLE_NO_TSAN void enter_job(block* self) noexcept {  // may end by heddle_end, inside its call
  const bool spawned = self->ties.spawner != nullptr;
  worker::run_job(*self, self->body.job);
  if (self->scheduling.tag != nullptr) end_half(worker::worker::current(), *self);
  if (spawned && take_spawner_back(*self)) return;
  worker::serve(*self);
  if (spawned) heddle_end(self);  // begun by heddle_spawn: a return would go to the spawner
}

// The job runs at once, in its submitter's place; the submitter's continuation is offered to thieves.
void run_job_first(worker::worker& w, block& self, block& made, void* top) noexcept {
  made.ties.spawner = &self;
  // relaxed: read by this spawn's child only while the spawner stands still
  made.ties.spawn_number = self.spawns.load(std::memory_order_relaxed) + 1;
  self.spawns.store(made.ties.spawn_number, std::memory_order_relaxed);
  w.spawn(self, made, top, offer_continuation, enter_job);
  self.taken = false;  // nobody counts
}

// For a policy that watches tasks, or a level beside the normal one: the job gets a thread, and the policy says where
// that goes. `w` is the worker on which a thread of this runtime calls, or null. Returns false if there is no memory.
bool submit_thread(worker::runtime& home, worker::worker* w, heddle::job& work, const task_info& info) noexcept {
  block* const made = worker::new_block(home, 0);
  if (made == nullptr) return false;
  void* const top = worker::top_of(*made, home.options().threads);
  made->body.job = submitted::word(work);
  made->group = nullptr;
  made->ties.spawner = nullptr;
  made->level.store(static_cast<std::int8_t>(info.priority), std::memory_order_relaxed);  // published with the thread
  const void* const label = submitted::label(work);
  if (w == nullptr || info.priority != priority::normal) {
    worker::start_at(*made, top, enter_job);
    worker::start_root(*made, label, info.work, info.bytes);
    return true;
  }
  block& self = *w->current_thread();
  const policy::task_info told{
      made->scheduling, &self.scheduling, label, info.work, policy::not_given, info.bytes, 0, 0, nullptr};
  const policy::placement where = w->home.host().scheduler_policy().spawn(w->rank, told);
  if (where == policy::placement::child_first && !self.ties.belongs.is_pinned()) {
    run_job_first(*w, self, *made, top);
    return true;
  }
  worker::start_at(*made, top, enter_job);
  w->blocks.collect_returned();
  if (where != policy::placement::send) {
    w->queue_child(*made);
    return true;
  }
  platform::note_sent(&made->scheduling, w->rank);
  w->home.host().scheduler_policy().enqueue(w->rank, made->scheduling);
  return true;
}

void submit_to(worker::runtime& home, heddle::job& work, const task_info& info) noexcept {
  const worker::caller who = worker::caller::now();
  if (who.is_user_code()) [[unlikely]]
    return worker::in_section([&] { submit_to(home, work, info); });
  worker::worker* w = who.on_or_null();
  if (w != nullptr && &w->home != &home) w = nullptr;
  submitted::label(work) =
      info.label != nullptr ? info.label : reinterpret_cast<const void*>(submitted::function(work));
  home.census().count_made(w);
  if (worker::arena* const in = home.arena(); in != nullptr) in->job_begins();
  // In the run loop, as in a function of a policy: nobody forks there, and a last look before a sleep passes over the
  // worker's own queue.
  if (w != nullptr && w->current_thread() == nullptr) w = nullptr;
  if (w != nullptr && w->ring != nullptr) [[unlikely]]
    trace::emit<trace::event::spawn>(w->ring, 0u, submitted::word(work), info.work);
  const bool is_watched = w != nullptr ? w->watches_spawns : home.host().wants().roots;
  if (is_watched || info.priority != priority::normal) [[unlikely]] {
    if (submit_thread(home, w, work, info)) return;
  }
  if (w != nullptr && push(entry_of(submitted::word(work))) != nullptr) return;
  home.submit(work);
}

}  // namespace

}  // namespace detail

void submit(job& work, const task_info& info) {
  worker::runtime& home = worker::here();
  home.precedence().use(info.priority);
  detail::submit_to(home, work, info);
}

void runtime::submit(job& work, const task_info& info) {
  core_->precedence().use(info.priority);
  detail::submit_to(*core_, work, info);
}

}  // namespace heddle
