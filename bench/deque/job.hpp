// A job that lives in the frame of the function that forks it.
#pragma once

#include <atomic>
#include <cstdint>

namespace deque_bench {

struct job;
using job_entry = void (*)(job*);

// One word serves as code address and as state: the entry while the job is queued or running, and 0 once it has run. So
// a fork that is never stolen pays one store for both, and the fast path of the join never reads the word.
struct job {
  std::atomic<std::uintptr_t> word;

  void prepare(job_entry entry) noexcept {
    // pairs with the queue's push: published by the release store (or the CAS) that makes the job
    // visible to thieves
    word.store(reinterpret_cast<std::uintptr_t>(entry), std::memory_order_relaxed);
  }
  void run() noexcept {
    // pairs with prepare: the steal that returned this job acquired the push
    auto entry = reinterpret_cast<job_entry>(word.load(std::memory_order_relaxed));
    entry(this);
    // pairs with done: the owner sees everything the job wrote; the frame may die as soon as this
    // store is visible
    word.store(0, std::memory_order_release);
  }
  bool done() const noexcept {
    // pairs with run: what the job wrote
    return word.load(std::memory_order_acquire) == 0;
  }
};

}  // namespace deque_bench
