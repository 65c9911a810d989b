// Fork and join out of line: overflow, requests, stolen halves, foreign callers.
#include <heddle/parallel_invoke.hpp>

#include <heddle/detail/loop_tree.hpp>
#include <heddle/detail/wait.hpp>

#include "base/contracts.hpp"
#include "task/fork_apart.hpp"
#include "worker/runtime.hpp"
#include "worker/section.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

namespace {

// Moves what a preemptive thread has pushed to its own queue on to the worker's. All pushes of such a thread come here.
template <class Push>
[[gnu::noinline]] ticket push_from_preemptive(fork_queue* queue, slot* position, Push push) noexcept {
  const worker::section inside;
  queue->bottom.store(position, std::memory_order_relaxed);  // the thread's own
  return push(position->load(std::memory_order_relaxed));    // the thread's own
}

}  // namespace

ticket push_slow(fork_queue* queue, slot* position) noexcept {
  if (worker::is_user_code(queue)) [[unlikely]]
    return push_from_preemptive(queue, position, [](entry item) { return push(item); });
  auto& self = static_cast<worker::worker&>(*queue);
  if constexpr (platform::simulated) {  // every fork comes here; the time it takes passes before the entry can be seen
    queue->bottom.store(position, std::memory_order_relaxed);  // own variable, as below
    platform::charge(platform::operation::fork);
    queue->bottom.store(position + 1, std::memory_order_relaxed);
  }
  const queue::slow_outcome outcome = queue::push(self, position);
  if (self.ring != nullptr && outcome.done && (!platform::simulated || self.every_fork || outcome.published))
      [[unlikely]] {
    const entry item = position->load(std::memory_order_relaxed);  // the worker's own slot
    if ((item & (worker::continuation_tag | worker::ready_tag)) == 0) {
      // relaxed, and after the push: a thief may have run the job, so the word may no longer be its code; then the
      // trace does not learn the function
      std::uintptr_t code = reinterpret_cast<job*>(item)->word.load(std::memory_order_relaxed);
      if (code <= job_failed || (code & job_waiter_bit) != 0) code = 0;
      trace::emit<trace::event::fork>(self.ring, static_cast<unsigned>(position - self.base), item, code);
    }
  }
  if (outcome.published) self.announce_answer();
  return outcome.done ? position : nullptr;
}

ticket push_fork_slow(fork_queue* queue, slot* position, double first, double second, std::size_t bytes) noexcept {
  if (worker::is_user_code(queue)) [[unlikely]] {
    return push_from_preemptive(queue, position, [=](entry item) { return push_fork(item, first, second, bytes); });
  }
  auto& self = static_cast<worker::worker&>(*queue);
  if (self.every_fork && self.home.watches_forks()) [[unlikely]] {
    if (const ticket apart = fork_apart(self, position, first, second, bytes); apart != nullptr) return apart;
  }
  return push_slow(queue, position);
}

ticket push_fork_slow(fork_queue* queue, slot* position) noexcept {
  return push_fork_slow(queue, position, unknown_work, unknown_work, 0);
}

bool pop_slow(fork_queue* queue, slot* position) noexcept {
  auto& self = static_cast<worker::worker&>(*queue);
  // simulated: every join comes here; the time of what was computed before passes while thieves can take the entry
  if constexpr (platform::simulated) {
    queue->bottom.store(position + 1, std::memory_order_relaxed);  // own variable, as below
    platform::charge(platform::operation::join);
    queue->bottom.store(position, std::memory_order_relaxed);
  }
  const queue::slow_outcome outcome = queue::pop(self, position);
  if (outcome.published) self.announce_answer();
  if (outcome.done && self.every_join) [[unlikely]] {
    // The pop was right, but a trace is to be told when the second half ends. So it says false: the caller takes the
    // job for a stolen one and comes by join_slow (was_taken_back) and note_join, where that can be told.
    const entry item = position->load(std::memory_order_relaxed);  // the worker's own slot
    if ((item & (worker::continuation_tag | worker::ready_tag)) == 0) {
      trace::emit<trace::event::second_half>(self.ring, item);
      self.taken_back = item;
      return false;
    }
  }
  return outcome.done;
}

ticket push_quietly_slow(fork_queue* queue, entry item) noexcept {
  if (!worker::is_user_code(queue)) return nullptr;  // full
  const worker::section inside;
  return push_quietly(item);
}

bool was_taken_back(const job& work) noexcept {
  worker::worker* me = worker::worker::current();
  if (me != nullptr && worker::is_user_code(me)) [[unlikely]] {
    // A preemptive thread's own pop fails always, for its queue is not the worker's. This is its pop.
    return worker::in_section([&] {
      if (was_taken_back(work)) return true;
      // relaxed: the worker's own variable
      slot* newest = worker::worker::current()->bottom.load(std::memory_order_relaxed) - 1;
      return pop(reinterpret_cast<entry>(&work), newest) || was_taken_back(work);
    });
  }
  if (me == nullptr || me->taken_back != reinterpret_cast<entry>(&work)) [[likely]]
    return false;
  me->taken_back = 0;
  return true;
}

void note_join(const job& work) noexcept {
  const worker::section inside;
  worker::worker* me = worker::worker::current();
  if (me != nullptr) trace::emit<trace::event::join>(me->ring, &work);
}

void complete_job(job& work, std::uintptr_t status) noexcept {
  worker::worker* me = worker::worker::current();
  if (me != nullptr) {
    if (worker::is_user_code(me)) [[unlikely]]
      return worker::in_section([&] { complete_job(work, status); });
    trace::emit<trace::event::task_end>(me->ring, &work);  // before the owner can go on
    if (worker::thread& half = *me->current_thread(); half.scheduling.word != nullptr) [[unlikely]]
      end_half(*me, half);
  }
  const std::uintptr_t before = work.word.exchange(status);
  if ((before & job_waiter_bit) != 0) wake(*reinterpret_cast<waiter*>(before & ~job_waiter_bit));
}

join_outcome join_slow(job& work, ticket position) noexcept {
  if (position == nullptr || was_taken_back(work)) return join_outcome::run_here;
  const worker::section inside;
  if (position == apart_ticket) [[unlikely]]
    wait_apart();
  // pairs with complete_job: the second half's effects
  std::uintptr_t word = work.word.load(std::memory_order_acquire);
  if (word != job_done && word != job_failed) {
    waiter w("join");
    w.payload = reinterpret_cast<void*>(word);  // the code: a thief that comes after this finds it there
    suspend(
        w,
        [](void* data, waiter& me) noexcept {
          auto& pending = *static_cast<job*>(data);
          auto code = reinterpret_cast<std::uintptr_t>(me.payload);
          return pending.word.compare_exchange_strong(code, reinterpret_cast<std::uintptr_t>(&me) | job_waiter_bit);
        },
        &work);
    word = work.word.load(std::memory_order_acquire);  // pairs with complete_job: the second half's effects
  }
  if (position == apart_ticket) [[unlikely]]
    end_apart(work);
  return word == job_failed ? join_outcome::failed : join_outcome::done;
}

}  // namespace heddle::detail
