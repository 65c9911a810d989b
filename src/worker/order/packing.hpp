// Thread packing: N pools of ready threads, one for each worker that the runtime has, served by the n active workers.
// After Algorithm 3.1 of S. Shiina's thesis (docs/papers.md). There are two differences. First, a worker takes from its
// private pools in turn, and from the shared pools in turn, whereas the listing begins with the first pool each time
// (of two private pools with threads that never wait, one would get all time slices). Second, a worker that finds
// nothing takes from whichever pool has something. Invariants: packing.md.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include <heddle/detail/wait.hpp>

#include "fiber/thread.hpp"

namespace heddle::worker {

// The state that a worker keeps between two looks.
struct packing_turns {
  unsigned own{0};        // private pools taken from so far
  unsigned shared{0};     // the same of shared ones
  bool to_shared{false};  // the last thread was from a shared pool
  int serves{-1};         // the pool whose thread it took last and may still run
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
    if (p.first.load(std::memory_order_relaxed) == nullptr) p.first.store(&t, std::memory_order_relaxed);  // under lock
    else p.last->next = &t;
    p.last = &t;
    p.load.fetch_add(1, std::memory_order_relaxed);  // a hint
    ready_.fetch_add(1);
    return true;
  }

  // Takes one thread of the private pools of active worker `rank` and one of the shared pools, alternately. Returns
  // null if these pools are empty.
  [[nodiscard]] fiber::thread* take(unsigned rank, packing_turns& turns) noexcept;
  // Takes a thread of any pool. If it returns null, the worker runs none.
  [[nodiscard]] fiber::thread* take_any(unsigned rank, packing_turns& turns) noexcept;
  // The worker runs no thread of a pool.
  void rests(packing_turns& turns) noexcept { serves(turns, -1); }
  // A hint, or exact after a heavy fence.
  bool any() const noexcept { return ready_.load(std::memory_order_relaxed) > 0; }
  // Returns the pool for a thread that is new, or was woken and has none: a pool with the fewest threads that are ready
  // or run, as far as can be seen. relaxed: the look may begin anywhere
  [[nodiscard]] unsigned deal() noexcept { return emptiest(dealt_.fetch_add(1, std::memory_order_relaxed) % total_); }
  // Returns the pool for a thread whose time slice ended: its own, unless another pool has fewer threads. So equal
  // threads come to have equal shares.
  [[nodiscard]] unsigned settle(unsigned index) const noexcept {
    const int load = pools_[index].load.load(std::memory_order_relaxed);  // hints
    if (load <= 0) return index;
    const unsigned other = emptiest(index);
    return pools_[other].load.load(std::memory_order_relaxed) < load ? other : index;
  }

 private:
  struct alignas(64) pool {
    detail::spin_word lock;
    std::atomic<fiber::thread*> first{nullptr};  // written under lock; read by anyone as a hint
    fiber::thread* last{nullptr};                // under lock; meaningful while first is not null
    std::atomic<int> load{0};                    // threads in it and workers that serve it; a hint
  };
  [[nodiscard]] fiber::thread* pop(unsigned index, packing_turns& turns) noexcept;
  [[nodiscard]] fiber::thread* pop(unsigned index) noexcept;
  void serves(packing_turns& turns, int index) noexcept;
  [[nodiscard]] unsigned emptiest(unsigned from) const noexcept;

  const unsigned total_;
  const std::unique_ptr<pool[]> pools_;
  std::atomic<unsigned> active_{0};        // 0 while there is no packing; written by begin and end
  alignas(64) std::atomic<int> ready_{0};  // threads in all pools; written under the pool's lock
  std::atomic<unsigned> dealt_{0};
};

}  // namespace heddle::worker
