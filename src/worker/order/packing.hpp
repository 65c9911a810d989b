// Thread packing: N pools of ready threads, one for each worker that the runtime has, served by the n active workers.
// After Algorithm 3.1 of S. Shiina's thesis (docs/papers.md). There are three differences. First, a worker takes the
// thread that has waited for longest in the pools that it serves, whereas the listing alternates between private and
// shared pools. (N threads then end near the ideal time as well, but they do not have even shares meanwhile: of 28
// threads on 3 workers the one in the shared pool gets nine times as much as the others.) Second, a thread whose time
// slice ends may change its pool, so that more or fewer than N threads have even shares, too. Third, a worker that
// finds nothing takes from whichever pool has something. Invariants: packing.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include <heddle/detail/wait.hpp>

#include "fiber/thread.hpp"

namespace heddle::worker {

// The state that a worker keeps between two looks.
struct served_pool {
  int index{-1};  // the pool whose thread the worker took last and may still run; -1 if there is none
};

// Every function but begin and end may be called by any kernel thread with preemption off, also in a signal handler.
class packing {
 public:
  explicit packing(unsigned workers) : total_(workers), pools_(new pool[workers]) {}

  bool in_force() const noexcept { return active_.load(std::memory_order_relaxed) != 0; }  // a hint; put() decides

  // From this call on `active` workers serve the pools. One caller at a time.
  void begin(unsigned active) noexcept { active_.store(active); }
  // From this call on no thread is put into a pool. Calls give(thread) for each thread that is left: [pack:1].
  template <class F>
  void end(F&& give) noexcept {
    active_.store(0);
    for (unsigned i = 0; i < total_; ++i) {
      pools_[i].lock.lock();  // a put that has seen packing in force is over then
      pools_[i].lock.unlock();
      while (fiber::thread* t = pop(i)) give(*t);
    }
  }

  // Puts the thread at the end of a pool. Returns false if packing is over. A full fence if it returns true: the caller
  // looks for sleepers after it.
  [[nodiscard]] bool put(fiber::thread& t, unsigned index) noexcept {
    pool& p = pools_[index];
    std::lock_guard hold(p.lock);
    if (active_.load() == 0) return false;  // [pack:1]
    t.next = nullptr;
    t.listed.ready_since = puts_.fetch_add(1, std::memory_order_relaxed);  // a number
    if (p.first == nullptr) be_first(p, &t);
    else p.last->next = &t;
    p.last = &t;
    p.load.fetch_add(1, std::memory_order_relaxed);  // a hint
    ready_.fetch_add(1);
    return true;
  }

  // Takes the thread that has waited for longest in the private pools of active worker `rank` and the shared pools.
  // Returns null if these pools are empty.
  [[nodiscard]] fiber::thread* take(unsigned rank, served_pool& mine) noexcept;
  // Takes a thread of any pool. If it returns null, the worker runs none.
  [[nodiscard]] fiber::thread* take_any(unsigned rank, served_pool& mine) noexcept;
  // The worker runs no thread of a pool.
  void rests(served_pool& mine) noexcept { serves(mine, -1); }
  // A hint, or exact after a heavy fence.
  bool any() const noexcept { return ready_.load(std::memory_order_relaxed) > 0; }
  // Returns the pool for a thread that is new, or was woken and has none: a pool with the fewest threads that are ready
  // or run, as far as can be seen. relaxed: the look may begin anywhere
  [[nodiscard]] unsigned deal() noexcept { return emptiest(dealt_.fetch_add(1, std::memory_order_relaxed) % total_); }
  // Returns the pool for a thread whose time slice ended while another one waited: its own, unless there is a pool that
  // has no more threads than are left in its own. So if the threads are no multiple of the pools, the places in pools
  // with fewer threads go round, and equal threads have equal shares.
  [[nodiscard]] unsigned settle(unsigned index) const noexcept {
    const int load = pools_[index].load.load(std::memory_order_relaxed);  // hints
    const unsigned other = emptiest(index + 1 == total_ ? 0 : index + 1);
    return pools_[other].load.load(std::memory_order_relaxed) <= load ? other : index;
  }

 private:
  struct alignas(64) pool {
    detail::spin_word lock;
    fiber::thread* first{nullptr};  // under lock
    fiber::thread* last{nullptr};   // under lock; meaningful while first is not null
    // The number of the put that brought `first`; `none` if the pool is empty. Written under lock; others read it as a
    // hint.
    std::atomic<std::uint64_t> since{none};
    std::atomic<int> load{0};  // threads in it and workers that serve it; a hint
  };
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  static void be_first(pool& p, fiber::thread* t) noexcept {
    p.first = t;
    p.since.store(t != nullptr ? t->listed.ready_since : none, std::memory_order_relaxed);  // a hint to others
  }
  [[nodiscard]] fiber::thread* pop(unsigned index, served_pool& mine) noexcept;
  [[nodiscard]] fiber::thread* pop(unsigned index) noexcept;
  void serves(served_pool& mine, int index) noexcept;
  [[nodiscard]] unsigned emptiest(unsigned from) const noexcept;

  const unsigned total_;
  const std::unique_ptr<pool[]> pools_;
  std::atomic<unsigned> active_{0};        // 0 while there is no packing; written by begin and end
  alignas(64) std::atomic<int> ready_{0};  // threads in all pools; written under the pool's lock
  std::atomic<std::uint64_t> puts_{0};     // so far
  std::atomic<unsigned> dealt_{0};
};

}  // namespace heddle::worker
