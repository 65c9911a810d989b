// The search for the best size of CF subtrees, with one partition an iteration. It tries smaller subtrees as long as
// iterations become shorter; if none did, it tries larger ones. Given times, it says what to do with the cut; it knows
// no tree and no clock.
//
// Source: Chen, Guo (2017), Algorithm 6 (section 4.6.2).
//
// Deviations, and why:
// - The book decides by one time of each partition, the first one under it. Here the first iteration warms up, because
//   the data of the tasks lies in other caches still. Then up to `repeats` iterations are counted and the shortest one
//   counts, and a step must gain `margin` of the time: single times of a machine at work differ by more than steps do.
//   A disturbance makes an iteration longer. So a time shorter than the best is believed at once. A longer one is
//   believed if it comes twice in a row and by more than `clearly` of the time (the warm-up may be one of the two).
// - The book's algorithm leaves the last partition, which was rejected, in place until the saved one is restored at its
//   end. Here a rejected step is undone at once.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heddle::policy {

class cut_search {
 public:
  enum class move : std::uint8_t { none, finer, coarser };
  // The steps are taken in this order.
  struct advice {
    bool restore;  // restore the saved cut
    bool save;     // save the present cut
    move next;
  };

  explicit cut_search(unsigned repeats = 2, double margin = 0.01, unsigned warmup = 1) noexcept
      : repeats_(repeats), warmup_(warmup), margin_(margin) {}

  // Called with the time of an iteration.
  advice took(std::uint64_t time) noexcept {
    if (is_done()) return {false, false, move::none};
    ++iterations_;
    ++seen_;
    const bool counts = seen_ > warmup_;
    if (counts) shortest_ = seen_ == warmup_ + 1 ? time : std::min(shortest_, time);
    if (now_ == state::initial) {
      if (seen_ < warmup_ + repeats_) return {false, false, move::none};
      best_ = shortest_;
      return turn_to(state::finer, {false, true, move::finer});
    }
    const auto of_best = [this](std::uint64_t t) { return static_cast<double>(t) / static_cast<double>(best_); };
    slow_ = of_best(time) > 1 + clearly ? slow_ + 1 : 0;
    if (counts && of_best(shortest_) < 1 - margin_) {
      best_ = shortest_;
      improved_ = true;
      return turn_to(now_, {false, true, now_ == state::finer ? move::finer : move::coarser});
    }
    if (counts && (slow_ >= 2 || seen_ >= warmup_ + repeats_)) return {true, false, give_up()};
    return {false, false, move::none};
  }
  // Called if the advised step is not possible. Returns what to try instead.
  move cannot() noexcept { return give_up(); }

  bool is_done() const noexcept { return now_ == state::done; }
  std::uint64_t best() const noexcept { return best_; }
  unsigned iterations() const noexcept { return iterations_; }  // the iterations that it has been told

 private:
  enum class state : std::uint8_t { initial, finer, coarser, done };
  static constexpr double clearly = 0.1;

  advice turn_to(state next, advice what) noexcept {
    now_ = next;
    seen_ = slow_ = 0;
    return what;
  }
  move give_up() noexcept {
    const bool larger = now_ == state::finer && !improved_;
    return turn_to(larger ? state::coarser : state::done, {false, false, larger ? move::coarser : move::none}).next;
  }

  unsigned repeats_;
  unsigned warmup_;
  double margin_;
  state now_{state::initial};
  bool improved_{false};  // whether a finer cut was better: EvalLarger is 0
  unsigned iterations_{0};
  unsigned seen_{0};  // iterations of the present partition
  unsigned slow_{0};  // slow iterations among them, in a row
  std::uint64_t shortest_{0};
  std::uint64_t best_{0};
};

}  // namespace heddle::policy
