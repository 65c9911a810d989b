// Loops by the schedules with windows. Protocol: README.md.
#include <heddle/detail/loop_named.hpp>
#include <heddle/detail/loop_runtime.hpp>
#include <heddle/detail/loop_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "loop/joining.hpp"
#include "windows/barrier_windows.hpp"
#include "windows/caches.hpp"
#include "windows/members_in_windows.hpp"
#include "windows/window_sample.hpp"

namespace heddle::detail {

namespace {

// A loop, with its iterations and its other parameters.
struct windowed_loop {
  loop_chunks body;
  std::size_t n;
  const std::stop_token& stop;
  std::size_t bytes;  // bytes that an iteration touches; 0 if not known
};

// The iterations from a given one on.
struct later_iterations {
  using result = nothing_returned;
  loop_chunks body;
  std::size_t first;
  void operator()(result&, std::size_t low, std::size_t high) const { body(first + low, first + high); }
};

void run_adaptively(const windowed_loop& loop, loop_site& site) {
  loop_chunks body = loop.body;
  run_loop(body, loop.n, site, 0, loop.stop, loop.bytes);
}

// Runs the loop in windows of `length` iterations, by stealing. Must be called on a worker.
void run_in_windows(const windowed_loop& loop, std::size_t length, bool slides, const std::vector<loop_cache>& caches) {
  const std::size_t members = std::min<std::size_t>(loop_begin().workers, loop.n);
  members_in_windows all(loop.body, loop.n, length, slides, members, caches, loop.stop);
  loop_site unknown;  // the time of a member is no measure of an iteration
  run_loop(all, members, unknown, 1, loop.stop, loop.bytes * (loop.n / members));
}

// Runs the loop without a window, and listens to it.
void run_listening(const windowed_loop& loop, window_sample& sample, const std::vector<loop_cache>& caches) {
  sampled_work heard{loop.body, sample};
  run_in_windows({loop_chunks::of(heard), loop.n, loop.stop, loop.bytes}, loop.n, false, caches);
}

// Runs a loop and listens to it. The sample of its first quarter decides about the rest of it, if that is enough; else
// the rest is listened to as well. Returns true if `length` is also for the following loops. [choice:2]
bool run_heard(const windowed_loop& loop, loop_site& site, window_sample& sample, const loop_cache& cache,
               const std::vector<loop_cache>& caches, std::size_t& length) {
  const std::size_t first = loop.n / 4;
  bool is_enough = false;
  length = 0;
  if (first != 0) {
    run_listening({loop.body, first, loop.stop, loop.bytes}, sample, caches);
    is_enough = sample.is_full();
    length = sample.window(cache.workers);
  }
  later_iterations later{loop.body, first};
  const windowed_loop rest{loop_chunks::of(later), loop.n - first, loop.stop, loop.bytes};
  if (length != 0) {
    run_in_windows(rest, length, true, caches);
  } else if (is_enough) {
    run_adaptively(rest, site);
  } else {
    window_sample again(sample.lines(), sample.line_bytes());
    run_listening(rest, again, caches);
    length = again.window(cache.workers);
    // This was the whole share of the worker that had the first part, so no worker has reuses that are farther apart.
    is_enough = again.is_full() || again.iterations() >= rest.n / loop_begin().workers;
  }
  return (length != 0 || is_enough) && !loop.stop.stop_requested();
}

// Runs under schedule::window_automatic. Must be called on a worker.
void run_in_chosen_window(const windowed_loop& loop, const std::vector<loop_cache>& caches, loop_named_site& site) {
  window_choice::plan plan = site.window.choose(loop.n, loop.bytes, caches);
  const loop_cache cache = window_choice::tightest(caches);
  if (plan.sampled) {
    const std::uint64_t line = cache.line_bytes != 0 ? cache.line_bytes : 64;
    window_sample sample(cache.bytes / line, static_cast<unsigned>(line));
    if (sample.is_on()) {
      std::size_t length = 0;
      if (run_heard(loop, site.adaptive, sample, cache, caches, length))
        site.window.sampled(loop.n, loop.bytes, length);
      return;
    }
    plan.length = window_choice::by_size(loop.n, loop.bytes, cache);
  }
  const std::uint64_t begin = loop_cycles();
  if (plan.length != 0) run_in_windows(loop, plan.length, true, caches);
  else run_adaptively(loop, site.adaptive);
  if (cache.bytes != 0 && !loop.stop.stop_requested()) site.window.ended(loop.n, loop_cycles() - begin);
}

const void* body_of_joined(const job* one, job::code code) noexcept {
  return code_of(loop_tree<members_in_windows>::work_of(one, code));
}

}  // namespace

void run_by_window(loop_chunks body, std::size_t n, const loop_schedule& how, const std::stop_token& stop,
                   std::size_t bytes, loop_named_site& site) {
  body_of_job_above.store(body_of_joined, std::memory_order_relaxed);  // a constant
  const windowed_loop loop{body, n, stop, bytes};
  const std::vector<loop_cache> caches = loop_caches();
  if (how.how == loop_schedule::kind::window_automatic) return run_in_chosen_window(loop, caches, site);
  if (how.how == loop_schedule::kind::window_barrier) {
    barrier_windows all(loop.body, loop.n, how.chunk, caches, loop.stop);
    run_on_each_worker(&barrier_windows::run_noted, &all, loop_begin().workers);
    return all.rethrow();
  }
  run_in_windows(loop, how.chunk, how.how != loop_schedule::kind::window, caches);
}

}  // namespace heddle::detail
