// The pace of a loop: the number of iterations that are run before the next look for hungry workers. See [loop:7] of
// src/loop/README.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <heddle/detail/fork_queue.hpp>
#include <heddle/detail/loop_site.hpp>

namespace heddle::detail {

// The pace of one worker in one range.
class loop_pace {
 public:
  // Starts the clock in a loop of `n` iterations. A loop of two batches, its halves, has a clock only if it is
  // `measured`.
  loop_pace(const loop_site& site, std::size_t n, bool measured, bool in_halves = false) noexcept
      : uneven_(site.is_uneven()),
        most_(n < few ? 1 : n),
        length_(std::clamp(site.iterations_in(loop_site::batch_nanoseconds), std::size_t{1}, most_)),
        target_(loop_site::ticks_in(loop_site::batch_nanoseconds)) {
    if (in_halves) length_ = most_;
    clocked_ = measured || length_ < most_;
    if (clocked_) begin_ = last_ = loop_cycles();
  }

  // Returns true if a range of `count` iterations must not be divided. The worker's range has `left` more iterations,
  // these included.
  bool is_block(std::size_t count, std::size_t left) const noexcept {
    return count == 1 || (uneven_ ? count <= std::min(length_, left / 8) : count / 2 < length_);
  }

  // Records that a batch of `count` iterations has ended. It should have taken one to two targets. Returns its cycles
  // if it took many times that, and otherwise 0.
  [[gnu::always_inline]] std::uint64_t passed(std::size_t count) noexcept {
    if (!clocked_) return 0;
    const std::uint64_t now = loop_cycles();
    const std::uint64_t took = now - last_;
    last_ = now;
    done_ += count;
    batch_ = took;
    if (took <= 4 * target_ && 2 * took >= target_) [[likely]]
      return 0;
    return adapt(count, took);
  }
  // Says that the time since the last batch was a wait, so it does not count.
  void skip() noexcept {
    if (!clocked_) return;
    const std::uint64_t now = loop_cycles();
    begin_ += now - last_;
    last_ = now;
  }

  std::size_t length() const noexcept { return length_; }  // of a batch; at least 1
  bool is_clocked() const noexcept { return clocked_; }
  std::size_t done() const noexcept { return done_; }               // iterations in the batches that have ended
  std::uint64_t cycles() const noexcept { return last_ - begin_; }  // the time that they took
  std::uint64_t now() const noexcept { return last_; }              // the end of the last batch, if the clock runs
  std::uint64_t batch() const noexcept { return batch_; }           // the time of the last batch, if the clock runs

 protected:
  // Loops of fewer iterations begin with batches of one, because the iterations may be long and may wait for each
  // other.
  static constexpr std::size_t few = 16;

 private:
  static constexpr std::uint64_t much = 8;    // a batch that takes this many targets is a surprise
  static constexpr std::uint64_t growth = 8;  // the length rises by at most this factor at a time

  std::uint64_t adapt(std::size_t count, std::uint64_t took) noexcept {
    const double factor = static_cast<double>(target_) / static_cast<double>(std::max(took, target_ / growth + 1));
    // Ranges longer than a batch are halved, so most batches have more than half of length_. A shorter batch says
    // little about long ones, unless it took too long.
    if (factor < 1 || 2 * count >= length_) {
      length_ = std::clamp(static_cast<std::size_t>(static_cast<double>(count) * factor), std::size_t{1}, most_);
    }
    return took > much * target_ ? took : 0;
  }

  const bool uneven_;
  const std::size_t most_;
  std::size_t length_;
  const std::uint64_t target_;  // cycles
  bool clocked_;
  std::uint64_t begin_{0}, last_{0}, batch_{0};
  std::size_t done_{0};
};

// Looks at the clock at some of the boundaries of one thread's work, and gives way to what waits: [service:4] of
// src/worker/searching/service.md. It looks at each boundary at first, and at one of 64 where the boundaries are close.
class service_pace {
 public:
  [[gnu::always_inline]] void boundary() noexcept {
    if (--left_ == 0) [[unlikely]]
      look();
  }

 private:
  static constexpr unsigned most = 64;
  [[gnu::noinline]] void look() noexcept {
    const std::uint64_t now = loop_cycles();
    const std::uint64_t took = now - last_;
    if (took > loop_site::ticks_in(long_nanoseconds)) every_ = std::max(every_ / 8, 1u);
    else if (took < loop_site::ticks_in(short_nanoseconds)) every_ = std::min(2 * every_, most);
    left_ = every_;
    // Members of OpenMP's teams may be kernel threads.
    if (current_queue() != nullptr && is_time_to_serve(now)) serve_what_waits();
    last_ = loop_cycles();
  }

  static constexpr std::uint64_t short_nanoseconds = 4000, long_nanoseconds = 64000;
  unsigned left_{1}, every_{1};
  std::uint64_t last_{loop_cycles()};
};

// The batches of a part whose length the program has not chosen, for one thread: [loop:11] of src/loop/README.md.
class long_batches {
 public:
  // A look at the clock costs a thousandth of such a batch, and the service bound is many times as long.
  static constexpr std::uint64_t batch_nanoseconds = 64000;

  explicit long_batches(const loop_site& site) noexcept
      : length_(std::max<std::size_t>(site.iterations_in(batch_nanoseconds), 1)) {}

  // The end of the batch that begins at `low`.
  std::size_t end_of_next(std::size_t low, std::size_t high) const noexcept {
    return high - low > length_ ? low + length_ : high;
  }
  // A batch of `count` iterations has ended. If it is time for a service, other threads that wait have their turn.
  void ended(std::size_t count) noexcept {
    const std::uint64_t now = loop_cycles(), took = now - begin_, target = loop_site::ticks_in(batch_nanoseconds);
    all_ += took;
    begin_ = now;
    if (took < target / 8) length_ = std::max(length_, 8 * count);
    else if (took > 2 * target) length_ = std::max<std::size_t>(count * target / took, 1);
    // Members of OpenMP's teams may be kernel threads.
    if (current_queue() == nullptr || !is_time_to_serve(now)) [[likely]]
      return;
    serve_what_waits();
    begin_ = loop_cycles();
  }
  std::uint64_t cycles() const noexcept { return all_; }  // of the batches that have ended

 private:
  std::size_t length_;
  std::uint64_t begin_{loop_cycles()}, all_{0};
};

}  // namespace heddle::detail
