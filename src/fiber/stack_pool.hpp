// Stacks of user-level threads with the control block at their top. They are reserved in slabs, committed when they are
// first touched, guarded, recycled, and returned to the system when many are idle. The pool also has the control blocks
// of light threads, which get such a stack when they begin. README.md, "Stacks".
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "fiber/light_threads.hpp"
#include "fiber/reserved_list.hpp"
#include "fiber/thread.hpp"
#include "sync/mutex.hpp"

namespace heddle::fiber {

// Sizes are powers of two from 16 KiB to 16 GiB, with a free list each. Thread context: any. One mutex protects the
// whole pool, so workers take and give a batch at a time for their own caches. No function calls malloc, because a tick
// may have interrupted a thread inside it.
class stack_pool {
 public:
  static constexpr std::size_t smallest = std::size_t{16} << 10;
  static constexpr unsigned classes = 21;
  // The control blocks of neighbours are shifted by these values (block_of).
  static constexpr std::size_t colour_step = 64, colours = 32;

  // `default_bytes` is rounded up to a class. `committed_limit` is the number of idle stacks that a class keeps
  // committed at any time. A class keeps further ones that were needed of late, as far as they fit into `keep_bytes`.
  stack_pool(std::size_t default_bytes, std::size_t committed_limit, std::size_t keep_bytes = 0);
  ~stack_pool();
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;

  std::uint8_t default_class() const noexcept { return default_class_; }
  // Returns the class that holds `bytes`, or `classes` if none does.
  static unsigned class_for(std::size_t bytes) noexcept;
  static std::size_t bytes_of(unsigned size_class) noexcept { return smallest << size_class; }

  // Returns a chain (through `next`) of up to `count` fresh control blocks. It is shorter, or empty, if the system has
  // no memory.
  [[nodiscard]] thread* take(unsigned size_class, unsigned count) noexcept;
  // Gives a chain back. Blocks beyond the limits have their pages returned to the system.
  void give(thread* chain) noexcept;
  // To be called once a period by one kernel thread. The pool forgets the need of the time before the
  // last two calls, and returns the pages that it kept for that to the system. The caller must not hold a block.
  void age() noexcept;
  // True if age() may have something to return later.
  [[nodiscard]] bool keeps_more() const noexcept;

  // Return a chain of control blocks without stacks (light_threads::length), or one such block. The result is null if
  // there is no memory, or no room for the stacks, of the default class, that all light threads may come to need. So a
  // thread that is made here finds its stack later, unless other threads have taken the room meanwhile.
  [[nodiscard]] thread* take_light_chain() noexcept;
  [[nodiscard]] thread* take_light() noexcept;
  void give_light_chain(thread* first, unsigned length) noexcept;
  void give_light(thread& t) noexcept;

  // Returns the block of the stack in whose guard the address lies, or null. A handler of a fault may call it. The
  // result is also null if the pool's lock is held for long, perhaps by the thread that failed.
  [[nodiscard]] const thread* whose_guard(const void* address) const noexcept;

  // Returns the block of the stack that the address lies in, or null. A handler must not call it.
  [[nodiscard]] const thread* whose_stack(const void* address) const noexcept;

  // True if a stack larger than its pool's default was ever taken. relaxed: a thread that has one, and its forks, bring
  // the value along
  static bool has_larger() noexcept { return larger_.load(std::memory_order_relaxed); }
  // Returns the class of the stack that the address lies in, if that is larger than the default, and else the default.
  unsigned class_around(const void* address) const noexcept;

  // Returns the number of blocks with stacks that are taken and not given back. relaxed: a number that guards nothing
  std::size_t live() const noexcept { return taken_.load(std::memory_order_relaxed); }
  // Returns the number of stacks that have ever been taken. relaxed: as above
  std::size_t committed() const noexcept { return made_stacks_.load(std::memory_order_relaxed); }
  std::size_t light_made() const noexcept {  // control blocks without stacks that were ever made
    std::lock_guard hold(mutex_);
    return light_.made();
  }
  // Returns the number of the process's pools, among the first 64. A pool lives until all blocks that were taken from
  // it are back.
  static std::size_t living() noexcept {
    return static_cast<std::size_t>(
        std::count_if(all_.begin(), all_.end(), [](const auto& place) { return place.load() != nullptr; }));
  }
  // The owner's last act. The pool, which was made by new, deletes itself with the last block that is given back. The
  // block of a thread that has not been joined or detached yet is not given back.
  void retire() noexcept;

