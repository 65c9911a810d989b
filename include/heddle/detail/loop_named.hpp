// Loops by a named schedule: the part that is compiled into programs. The schedules are in the library
// (src/loop/named.cpp). They call a loop's body through a pointer, once for each chunk, so that a program contains each
// body once and not nine times.
#pragma once

#include <cstddef>
#include <stop_token>

#include <heddle/detail/loop_chunks.hpp>
#include <heddle/detail/loop_site.hpp>
#include <heddle/detail/loop_windows.hpp>
#include <heddle/export.hpp>
#include <heddle/loop_schedule.hpp>

namespace heddle::detail {

// Runs the body over [0, n), n > 0, by one range for each worker (src/loop/ranges.md). Must be called on a worker of a
// runtime with `workers` workers. If `measure` is true, the site learns where the work lies.
HEDDLE_API void run_in_ranges(loop_chunks body, std::size_t n, loop_site& site, const std::stop_token& stop,
                              unsigned workers, bool measure);

// The memory of the schedules for one type of body.
struct loop_named_site {
  loop_site adaptive{};  // for loops that window_automatic runs without a window
  window_choice window{};
  // The schedules with windows, which lie above the loops.
  decltype(&run_by_window) by_window{&run_by_window};
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
