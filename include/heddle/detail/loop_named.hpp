// Loops by a named schedule: the part that is compiled into programs. The schedules are in the library
// (src/loop/named.cpp). They call a loop's body through a pointer, once for each chunk, so that a program contains each
// body once and not nine times.
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

// A reference to a loop's Work (loop_tree.hpp) whose type is erased and whose parts may run in any order. It is itself
// a Work.
class loop_chunks {
 public:
  using result = nothing_returned;
  // in_any_order is not set, because the schedule has been chosen already.
  static constexpr bool in_ranges = true;

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
  // The address of the code that runs iterations, by which a trace names the loop.
  const void* code() const noexcept { return reinterpret_cast<const void*>(run_); }

 private:
  using function = void (*)(void*, std::size_t, std::size_t);
  loop_chunks(void* work, function run) noexcept : work_(work), run_(run) {}
  void* work_;
  function run_;
};

// Runs the body over [0, n), n > 0, by one range for each worker (src/loop/ranges.md). Must be called on a worker of a
// runtime with `workers` workers. If `measure` is true, the site learns where the work lies.
HEDDLE_API void run_in_ranges(loop_chunks body, std::size_t n, loop_site& site, const std::stop_token& stop,
                              unsigned workers, bool measure);

struct loop_cache;

// The length of the window where the program leaves it to heddle (schedule::window_automatic), with what is remembered
// of the loops of one call site. All fields are hints, which any worker may write; [choice:1] to [choice:4] of
// src/loop/windows.md.
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

// The memory of the schedules for one type of body.
struct loop_named_site {
  loop_site adaptive{};  // for loops that window_automatic runs without a window
  window_choice window{};
};
template <class Work>
inline constinit loop_named_site loop_named_site_of{};

// Runs the body over [0, n), n > 0, by a schedule that is not adaptive. `bytes` is as in run_loop. May be called from
// any thread.
HEDDLE_API void run_by_name(loop_chunks body, std::size_t n, const loop_schedule& how, const std::stop_token& stop,
                            std::size_t bytes, loop_named_site& site);

template <class Work>
void run_by_name(Work& work, std::size_t n, const loop_schedule& how, const std::stop_token& stop, std::size_t bytes) {
  run_by_name(loop_chunks::of(work), n, how, stop, bytes, loop_named_site_of<Work>);
}

// The body of a loop whose schedule is not chosen yet.
class loop_body : public loop_chunks {
 public:
  static constexpr bool in_any_order = true;

  template <class Work>
  static loop_body of(Work& work) noexcept {
    return {loop_chunks::of(work), loop_named_site_of<Work>};
  }
  void run_by_name(std::size_t n, const loop_schedule& how, const std::stop_token& stop, std::size_t bytes) const {
    detail::run_by_name(*this, n, how, stop, bytes, *site_);
  }

 private:
  loop_body(const loop_chunks& chunks, loop_named_site& site) noexcept : loop_chunks(chunks), site_(&site) {}
  loop_named_site* site_;
};

}  // namespace heddle::detail