  // Calls f with the thread on each stack that has ever been made, in use or not. Where pages were given back it reads
  // as zero. It is for the dump of all threads. f is not called under the mutex, because it may wait for a lock whose
  // holder waits for a stack. Slabs stay as long as the pool does.
  template <class F>
  void for_each_block(F&& f) const {
    for (std::size_t i = 0;; ++i) {
      slab s;
      {
        std::lock_guard hold(mutex_);
        if (i >= static_cast<std::size_t>(slabs_.end() - slabs_.begin())) return;
        s = slabs_.begin()[i];
      }
      auto* const begin = static_cast<char*>(s.memory);
      for (char* low = begin; low < begin + s.used; low += bytes_of(s.size_class))
        f(*thread_on(*block_of(low, s.size_class)));
    }
  }

 private:
  friend struct debug_layout;
  inline static std::atomic<bool> larger_{false};  // set once
  struct slab {
    void* memory;
    std::size_t bytes;
    std::size_t used;  // the part of them that was touched, from the low end
    unsigned size_class;
  };
  struct size_list {
    thread* committed{nullptr};
    std::size_t committed_count{0};
    reserved_list<void*> bare;  // the tops of decommitted stacks
    std::size_t first_slab{0};  // the first slab with an unused part, or of another class
    std::size_t made{0};        // in all slabs, used or not
    std::size_t out{0};         // taken and not given back
    // The most that were out at a time, since the last call of age() and between the two calls before.
    std::size_t most_out{0}, most_out_before{0};
    std::size_t usual_bytes{0};  // an average of the memory that idle stacks hold, where some are kept beyond the limit
  };

  // Called under the mutex: returns the low end of the stack that the address is in, and its class. Returns null if the
  // address is in no stack that was ever made.
  [[nodiscard]] char* stack_at(const void* address, unsigned& size_class) const noexcept;
  [[nodiscard]] bool grow(size_list& list, unsigned size_class, std::size_t stacks) noexcept;
  [[nodiscard]] bool grow_for_light() noexcept;
  // Returns the low end of a stack that was never used, or null if there is none.
  [[nodiscard]] char* take_fresh(size_list& list, unsigned size_class) noexcept;
  // Called under the mutex: the number of idle stacks that the class keeps.
  [[nodiscard]] std::size_t most_kept(const size_list& list) const noexcept;
  void measure(size_list& list, const thread& idle) const noexcept;
  void end_if_last(std::unique_lock<sync::mutex>& hold) noexcept;
  static thread* block_of(char* low, unsigned size_class) noexcept;
  thread* construct(char* low, unsigned size_class) noexcept;

  const std::uint8_t default_class_;
  const std::size_t committed_limit_, keep_bytes_;
  mutable sync::mutex mutex_;
  std::array<size_list, classes> lists_{};
  reserved_list<slab> slabs_;
  mutable std::size_t found_in_{0};  // the slab of the last stack_at that found one
  light_threads light_;
  std::atomic<std::size_t> taken_{0};        // written under mutex_
  std::atomic<std::size_t> made_stacks_{0};  // written under mutex_
  bool retired_{false};
  std::uint64_t made_{0};

  // The pools of the process, for debuggers, which find the process stopped. A place is null if it has no pool; further
  // pools are left out. A place is taken and given up by an exchange and not under a lock, because the holder of a lock
  // might be a preempted thread that makes a runtime.
  static inline constinit std::array<std::atomic<stack_pool*>, 64> all_{};
};

struct retire_pool {
  void operator()(stack_pool* pool) const noexcept { pool->retire(); }
};

}  // namespace heddle::fiber
