// Loops by a named schedule: a seat for each worker, which has chunks of its own (fixed, affinity) or takes them from
// all that are left (dynamic, guided). Invariants: src/loop/README.md, "Loops by name". With windows: loop_windows.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <stop_token>
#include <vector>

#include <heddle/detail/loop_runtime.hpp>
#include <heddle/detail/loop_tree.hpp>
#include <heddle/detail/loop_window_barrier.hpp>
#include <heddle/detail/loop_window_choice.hpp>
#include <heddle/detail/loop_windows.hpp>
#include <heddle/loop_schedule.hpp>

namespace heddle::detail {

// What chunks are left, in order. Nothing is ordered by it: what the loop's iterations write is ordered by their joins.
class chunks_left {
 public:
  chunks_left(std::size_t n, const loop_schedule& how, std::size_t seats) noexcept
      : n_(n), least_(std::clamp<std::size_t>(how.chunk, 1, n)), seats_(seats) {}

  // The next `least` iterations. False: there are none left.
  bool take_equal(std::size_t& low, std::size_t& high) noexcept {
    // Chunks are counted, not iterations, so that no number of takers makes the sum too large. relaxed: see above
    const std::size_t k = begin_.fetch_add(1, std::memory_order_relaxed);
    if (k > (n_ - 1) / least_) return false;
    low = k * least_;
    high = n_ - low < least_ ? n_ : low + least_;
    return true;
  }
  // A part of what is left.
  bool take_part(std::size_t& low, std::size_t& high) noexcept {
    low = begin_.load(std::memory_order_relaxed);  // as above
    do {
      if (low == n_) return false;
      high = low + std::min(n_ - low, std::max(least_, (n_ - low) / (2 * seats_)));
    } while (!begin_.compare_exchange_weak(low, high, std::memory_order_relaxed));  // as above
    return true;
  }

 private:
  const std::size_t n_, least_, seats_;
  alignas(64) std::atomic<std::size_t> begin_{0};
};

// The Work of a loop over seats, for loop_tree.
template <class Work>
class seats_of {
 public:
  using result = nothing_returned;

  seats_of(Work& work, std::size_t n, const loop_schedule& how, std::size_t seats, const std::stop_token& stop) noexcept
      : work_(work), n_(n), how_(how), seats_(seats), left_(n, how, seats), stop_(stop) {}

  // Not noexcept: what an iteration throws goes through the loop over seats.
  void operator()(result&, std::size_t low, std::size_t high) {
    for (; low != high; ++low) {
      try {
        sit(low);
      } catch (...) {
        stopped_.store(true, std::memory_order_relaxed);  // a request, ordered by nothing
        throw;
      }
    }
  }
  static result combine(result, result) noexcept { return {}; }
  static result nothing() noexcept { return {}; }

