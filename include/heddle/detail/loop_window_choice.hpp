// How long a window is to be, where the program leaves that to heddle: schedule::window_automatic.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <heddle/detail/loop_window_sample.hpp>
#include <heddle/detail/loop_windows.hpp>
#include <heddle/export.hpp>

namespace heddle::detail {

// What is remembered of the loops of one call site. All fields are hints, which any worker may write; [choice:1] to
// [choice:4] of src/loop/windows.md.
class window_choice {
 public:
  struct plan {
    std::size_t length;  // iterations; 0: no window
    bool sampled;        // without a window, and listened to: sampled() is to be told what follows
  };
  // Of a loop of n iterations, each of which touches `bytes` of memory; 0: not known. On a worker.
  HEDDLE_API plan choose(std::size_t n, std::size_t bytes, const std::vector<loop_cache>& caches) noexcept;
  HEDDLE_API void sampled(std::size_t n, std::size_t bytes, std::size_t length) noexcept;
  // A loop that was not sampled took so long.
  HEDDLE_API void ended(std::size_t n, std::uint64_t cycles) noexcept;

  // The smallest shared cache, with the most workers that any has; bytes 0: none is shared.
  HEDDLE_API static loop_cache tightest(const std::vector<loop_cache>& caches) noexcept;
  // By the size of the cache and what an iteration touches.
  HEDDLE_API static std::size_t by_size(std::size_t n, std::size_t bytes, const loop_cache& cache) noexcept;

 private:
  void keep(std::size_t n, std::size_t bytes, std::size_t length) noexcept;

  std::atomic<std::size_t> n_{0}, bytes_{0}, length_{0};  // decided for such loops; n_ 0: nothing is
  std::atomic<std::uint32_t> loops_{0};                   // since then
  std::atomic<std::uint32_t> surprises_{0};               // loops in a row that took another time
  std::atomic<float> cycles_{0};                          // of an iteration, in the first loop since then
};

// One object for each type of body, as loop_site_of.
template <class Work>
inline constinit window_choice loop_window_of{};

}  // namespace heddle::detail
