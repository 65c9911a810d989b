// Parallel loops with windows, by threads and barriers: each worker has an equal part of each window, always the same
// part.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <exception>
#include <stop_token>
#include <vector>

#include <heddle/cancellable_barrier.hpp>
#include <heddle/detail/loop_named.hpp>
#include <heddle/detail/loop_pace.hpp>

#include "windows/caches.hpp"

namespace heddle::detail {

// For run_on_each_worker, with every worker of the runtime. [window:7]
class barrier_windows {
 public:
  // Makes windows of `length` iterations. Throws std::bad_alloc.
  barrier_windows(loop_chunks work, std::size_t n, std::size_t length, const std::vector<loop_cache>& caches,
                  const std::stop_token& stop)
      : work_(work), n_(n), length_(std::clamp<std::size_t>(length, 1, n)), caches_(caches), stop_(stop) {
    for (const loop_cache& c : caches) ends_.emplace_back(static_cast<std::ptrdiff_t>(c.workers));
  }

  static void run_noted(void* self, std::size_t worker) noexcept {
    auto& s = *static_cast<barrier_windows*>(self);
    try {
      s.run(worker);
    } catch (...) {
      if (!s.failed_.exchange(true)) s.error_ = std::current_exception();
      s.stop_all();
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void run(std::size_t worker) {
    std::size_t g = 0;
    while (worker >= caches_[g].first_worker + caches_[g].workers) ++g;
    const std::size_t rank = worker - caches_[g].first_worker, all = caches_[g].workers;
    const std::size_t end = cut(caches_[g].first_worker + caches_[g].workers);
    for (std::size_t low = cut(caches_[g].first_worker), high; low < end; low = high) {
      if (stop_.stop_requested()) stop_all();
      if (ends_[g].is_cancelled()) return;
      high = end - low < length_ ? end : low + length_;
      const std::size_t from = low + part(high - low, all, rank), to = low + part(high - low, all, rank + 1);
      if (from != to) work_(from, to);
      if (is_time_to_serve(loop_cycles())) [[unlikely]]
        serve_what_waits();
      if (high != end && !ends_[g].arrive_and_wait()) return;
    }
  }
  // The position where the k-th of `all` equal parts of `length` begins.
  static std::size_t part(std::size_t length, std::size_t all, std::size_t k) noexcept {
    return length / all * k + std::min(k, length % all);
  }
  std::size_t cut(std::size_t worker) const noexcept {
    return part(n_, caches_.back().first_worker + caches_.back().workers, worker);
  }
  void stop_all() noexcept {
    for (cancellable_barrier& b : ends_) b.cancel();
  }

  const loop_chunks work_;
  const std::size_t n_, length_;
  const std::vector<loop_cache>& caches_;
  std::deque<cancellable_barrier> ends_;  // the barrier at the end of a window, by cache
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;  // the exception of the thread that set failed_; read when all have ended
  const std::stop_token& stop_;
};

}  // namespace heddle::detail
