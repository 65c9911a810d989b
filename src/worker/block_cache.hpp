// A worker's cache of control blocks: those with a stack, and light ones, which are lent a stack only from their
// beginning to their end (src/fiber/README.md). Owns what is in it, and what comes back to it. Every function but
// give_back is its worker's. Promise: the block that was used last is used first, and no block is in two hands.
//
// Each thread that is made, begun or ended goes through here, so the short paths are inline, and the fields are in one
// cache line but for those that other workers write, and those of the slow paths.
#pragma once

#include <atomic>
#include <cstdint>

#include "fiber/sanitizer.hpp"
#include "fiber/stack_pool.hpp"
#include "fiber/thread.hpp"

namespace heddle::worker {

class worker;
using fiber::thread;

class block_cache {
 public:
  block_cache(worker& owner, std::uint8_t default_class) noexcept : default_class_(default_class), owner_(owner) {}
  ~block_cache();
  block_cache(const block_cache&) = delete;
  block_cache& operator=(const block_cache&) = delete;

  // A control block with its stack, of the default size, not made new
  // (renew_thread) nor prepared (start_at). Null: no memory.
  [[nodiscard]] thread* new_block() noexcept {
    if (cache_ == nullptr && !refill()) [[unlikely]]
      return nullptr;
    return cached_block();
  }
  // The same; null: there is none at hand.
  [[nodiscard]] thread* cached_block() noexcept {
    thread* t = cache_;
    if (t == nullptr) [[unlikely]]
      return nullptr;
    cache_ = t->next;
    --cached_;
    fiber::prefetch_block(cache_);
    return t;
  }
  // The same without a stack, for a thread that need not have one before it begins. Null: there is none at hand.
  [[nodiscard]] thread* cached_light() noexcept {
    thread* t = lights_;
    if (t == nullptr) [[unlikely]]
      return nullptr;
    lights_ = t->next;
    --light_count_;
    fiber::prefetch_block(lights_);
    return t;
  }
  // Null: no memory, or none for its stack.
  [[nodiscard]] thread* new_light() noexcept;
  void free_light(thread& t) noexcept {
    if (light_count_ == fiber::light_threads::in_chain) [[unlikely]]
      set_lights_aside();
    t.next = lights_;
    lights_ = &t;
    ++light_count_;
  }
  // The top of the stack that `t`, a light thread, is lent.
  [[nodiscard]] void* lend_stack(thread& t) noexcept {
    if (cache_ == nullptr) [[unlikely]]
      want_stack();
    thread* const block = cache_;
    cache_ = block->next;
    --cached_;
    fiber::reuse_stack(*block);
    block->stack = &t;
    t.stack = block;
    return block;
  }
  // A light thread has ended, and nobody is on its stack any more.
  void take_stack_back(thread& t) noexcept {
    thread* const block = t.stack;
    block->stack = block;
    if (cached_ >= limit) [[unlikely]]
      return free_thread_slow(*block);
    block->next = cache_;
    cache_ = block;
    ++cached_;
  }
  void free_thread(thread& t) noexcept {
    if (t.size_class != default_class_ || cached_ >= limit) [[unlikely]]
      return free_thread_slow(t);
    t.next = cache_;
    cache_ = &t;
    ++cached_;
  }

  // A block of this cache that another worker has done with; any worker of the runtime, not on the block's stack.
  void give_back(thread& t) noexcept {
    thread* head = returned_.load(std::memory_order_relaxed);  // decided by the exchange
    do t.next = head;
    while (!returned_.compare_exchange_weak(head, &t));
  }
  // What came back is used first: it is in this processor's cache,
  // where the blocks below it in this one are not.
  void collect_returned() noexcept {
    if (returned_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      collect();  // a hint
  }

  // There is no stack for `of_whom`, which cannot do without. Ends the process.
  [[noreturn, gnu::noinline]] void fail(const char* of_whom) const noexcept;

 private:
  [[nodiscard]] bool refill() noexcept;  // false: no memory
  void free_thread_slow(thread& t) noexcept;
  [[gnu::noinline]] void set_lights_aside() noexcept;
  [[gnu::noinline]] void want_stack() noexcept;  // there is one in the cache then
  void collect() noexcept;

  // from the pool at once, once so many were needed; before that fewer, for each is a page fault
  static constexpr unsigned batch = 64;
  static constexpr unsigned limit = 8 * batch;

  alignas(64) const std::uint8_t default_class_;  // of the runtime's stacks
  thread* cache_{nullptr};
  unsigned cached_{0};
  thread* lights_{nullptr};  // fewer than a chain, or one
  unsigned light_count_{0};
  thread* lights_aside_{nullptr};  // a whole chain, or none
  worker& owner_;
  alignas(64) std::atomic<thread*> returned_{nullptr};  // pushed by other workers, emptied by the worker
  unsigned batch_{4};                                   // stacks taken from the pool next time
};

}  // namespace heddle::worker