  // For run_on_each_worker: the first exception is kept.
  static void sit_noted(void* self, std::size_t seat) noexcept {
    auto& s = *static_cast<seats_of*>(self);
    try {
      s.sit(seat);
    } catch (...) {
      s.stopped_.store(true, std::memory_order_relaxed);  // as above
      // relaxed: read when all have ended
      if (!s.failed_.exchange(true, std::memory_order_relaxed)) s.error_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void sit(std::size_t seat) {
    std::size_t low = 0, high = 0;
    switch (how_.how) {
      case loop_schedule::kind::dynamic:
        while (!stopped() && left_.take_equal(low, high)) run(low, high);
        return;
      case loop_schedule::kind::guided:
        while (!stopped() && left_.take_part(low, high)) run(low, high);
        return;
      default: break;
    }
    if (how_.chunk == 0) {
      low = part(seat);
      high = part(seat + 1);
      if (low != high && !stopped()) run(low, high);
      return;
    }
    const std::size_t chunks = (n_ - 1) / how_.chunk + 1;
    for (std::size_t k = seat; k < chunks && !stopped(); k += seats_) {
      low = k * how_.chunk;
      run(low, n_ - low < how_.chunk ? n_ : low + how_.chunk);
    }
  }
  [[gnu::noinline]] void run(std::size_t low, std::size_t high) {  // one copy of the body
    typename Work::result nothing{};
    work_(nothing, low, high);
  }
  // Where the part of a seat begins: the first n mod S seats have one iteration more.
  std::size_t part(std::size_t seat) const noexcept { return seat * (n_ / seats_) + std::min(seat, n_ % seats_); }
  bool stopped() const noexcept {
    return stopped_.load(std::memory_order_relaxed) || stop_.stop_requested();  // requests, ordered by nothing
  }

  Work& work_;
  const std::size_t n_;
  const loop_schedule how_;
  const std::size_t seats_;
  chunks_left left_;
  std::atomic<bool> stopped_{false}, failed_{false};
  std::exception_ptr error_;
  const std::stop_token& stop_;
};

// The same Work, for a loop that is not to look for the runtime's schedule again.
template <class Work>
struct adaptive_work {
  using result = nothing_returned;
  Work& work;
  void operator()(result&, std::size_t low, std::size_t high) {
    typename Work::result nothing{};
    work(nothing, low, high);
  }
  static result combine(result, result) noexcept { return {}; }
  static result nothing() noexcept { return {}; }
};

template <class Work>
void run_adaptively(Work& work, std::size_t n, const std::stop_token& stop, std::size_t bytes) {
  adaptive_work<Work> plain{work};
  run_loop(plain, n, loop_site_of<adaptive_work<Work>>, 0, stop, bytes);
}

// The iterations from one on.
template <class Work>
struct later_work {
  using result = nothing_returned;
  Work& work;
  std::size_t first;
  void operator()(result&, std::size_t low, std::size_t high) {
    typename Work::result nothing{};
    work(nothing, first + low, first + high);
  }
  static result combine(result, result) noexcept { return {}; }
  static result nothing() noexcept { return {}; }
};

// Windows of `length` iterations, by stealing. On a worker.
template <class Work>
void run_in_windows(Work& work, std::size_t n, std::size_t length, bool slides, const std::vector<loop_cache>& caches,
                    const std::stop_token& stop, std::size_t bytes) {
  const std::size_t seats = std::min<std::size_t>(loop_begin().workers, n);
  windows_of<Work> all(work, n, length, slides, seats, caches, stop);
  loop_site unknown;  // a seat is no measure of an iteration
  run_loop(all, seats, unknown, 1, stop, bytes * (n / seats));
}

// A loop that is listened to. What its first quarter tells decides about the rest of it, if that is enough to go by;
// else the rest is listened to as well. True: `length` is for the loops that follow. [choice:2]
template <class Work>
bool run_heard(Work& work, std::size_t n, window_sample& sample, const loop_cache& cache,
               const std::vector<loop_cache>& caches, const std::stop_token& stop, std::size_t bytes,
               std::size_t& length) {
  const std::size_t first = n / 4;
  bool is_enough = false;
  length = 0;
  if (first != 0) {
    sampled_work<Work> heard{work, sample};
    run_in_windows(heard, first, first, false, caches, stop, bytes);
    is_enough = sample.is_full();
    length = sample.window(cache.workers);
  }
  later_work<Work> rest{work, first};
  if (length != 0) {
    run_in_windows(rest, n - first, length, true, caches, stop, bytes);
  } else if (is_enough) {
    run_adaptively(rest, n - first, stop, bytes);
  } else {
    window_sample again(sample.lines(), sample.line_bytes());
    sampled_work<later_work<Work>> heard{rest, again};
    run_in_windows(heard, n - first, n - first, false, caches, stop, bytes);
    length = again.window(cache.workers);
    // All that whoever had the first part was to do: nobody has reuses that are farther apart.
    is_enough = again.is_full() || again.iterations() >= (n - first) / loop_begin().workers;
  }
  return (length != 0 || is_enough) && !stop.stop_requested();
}

// schedule::window_automatic. On a worker.
template <class Work>
void run_in_chosen_window(Work& work, std::size_t n, const std::vector<loop_cache>& caches, const std::stop_token& stop,
                          std::size_t bytes) {
  window_choice& site = loop_window_of<Work>;
  window_choice::plan plan = site.choose(n, bytes, caches);
  const loop_cache cache = window_choice::tightest(caches);
  if (plan.sampled) {
    const std::uint64_t line = cache.line_bytes != 0 ? cache.line_bytes : 64;
    window_sample sample(cache.bytes / line, static_cast<unsigned>(line));
    if (sample.is_on()) {
      std::size_t length = 0;
      if (run_heard(work, n, sample, cache, caches, stop, bytes, length)) site.sampled(n, bytes, length);
      return;
    }
    plan.length = window_choice::by_size(n, bytes, cache);
  }
  const std::uint64_t begin = loop_cycles();
  if (plan.length != 0) {
    run_in_windows(work, n, plan.length, true, caches, stop, bytes);
  } else {
    run_adaptively(work, n, stop, bytes);
  }
  if (cache.bytes != 0 && !stop.stop_requested()) site.ended(n, loop_cycles() - begin);
}

// As run_by_name, by one of the schedules with windows. On a worker.
template <class Work>
void run_by_window(Work& work, std::size_t n, const loop_schedule& how, const std::stop_token& stop,
                   std::size_t bytes) {
  const std::vector<loop_cache> caches = loop_caches();
  if (how.how == loop_schedule::kind::window_automatic) return run_in_chosen_window(work, n, caches, stop, bytes);
  if (how.how == loop_schedule::kind::window_barrier) {
    barrier_windows<Work> all(work, n, how.chunk, caches, stop);
    run_on_each_worker(&barrier_windows<Work>::sit_noted, &all, loop_begin().workers);
    return all.rethrow();
  }
  run_in_windows(work, n, how.chunk, how.how != loop_schedule::kind::window, caches, stop, bytes);
}

// Runs work, which has no result, over [0, n), n > 0, by a schedule that is not adaptive. From any thread. `bytes`: as
// of run_loop.
template <class Work>
void run_by_name(Work& work, std::size_t n, const loop_schedule& how, const std::stop_token& stop, std::size_t bytes) {
  if (on_foreign_thread()) [[unlikely]]
    return run_in_runtime([&] { run_by_name(work, n, how, stop, bytes); });
  if (how.how >= loop_schedule::kind::window) return run_by_window(work, n, how, stop, bytes);
  const std::size_t seats = std::min<std::size_t>(loop_begin().workers, n);
  seats_of<Work> all(work, n, how, seats, stop);
  if (how.how == loop_schedule::kind::affinity) {
    run_on_each_worker(&seats_of<Work>::sit_noted, &all, seats);
    return all.rethrow();
  }
  loop_site unknown;  // a seat is no measure of an iteration
  run_loop(all, seats, unknown, 1, stop, bytes * (n / seats));
}

}  // namespace heddle::detail
