// Fork and join out of line: overflow, requests, stolen halves, foreign callers.
#include <heddle/parallel_invoke.hpp>

#include <heddle/detail/loop_tree.hpp>
#include <heddle/detail/wait.hpp>

#include "base/contracts.hpp"
#include "task/fork_apart.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/queue_paths.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

ticket push_fork_slow(fork_queue* queue, slot* position, double first, double second, std::size_t bytes) noexcept {
  const worker::caller who(queue);
  if (who.is_user_code()) [[unlikely]] {
    return push_from_preemptive(queue, position, [=](entry item) { return push_fork(item, first, second, bytes); });
  }
  worker::worker& self = who.on();
  if (self.every_fork && self.home.host().wants().forks) [[unlikely]] {
    if (const ticket apart = fork_apart(self, position, first, second, bytes); apart != nullptr) return apart;
  }
  const ticket pushed = push_slow(queue, position);
  if (self.is_reminded()) [[unlikely]]
    self.serve();
  return pushed;
}

ticket push_fork_slow(fork_queue* queue, slot* position) noexcept {
  return push_fork_slow(queue, position, unknown_work, unknown_work, 0);
}

popped pop_for_preemptive(const job& work) noexcept {
  if (!worker::caller::now().is_user_code()) [[likely]]
    return popped::lost;
  return worker::in_section([&] {
    // relaxed: the worker's own variable
    slot* const newest = worker::worker::current().bottom.load(std::memory_order_relaxed) - 1;
    return pop(reinterpret_cast<entry>(&work), newest);
  });
}

void note_join(const job& work) noexcept {
  const worker::section inside;
  worker::worker* me = worker::worker::current_or_null();
  if (me != nullptr) trace::emit<trace::event::join>(me->ring, &work);
}

void complete_job(job& work, job::end how) noexcept {
  const worker::caller who = worker::caller::now();
  if (!who.is_foreign()) {
    if (who.is_user_code()) [[unlikely]]
      return worker::in_section([&] { complete_job(work, how); });
    worker::worker& me = who.on();
    trace::emit<trace::event::task_end>(me.ring, &work);  // must come before the owner can go on
    if (worker::thread& half = *me.current_thread(); half.scheduling.tag != nullptr) [[unlikely]]
      end_half(me, half);
  }
  if (waiter* const owner = work.finish(how).awaited_by(); owner != nullptr) wake(*owner);
}

join_outcome join_slow(job& work, ticket position) noexcept {
  if (position == nullptr || pop_for_preemptive(work) != popped::lost) return join_outcome::run_here;
  const worker::section inside;
  if (position == apart_ticket) [[unlikely]]
    wait_apart();
  job::state seen = work.now();
  if (!seen.is_over()) {
    waiter w("join");
    // A thief that comes after this finds the code there.
    w.payload = reinterpret_cast<void*>(seen.to_run());
    suspend(
        w,
        [](void* data, waiter& me) noexcept {
          return static_cast<job*>(data)->await(reinterpret_cast<job::code>(me.payload), me);
        },
        &work);
    seen = work.now();
  }
  if (position == apart_ticket) [[unlikely]]
    end_apart(work);
  return seen.is(job::end::failed) ? join_outcome::failed : join_outcome::done;
}

}  // namespace heddle::detail
