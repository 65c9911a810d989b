// Loops by a named schedule, as far as programs compile it. The schedules are in the library (src/loop/named.cpp): they
// call a loop's body through a pointer, once a chunk, so that a program has each body in them once and not nine times.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include <heddle/detail/loop_site.hpp>
#include <heddle/export.hpp>
#include <heddle/loop_schedule.hpp>
#include <heddle/parallel_invoke.hpp>

namespace heddle::detail {

// A loop's Work (loop_tree.hpp) whose parts may run in any order, without its type: a reference, and a Work itself.
class loop_chunks {
 public:
  using result = nothing_returned;
  static constexpr bool in_lanes = true;  // and not in_any_order: which schedule it has was decided

  template <class Work>
  static loop_chunks of(Work& work) noexcept {
    return {&work, [](void* self, std::size_t low, std::size_t high) {
              typename Work::result nothing{};
              (*static_cast<Work*>(self))(nothing, low, high);
            }};
  }
  // Throws what the body throws.
  void operator()(std::size_t low, std::size_t high) const { run_(work_, low, high); }
  void operator()(result&, std::size_t low, std::size_t high) const { run_(work_, low, high); }
  static result combine(result, result) noexcept { return {}; }
  static result nothing() noexcept { return {}; }

 private:
  using function = void (*)(void*, std::size_t, std::size_t);
  loop_chunks(void* work, function run) noexcept : work_(work), run_(run) {}
  void* work_;
  function run_;
};

// Runs the body over [0, n), n > 0, in lanes (src/loop/lanes.md). On a worker, of a runtime of `workers`. `measure`:
// the site learns where the work lies.
HEDDLE_API void run_in_lanes(loop_chunks body, std::size_t n, loop_site& site, const std::stop_token& stop,
                             unsigned workers, bool measure);

struct loop_cache;

// How long a window is to be, where the program leaves that to heddle (schedule::window_automatic): what is remembered
// of the loops of one call site. All fields are hints, which any worker may write; [choice:1] to [choice:4] of
// src/loop/windows.md.
class window_choice {
 public:
  struct plan {
    std::size_t length;  // iterations; 0: no window
    bool sampled;        // without a window, and listened to: sampled() is to be told what follows
  };
  // Of a loop of n iterations, each of which touches `bytes` of memory; 0: not known. On a worker.
  plan choose(std::size_t n, std::size_t bytes, const std::vector<loop_cache>& caches) noexcept;
  void sampled(std::size_t n, std::size_t bytes, std::size_t length) noexcept;
  // A loop that was not sampled took so long.
  void ended(std::size_t n, std::uint64_t cycles) noexcept;

  // The smallest shared cache, with the most workers that any has; bytes 0: none is shared.
  static loop_cache tightest(const std::vector<loop_cache>& caches) noexcept;
  // By the size of the cache and what an iteration touches.
  static std::size_t by_size(std::size_t n, std::size_t bytes, const loop_cache& cache) noexcept;

 private:
  void keep(std::size_t n, std::size_t bytes, std::size_t length) noexcept;

  std::atomic<std::size_t> n_{0}, bytes_{0}, length_{0};  // decided for such loops; n_ 0: nothing is
  std::atomic<std::uint32_t> loops_{0};                   // since then
  std::atomic<std::uint32_t> surprises_{0};               // loops in a row that took another time
  std::atomic<float> cycles_{0};                          // of an iteration, in the first loop since then
};

// What is remembered for the schedules of one type of body.
struct loop_named_site {
  loop_site adaptive{};  // of what window_automatic runs without a window
  window_choice window{};
};
template <class Work>
inline constinit loop_named_site loop_named_site_of{};

// Runs the body over [0, n), n > 0, by a schedule that is not adaptive. `bytes`: as of run_loop. From any thread.
HEDDLE_API void run_by_name(loop_chunks body, std::size_t n, const loop_schedule& how, const std::stop_token& stop,
                            std::size_t bytes, loop_named_site& site);

template <class Work>
void run_by_name(Work& work, std::size_t n, const loop_schedule& how, const std::stop_token& stop, std::size_t bytes) {
  run_by_name(loop_chunks::of(work), n, how, stop, bytes, loop_named_site_of<Work>);
}

}  // namespace heddle::detail
