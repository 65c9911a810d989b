// The slow paths of <heddle/detail/fork_queue.hpp> that need the worker: overflow, requests, traces, preemptive
// callers. The slow paths of forks that a policy watches are in task/join.cpp.
#include "worker/searching/queue_paths.hpp"

#include <heddle/detail/loop_runtime.hpp>
#include <heddle/job.hpp>
#include <heddle/task_group.hpp>

#include "platform/explored.hpp"
#include "platform/platform.hpp"
#include "queue/fork_queue.hpp"
#include "trace/emit.hpp"
#include "worker/caller.hpp"
#include "worker/jobs.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

namespace {

// Called by the owner: the number of entries that it makes public at once where children of groups are queued, so that
// thieves may take several ([group:6]).
unsigned share_of_children(const worker::worker& self) noexcept {
  return std::clamp(queue::size(self) / 8, 1u, most_children_at_once);
}

[[gnu::always_inline]] inline ticket push_slow_showing(worker::worker& self, slot* position, unsigned most) noexcept {
  // In a simulation, as a rule, every fork comes here. Its time passes before the entry can be seen.
  if (platform::watches_forks()) {
    self.bottom.store(position, std::memory_order_release);  // as a pop and a push do it, as below
    platform::charge(platform::operation::fork);
    self.bottom.store(position + 1, std::memory_order_release);
  }
  const queue::slow_outcome outcome = queue::push(self, position, most);
  if (self.ring != nullptr && outcome.done && (!platform::simulated || self.every_fork || outcome.published))
      [[unlikely]] {
    const entry item = position->load(std::memory_order_relaxed);  // the worker's own slot
    if ((item & (worker::continuation_tag | worker::ready_tag)) == 0) {
      // relaxed, and after the push: if a thief has run the job, the word is not its code. Then the trace does not
      // learn the function.
      const job::code code = reinterpret_cast<job*>(item)->now(std::memory_order_relaxed).to_run();
      if (code != run_submitted && !is_placed_task(code))  // of a job submit has told
        trace::emit<trace::event::fork>(self.ring, static_cast<unsigned>(position - self.base), item, code);
    }
  }
  if (outcome.published) self.announce_answer();
  return outcome.done ? position : nullptr;
}

[[gnu::always_inline]] inline popped pop_slow_showing(worker::worker& self, slot* position, unsigned most) noexcept {
  // In a simulation, as a rule, every join comes here. The time of what was computed before passes while thieves can
  // take the entry.
  if (platform::watches_forks()) {
    self.bottom.store(position + 1, std::memory_order_release);  // as above
    platform::charge(platform::operation::join);
    self.bottom.store(position, std::memory_order_release);
  }
  const queue::slow_outcome outcome = queue::pop(self, position, most);
  if (outcome.published) self.announce_answer();
  return outcome.done ? popped::mine : popped::lost;
}

}  // namespace

ticket push_slow(fork_queue* queue, slot* position) noexcept {
  const worker::caller who(queue);
  if (who.is_user_code()) [[unlikely]]
    return push_from_preemptive(queue, position, [](entry item) { return push(item); });
  return push_slow_showing(who.on(), position, 1);
}

ticket push_child_slow(fork_queue* queue, slot* position) noexcept {
  const worker::caller who(queue);
  if (who.is_user_code()) [[unlikely]]
    return push_from_preemptive(queue, position, [](entry item) { return push_or(item, push_child_slow); });
  return push_slow_showing(who.on(), position, share_of_children(who.on()));
}

// [service:1] At the join of a fork.
static void serve_if_reminded(worker::worker& self) noexcept {
  if (platform::simulated && platform::cycles() >= self.serves_at.load(std::memory_order_relaxed))  // as in remind
    self.serve();
  else if (self.is_reminded() || platform::reminds()) self.serve();
}

popped pop_slow(fork_queue* queue, slot* position) noexcept {
  worker::worker& self = worker::caller(queue).on();  // a preemptive thread's queue is empty
  popped got = pop_slow_unserved(queue, position);
  if (got == popped::mine && self.every_join) [[unlikely]] {
    const entry item = position->load(std::memory_order_relaxed);  // the worker's own slot
    if ((item & (worker::continuation_tag | worker::ready_tag)) == 0) {
      trace::emit<trace::event::second_half>(self.ring, item);
      got = popped::watched;
    }
  }
  serve_if_reminded(self);
  return got;
}

popped pop_child_slow(fork_queue* queue, slot* position) noexcept {
  worker::worker& self = worker::caller(queue).on();
  const popped got = pop_slow_showing(self, position, share_of_children(self));
  serve_if_reminded(self);
  return got;
}

popped pop_slow_unserved(fork_queue* queue, slot* position) noexcept {
  return pop_slow_showing(worker::caller(queue).on(), position, 1);
}

ticket push_unannounced_slow(fork_queue* queue, entry item) noexcept {
  if (!worker::caller(queue).is_user_code()) return nullptr;  // full
  const worker::section inside;
  return push_unannounced(item);
}

}  // namespace heddle::detail
