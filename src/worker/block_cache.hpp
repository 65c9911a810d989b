// A worker's cache of control blocks. Some have a stack. Light ones are given a stack only from their beginning to
// their end (src/fiber/README.md). Owns the blocks in it, and the blocks that come back to it. Every function but
// give_back is its worker's. Promise: the block that was used last is used first, and no block is in two hands.
//
// Each thread that is made, begun or ended goes through here, so the short paths are inline. The fields are in one
// cache line, except for those that other workers write, and those of the slow paths.
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

  // Takes a control block with its stack, of the default size. The block is not made new (renew_thread) nor prepared
  // (start_at). Returns null if there is no memory.
  [[nodiscard]] thread* new_block() noexcept {
    if (cache_ == nullptr && !refill()) [[unlikely]]
      return nullptr;
    return cached_block();
  }
  // Returns true if new_block will give a block without asking the system for memory.
  [[nodiscard]] bool has_block() noexcept { return cache_ != nullptr || refill(); }
  // The same as new_block; returns null if there is none at hand.
  [[nodiscard]] thread* cached_block() noexcept {
    thread* t = cache_;
    if (t == nullptr) [[unlikely]]
      return nullptr;
    cache_ = t->next;
    --cached_;
    fiber::prefetch_block(cache_);
    return t;
  }
  // The same without a stack, for a thread that need not have one before it begins. Returns null if there is none at
  // hand.
  [[nodiscard]] thread* cached_light() noexcept {
    thread* t = lights_;
    if (t == nullptr) [[unlikely]]
      return nullptr;
    lights_ = t->next;
    --light_count_;
    fiber::prefetch_block(lights_);
    return t;
  }
  // Returns null if there is no memory, or none for the stack.
  [[nodiscard]] thread* new_light() noexcept;
  void free_light(thread& t) noexcept {
    if (light_count_ == fiber::light_threads::in_chain) [[unlikely]]
      set_lights_aside();
    t.next = lights_;
    lights_ = &t;
    ++light_count_;
  }
  // Returns the top of the stack that `t`, a light thread, is given for its run.
  [[nodiscard]] void* give_stack(thread& t) noexcept {
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
  // A light thread has ended, and no code runs on its stack any more.
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

  // Gives back a block of this cache that another worker has finished with. Called by any worker of the runtime, not on
  // the block's stack.
  void give_back(thread& t) noexcept {
    thread* head = returned_.load(std::memory_order_relaxed);  // decided by the exchange
    do t.next = head;
    while (!returned_.compare_exchange_weak(head, &t));
  }
  // Blocks that came back are used first, because they are in this processor's cache. The blocks below them in the list
  // are not.
  void collect_returned() noexcept {
    if (returned_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      collect();  // a hint
  }

  // There is no stack for `of_whom`, which cannot do without. Ends the process.
  [[noreturn, gnu::noinline]] void fail(const char* of_whom) const noexcept;

 private:
  [[nodiscard]] bool refill() noexcept;  // returns false if there is no memory
  void free_thread_slow(thread& t) noexcept;
  [[gnu::noinline]] void set_lights_aside() noexcept;
  [[gnu::noinline]] void want_stack() noexcept;  // on return there is a stack in the cache
  void collect() noexcept;

  // The number of stacks that are taken from the pool at once, when that many have been needed before. Before that it
  // is smaller, because each stack is a page fault.
  static constexpr unsigned batch = 64;
  static constexpr unsigned limit = 8 * batch;

  alignas(64) const std::uint8_t default_class_;  // of the runtime's stacks
  thread* cache_{nullptr};
  unsigned cached_{0};
  thread* lights_{nullptr};  // a chain at most
  unsigned light_count_{0};
  thread* lights_aside_{nullptr};  // a whole chain, or none
  worker& owner_;
  alignas(64) std::atomic<thread*> returned_{nullptr};  // pushed by other workers, emptied by the worker
  unsigned batch_{4};                                   // the number of stacks to take from the pool next time
};

}  // namespace heddle::worker
