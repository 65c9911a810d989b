#include "worker/block_cache.hpp"

#include <algorithm>
#include <utility>

#include "base/contracts.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

block_cache::~block_cache() {
  collect();
  fiber::stack_pool& pool = owner_.home.stacks();
  while (cache_ != nullptr) {
    thread* t = cache_;
    cache_ = t->next;
    t->next = nullptr;
    pool.give(t);
  }
  if (lights_aside_ != nullptr) pool.give_light_chain(lights_aside_, fiber::light_threads::in_chain);
  if (lights_ != nullptr) pool.give_light_chain(lights_, light_count_);
}

bool block_cache::refill() noexcept {
  collect_returned();
  if (cache_ != nullptr) return true;
  thread* chain = owner_.home.stacks().take(default_class_, batch_);
  batch_ = std::min(2 * batch_, batch);
  while (chain != nullptr) {
    thread* t = chain;
    chain = t->next;
    t->next = cache_;
    t->cache = &owner_;
    cache_ = t;
    ++cached_;
  }
  return cache_ != nullptr;
}

void block_cache::collect() noexcept {
  thread* chain = returned_.exchange(nullptr);
  while (chain != nullptr) {
    thread* t = chain;
    chain = t->next;
    free_thread(*t);
  }
}

thread* block_cache::new_light() noexcept {
  if (lights_ == nullptr) {
    lights_ = std::exchange(lights_aside_, nullptr);
    light_count_ = fiber::light_threads::in_chain;
    if (lights_ == nullptr) lights_ = owner_.home.stacks().take_light_chain();
    light_count_ = lights_ == nullptr ? 0 : fiber::light_threads::length(*lights_);
  }
  return cached_light();
}

void block_cache::want_stack() noexcept {
  if (!refill()) fail("a thread that begins");
}

void block_cache::set_lights_aside() noexcept {
  lights_->ties.chain_length = light_count_;
  if (lights_aside_ != nullptr) owner_.home.stacks().give_light_chain(lights_aside_, fiber::light_threads::in_chain);
  lights_aside_ = std::exchange(lights_, nullptr);
  light_count_ = 0;
}

void block_cache::fail(const char* of_whom) const noexcept {
  HEDDLE_CHECK(false,
               "worker %u cannot get a stack for %s (%zu stacks in use or in caches); raise the memory or mapping "
               "limit, or lower HEDDLE_STACK_SIZE",
               owner_.rank, of_whom, owner_.home.stacks().live());
  __builtin_unreachable();
}

void block_cache::free_thread_slow(thread& t) noexcept {
  if (t.size_class == fiber::no_size_class) return free_light(t);
  if (t.size_class != default_class_) {
    t.next = nullptr;
    owner_.home.stacks().give(&t);
    return;
  }
  thread* chain = nullptr;
  for (unsigned i = 0; i < batch; ++i) {
    thread* old = cache_;
    cache_ = old->next;
    old->next = chain;
    chain = old;
  }
  cached_ -= batch;
  owner_.home.stacks().give(chain);
  free_thread(t);
}

}  // namespace heddle::worker
