#include "worker/new_thread.hpp"

#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

thread* new_block(runtime& home, std::size_t stack_bytes) noexcept {
  fiber::stack_pool& pool = home.stacks();
  const unsigned size_class = stack_bytes == 0 ? pool.default_class() : fiber::stack_pool::class_for(stack_bytes);
  if (size_class >= fiber::stack_pool::classes) return nullptr;
  worker* w = worker::current_or_null();
  const bool from_cache = w != nullptr && &w->home == &home && size_class == pool.default_class();
  thread* t = from_cache ? w->blocks.new_block() : pool.take(size_class, 1);
  if (t == nullptr) return nullptr;
  if (!from_cache) t->cache = nullptr;
  renew_thread(*t, home);
  // A child's end may have left a value, in a runtime whose threads are preemptive as a rule.
  t->preemptive = nullptr;
  return t;
}

thread* new_light(runtime& home) noexcept {
  worker* w = worker::current_or_null();
  thread* t = w != nullptr && &w->home == &home ? w->blocks.new_light() : home.stacks().take_light();
  if (t != nullptr) renew_light(*t, home);
  return t;
}

void free_thread(thread& t) noexcept {
  worker* w = worker::current_or_null();
  if (w != nullptr && &w->home.stacks() == t.stack_memory.pool) return w->blocks.free_thread(t);
  if (fiber::is_light(t)) return t.stack_memory.pool->give_light(t);
  t.next = nullptr;
  t.stack_memory.pool->give(&t);
}

}  // namespace heddle::worker
