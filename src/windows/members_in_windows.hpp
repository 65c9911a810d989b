// Parallel loops with windows, one for each cache that workers share: schedule::window and sliding_window by stealing.
// Protocol: src/windows/README.md.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include <heddle/detail/loop_named.hpp>
#include <heddle/detail/loop_pace.hpp>

#include "windows/caches.hpp"
#include "windows/window.hpp"
#include "windows/window_member.hpp"

namespace heddle::detail {

// The Work of a loop over members, in the form that loop_tree takes.
class members_in_windows {
 public:
  using result = nothing_returned;

  // Makes windows of `length` iterations. Throws std::bad_alloc.
  members_in_windows(loop_chunks work, std::size_t n, std::size_t length, bool slides, std::size_t members,
                     const std::vector<loop_cache>& caches, const std::stop_token& stop);
  // Throws the exception of an iteration.
  void operator()(result&, std::size_t low, std::size_t high);
  static result combine(result, result) noexcept { return {}; }
  static result nothing() noexcept { return {}; }
  const void* code() const noexcept { return work_.code(); }

 private:
  void run(window_member& mine);
  // [window:4] Gives the member something to run, from the window of its worker's cache, then from others. Waits while
  // that window has something that may not begin yet. Returns false if there is nothing left, or if the loop is
  // stopped.
  bool find(window_member& mine, const window_pace& pace) noexcept;
  bool take(loop_window& w, window_member& mine, const window_pace& pace) noexcept;
  // Of the members that have enough to be worth dividing: in a sliding window the member with the foremost positions,
  // which hold up the window; in a standing window, where all have to end, the member with the most.
  window_member* victim(const loop_window& w, const window_pace& pace, std::uint64_t& seen) const noexcept;
  // [window:5] Waits until something may begin, all is handed out, or the loop is stopped. May return early.
  void wait(loop_window& w, const window_pace& pace) noexcept;
  loop_window& window_at(std::uint64_t position) noexcept;
  void run(std::uint64_t low, std::uint64_t high) {
    work_(low * unit_, std::min(high * unit_, n_));
    if (is_time_to_serve(loop_cycles())) [[unlikely]]
      serve_what_waits();
  }
  bool stopped() const noexcept { return stopped_.load() || stop_.stop_requested(); }
  void stop_all() noexcept;

  const loop_chunks work_;
  const std::size_t n_;
  const std::size_t unit_;  // the iterations of a position
  const std::size_t member_count_;
  const std::vector<loop_cache>& caches_;
  const std::unique_ptr<window_member[]> members_;
  const std::unique_ptr<loop_window[]> windows_;
  std::atomic<bool> stopped_{false};
  const std::stop_token& stop_;
};

}  // namespace heddle::detail
