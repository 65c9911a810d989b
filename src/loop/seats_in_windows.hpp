// Parallel loops with windows, one for each cache that workers share: schedule::window and sliding_window by stealing.
// Protocol: src/loop/windows.md.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include <heddle/detail/loop_named.hpp>

#include "loop/caches.hpp"
#include "loop/window.hpp"
#include "loop/window_seat.hpp"

namespace heddle::detail {

// The Work of a loop over seats, for loop_tree.
class seats_in_windows {
 public:
  using result = nothing_returned;

  // Windows of `length` iterations. Throws std::bad_alloc.
  seats_in_windows(loop_chunks work, std::size_t n, std::size_t length, bool slides, std::size_t seats,
                   const std::vector<loop_cache>& caches, const std::stop_token& stop);
  // Throws what an iteration throws.
  void operator()(result&, std::size_t low, std::size_t high);
  static result combine(result, result) noexcept { return {}; }
  static result nothing() noexcept { return {}; }

 private:
  void sit(window_seat& mine);
  // [window:4] Gives the seat something to run: of the window of the cache that its worker has, then of others. Waits
  // while that window has something that may not begin yet. False: there is nothing left, or the loop is stopped.
  bool find(window_seat& mine, const window_pace& pace) noexcept;
  bool take(loop_window& w, window_seat& mine, const window_pace& pace) noexcept;
  // Of the seats that have enough to be worth dividing: the one with the foremost positions, which hold up a window
  // that slides; the one with the most, where all have to end.
  window_seat* victim(const loop_window& w, const window_pace& pace, std::uint64_t& seen) const noexcept;
  // [window:5] Until something may begin, all is handed out, or the loop is stopped. May return early.
  void wait(loop_window& w, const window_pace& pace) noexcept;
  loop_window& window_at(std::uint64_t position) noexcept;
  void run(std::uint64_t low, std::uint64_t high) { work_(low * unit_, std::min(high * unit_, n_)); }
  bool stopped() const noexcept { return stopped_.load() || stop_.stop_requested(); }
  void stop_all() noexcept;

  const loop_chunks work_;
  const std::size_t n_;
  const std::size_t unit_;  // iterations of a position
  const std::size_t seat_count_;
  const std::vector<loop_cache>& caches_;
  const std::unique_ptr<window_seat[]> seats_;
  const std::unique_ptr<loop_window[]> windows_;
  std::atomic<bool> stopped_{false};
  const std::stop_token& stop_;
};

}  // namespace heddle::detail
