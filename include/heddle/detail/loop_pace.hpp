// How many iterations of a range are run before the next look at who is hungry. Argument: src/loop/README.md, P1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <heddle/detail/loop_site.hpp>

namespace heddle::detail {

// Of one worker, for one range.
class loop_pace {
 public:
  // Starts the clock, in a loop of `n` iterations; of one whose
  // halves are not divided any more only if it is to be `measured`.
  loop_pace(const loop_site& site, std::size_t n, bool measured) noexcept
      : uneven_(site.is_uneven()),
        most_(n < few ? 1 : n),
        length_(std::clamp(site.iterations_in(block_nanoseconds), std::size_t{1}, most_)),
        target_(loop_site::ticks_in(block_nanoseconds)) {
    // two halves of less than two blocks: dividing them gains nothing
    if (!uneven_ && length_ >= n / 4) length_ = most_;
    clocked_ = measured || length_ < most_;
    if (clocked_) begin_ = last_ = loop_ticks();
  }

  // A range of `count` iterations is not to be divided; so many are `left` of the worker's, these among them.
  bool is_block(std::size_t count, std::size_t left) const noexcept {
    return count == 1 || (uneven_ ? count <= std::min(length_, left / 8) : count / 2 < length_);
  }

  // A block of `count` iterations has ended. Its ticks if they are many times
  // what it should have taken, which is one to two targets; otherwise 0.
  [[gnu::always_inline]] std::uint64_t passed(std::size_t count) noexcept {
    if (!clocked_) return 0;
    const std::uint64_t now = loop_ticks();
    const std::uint64_t took = now - last_;
    last_ = now;
    done_ += count;
    if (took <= 4 * target_ && 2 * took >= target_) [[likely]]
      return 0;
    return adapt(count, took);
  }
  // What ran since was no block: a wait.
  void skip() noexcept {
    if (!clocked_) return;
    const std::uint64_t now = loop_ticks();
    begin_ += now - last_;
    last_ = now;
  }

  bool is_clocked() const noexcept { return clocked_; }
  std::size_t done() const noexcept { return done_; }              // iterations in blocks that have ended
  std::uint64_t ticks() const noexcept { return last_ - begin_; }  // and what they took

 private:
  // at least; a block's look at the clock and at the queue is a hundredth of it
  static constexpr std::uint64_t block_nanoseconds = 2000;
  // so few iterations are thought to be long, and may wait for each other
  static constexpr std::size_t few = 16;
  static constexpr std::uint64_t much = 8;    // times what a block should take
  static constexpr std::uint64_t growth = 8;  // at a time, at most

  std::uint64_t adapt(std::size_t count, std::uint64_t took) noexcept {
    const double factor = static_cast<double>(target_) / static_cast<double>(std::max(took, target_ / growth + 1));
    // Halves of what is longer than a block are longer than half a
    // block; what is shorter than that says little of long ones.
    if (factor < 1 || 2 * count >= length_) {
      length_ = std::clamp(static_cast<std::size_t>(static_cast<double>(count) * factor), std::size_t{1}, most_);
    }
    return took > much * target_ ? took : 0;
  }

  const bool uneven_;
  const std::size_t most_;
  std::size_t length_;
  const std::uint64_t target_;  // ticks
  bool clocked_;
  std::uint64_t begin_{0}, last_{0};
  std::size_t done_{0};
};

}  // namespace heddle::detail
