// A nested parallel region that factors a panel. Its threads meet at a barrier of the program's own after each step, as
// in SLATE.
#pragma once

#include <omp.h>

#include <sched.h>
#include <atomic>

namespace heddle::bench_panels {

enum class waiting {
  spin,    // a loop without a pause
  pause,   // with one
  yield,   // with sched_yield
  openmp,  // no barrier of its own: OpenMP's
};

class panel_barrier {
 public:
  panel_barrier(int threads, waiting how) noexcept : threads_(threads), how_(how) {}

  void wait() noexcept {
    if (threads_ == 1) return;
    if (how_ == waiting::openmp) {
#pragma omp barrier
      return;
    }
    const int phase = phase_.load(std::memory_order_acquire);  // pairs with the store: the phase before
    if (here_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      here_.store(0, std::memory_order_relaxed);  // published by the phase
      phase_.store(phase + 1, std::memory_order_release);
      return;
    }
    while (phase_.load(std::memory_order_acquire) == phase) {  // pairs with the store: what all did before it
      if (how_ == waiting::pause) __builtin_ia32_pause();
      else if (how_ == waiting::yield) sched_yield();
    }
  }

 private:
  const int threads_;
  const waiting how_;
  alignas(64) std::atomic<int> here_{0};
  alignas(64) std::atomic<int> phase_{0};
};

// A range of rows for each thread of the panel, cut at the same places in each step.
struct rows_of {
  int first, last;
  rows_of(int begin, int end, int number, int threads, int tile) noexcept {
    const int tiles = (end - begin + tile - 1) / tile;
    first = begin + tiles * number / threads * tile;
    last = number + 1 == threads ? end : begin + tiles * (number + 1) / threads * tile;
  }
};

}  // namespace heddle::bench_panels
