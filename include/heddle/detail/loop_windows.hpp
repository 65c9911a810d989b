// Loops with windows for a shared cache: the part that is compiled into programs. The rest is in src/windows, above the
// loops, which call it through loop_named_site::by_window.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include <heddle/detail/loop_chunks.hpp>
#include <heddle/export.hpp>
#include <heddle/loop_schedule.hpp>

namespace heddle::detail {

struct loop_named_site;
struct loop_cache;

// The length of the window where the program leaves it to heddle (schedule::window_automatic), with what is remembered
// of the loops of one call site. All fields are hints, which any worker may write; [choice:1] to [choice:4] of
// src/windows/README.md.
class window_choice {
 public:
  struct plan {
    std::size_t length;  // iterations; 0 means no window
    // The loop has no window and its accesses are sampled; the result must be passed to sampled().
    bool sampled;
  };
  // Chooses for a loop of n iterations that each touch `bytes` of memory (0 if not known). Must be called on a worker.
  plan choose(std::size_t n, std::size_t bytes, const std::vector<loop_cache>& caches) noexcept;
  void sampled(std::size_t n, std::size_t bytes, std::size_t length) noexcept;
  // Records how long a loop took that was not sampled.
  void ended(std::size_t n, std::uint64_t cycles) noexcept;

  // Returns the smallest shared cache, with the largest number of workers of any. Its `bytes` is 0 if no cache is
  // shared.
  static loop_cache tightest(const std::vector<loop_cache>& caches) noexcept;
  // Returns the length that follows from the cache's size and the bytes that an iteration touches.
  static std::size_t by_size(std::size_t n, std::size_t bytes, const loop_cache& cache) noexcept;

 private:
  void keep(std::size_t n, std::size_t bytes, std::size_t length) noexcept;

  std::atomic<std::size_t> n_{0}, bytes_{0}, length_{0};  // the decision for such loops; n_ is 0 if there is none
  std::atomic<std::uint32_t> loops_{0};                   // since that decision
  std::atomic<std::uint32_t> surprises_{0};               // loops in a row that took a different time
  std::atomic<float> cycles_{0};                          // of an iteration, in the first loop since the decision
};

// Runs the body over [0, n), n > 0, by one of the schedules with windows. `bytes` is as in run_loop. Must be called on
// a worker.
HEDDLE_API void run_by_window(loop_chunks body, std::size_t n, const loop_schedule& how, const std::stop_token& stop,
                              std::size_t bytes, loop_named_site& site);

}  // namespace heddle::detail
