// The search for the best size of CF subtrees, a partition an iteration: smaller subtrees as long as iterations become
// shorter; if none did, larger ones. Told times, it says what to do with the cut; it knows no tree and no clock.
//
// Source: Chen, Guo (2017), Algorithm 6 (section 4.6.2).
//
// Deviations, and why:
// - The book decides by one time of each partition. Here each runs `repeats` iterations and its shortest counts, and a
//   step must gain `margin` of the time: single times of a machine at work differ by more than steps do.
// - The book's algorithm leaves the last partition, which was rejected, in place until the saved one is put back at its
//   end. Here a rejected step is undone at once.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heddle::policy {

class cut_search {
 public:
  enum class move : std::uint8_t { none, finer, coarser };
  // In this order.
  struct advice {
    bool restore;  // the saved cut
    bool save;     // the present one
    move next;
  };

  explicit cut_search(unsigned repeats = 3, double margin = 0.01) noexcept : repeats_(repeats), margin_(margin) {}

  // An iteration took so long.
  advice took(std::uint64_t time) noexcept {
    if (is_done()) return {false, false, move::none};
    shortest_ = seen_ == 0 ? time : std::min(shortest_, time);
    if (++seen_ < repeats_) return {false, false, move::none};
    seen_ = 0;
    if (now_ == state::initial) {
      best_ = shortest_;
      now_ = state::finer;
      return {false, true, move::finer};
    }
    if (static_cast<double>(shortest_) < (1 - margin_) * static_cast<double>(best_)) {
      best_ = shortest_;
      improved_ = true;
      return {false, true, now_ == state::finer ? move::finer : move::coarser};
    }
    return {true, false, give_up()};
  }
  // The step that was advised is not possible. What to try instead.
  move cannot() noexcept { return give_up(); }

  bool is_done() const noexcept { return now_ == state::done; }
  std::uint64_t best() const noexcept { return best_; }

 private:
  enum class state : std::uint8_t { initial, finer, coarser, done };
  move give_up() noexcept {
    if (now_ == state::finer && !improved_) {
      now_ = state::coarser;
      return move::coarser;
    }
    now_ = state::done;
    return move::none;
  }

  unsigned repeats_;
  double margin_;
  state now_{state::initial};
  bool improved_{false};  // a finer cut was better: EvalLarger is 0
  unsigned seen_{0};
  std::uint64_t shortest_{0};
  std::uint64_t best_{0};
};

}  // namespace heddle::policy
