// Forks whose second half becomes a task:
// 1. The policy is shown the fork.
// 2. The job is taken back from the queue. If a thief has taken it meanwhile, the fork is an ordinary one.
// 3. A thread is made for the job, and the policy says where the thread goes.
// 4. The join finds no job in any queue and waits for the job's word, as for a stolen one.
#include "task/fork_apart.hpp"

#include "platform/messages.hpp"
#include "queue/fork_queue.hpp"
#include "task/spawn.hpp"
#include "worker/inline.hpp"
#include "worker/jobs.hpp"
#include "worker/runtime.hpp"
#include "worker/time/task_meter.hpp"

namespace heddle::detail {

namespace {

using block = fiber::thread;

HEDDLE_NO_TSAN void enter_half(block* self) noexcept {  // may end by heddle_end, inside its call
  const bool spawned = self->ties.spawner != nullptr;
  worker::run_job(*self, self->body.job);
  if (spawned && take_spawner_back(*self)) return;
  worker::serve(*self);
  // It was begun by heddle_spawn, so a return would go to the spawner.
  if (spawned) heddle_end(self);
}

}  // namespace

ticket fork_apart(worker::worker& self, slot* position, double first, double second, std::size_t bytes) noexcept {
  const entry item = position->load(std::memory_order_relaxed);  // relaxed: own slot
  policy::policy& scheduler = self.home.host().scheduler_policy();
  block& owner = *self.current_thread();
  // Thieves could take this thread itself: [pin:2].
  if (owner.ties.belongs.is_pinned()) return nullptr;
  const policy::fork_info info{first, second, bytes, owner.scheduling};
  if (!scheduler.fork_begin(self.rank, info)) return nullptr;
  self.blocks.collect_returned();
  block* half = nullptr;
  if (const unsigned size_class = owner.stack->size_class; size_class > self.home.stacks().default_class()) [[unlikely]]
    half = worker::new_block(self.home, fiber::stack_pool::bytes_of(size_class));
  if (half == nullptr) half = self.blocks.new_block();
  if (half == nullptr) return nullptr;
  self.bottom.store(position, std::memory_order_release);  // as in a pop: pairs with force_steal
  const queue::slow_outcome back = queue::pop(self, position);
  if (back.published) self.announce_answer();
  queue::keep_next(self);
  // A thief took it before it was held back, so the fork is an ordinary one.
  if (!back.done) {
    self.blocks.free_thread(*half);
    return position;
  }
  worker::renew_thread(*half, self.home);
  void* const top = worker::top_of(*half, self.home.options().threads);
  half->body.job = reinterpret_cast<job*>(item);
  half->group = nullptr;
  half->ties.spawner = nullptr;
  const job::code code = reinterpret_cast<job*>(item)->own_code();  // it belongs to this thread again
  const policy::task_info made{
      half->scheduling, &owner.scheduling, reinterpret_cast<const void*>(code), second, first + second, bytes, 1, 2,
      nullptr};
  if (self.home.host().wants().elapsed) self.meter->fork_began(owner, *reinterpret_cast<job*>(item));
  if (scheduler.fork(self.rank, info, made) == policy::placement::send) {
    worker::start_at(*half, top, enter_half);
    platform::note_sent(&half->scheduling, self.rank);
    scheduler.enqueue(self.rank, half->scheduling);
    return apart_ticket;
  }
  half->ties.spawner = &owner;
  // relaxed: only this spawn's child reads it, while the spawner stands still
  half->ties.spawn_number = owner.spawns.load(std::memory_order_relaxed) + 1;
  owner.spawns.store(half->ties.spawn_number, std::memory_order_relaxed);
  self.spawn(owner, *half, top, offer_continuation, enter_half);
  owner.taken = false;  // the join looks only at the job's word
  return apart_ticket;
}

void end_half(worker::worker& self, worker::thread& half) noexcept {
  self.end_task(half);
  half.scheduling.tag = nullptr;  // its thread may go on with other jobs
}

void wait_apart() noexcept {
  worker::worker& w = worker::worker::current();
  w.home.host().scheduler_policy().fork_wait(w.rank, w.current_thread()->scheduling);
}

void end_apart(const job& work) noexcept {
  worker::worker& w = worker::worker::current();
  worker::thread& owner = *w.current_thread();
  const std::uint64_t elapsed = w.home.host().wants().elapsed ? w.meter->fork_ended(owner, work) : 0;
  const policy::placement where = w.home.host().scheduler_policy().fork_end(w.rank, owner.scheduling, elapsed);
  if (where == policy::placement::send) w.home.host().place_running();
}

}  // namespace heddle::detail
