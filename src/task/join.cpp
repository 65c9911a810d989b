// Fork and join out of line: overflow, requests, stolen halves, foreign callers.
#include <heddle/parallel_invoke.hpp>

#include <heddle/detail/wait.hpp>

#include "base/contracts.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

ticket push_slow(fork_queue* queue, slot* position) noexcept {
  auto& self = static_cast<worker::worker&>(*queue);
  const queue::slow_outcome outcome = queue::push(self, position);
  trace::emit<trace::event::fork>(self.ring, static_cast<unsigned>(position - self.base), position);
  if (outcome.published) self.announce_work();
  return outcome.done ? position : nullptr;
}

bool pop_slow(fork_queue* queue, slot* position) noexcept {
  auto& self = static_cast<worker::worker&>(*queue);
  const queue::slow_outcome outcome = queue::pop(self, position);
  if (outcome.published) self.announce_work();
  return outcome.done;
}

void complete_job(job& work, std::uintptr_t status) noexcept {
  const std::uintptr_t before = work.word.exchange(status);
  if ((before & job_waiter_bit) != 0) wake(*reinterpret_cast<waiter*>(before & ~job_waiter_bit));
}

join_outcome join_slow(job& work, ticket position) noexcept {
  if (position == nullptr) return join_outcome::run_here;
  std::uintptr_t word = work.word.load(std::memory_order_acquire);  // pairs with complete_job: the second half's effects
  if (word != job_done && word != job_failed) {
    waiter w("join");
    w.payload = reinterpret_cast<void*>(word);  // the code: a thief that comes after this finds it there
    suspend(w, [](void* data, waiter& me) noexcept {
      auto& pending = *static_cast<job*>(data);
      auto code = reinterpret_cast<std::uintptr_t>(me.payload);
      return pending.word.compare_exchange_strong(code, reinterpret_cast<std::uintptr_t>(&me) | job_waiter_bit);
    }, &work);
    word = work.word.load(std::memory_order_acquire);  // pairs with complete_job: the second half's effects
  }
  return word == job_failed ? join_outcome::failed : join_outcome::done;
}

}  // namespace heddle::detail
