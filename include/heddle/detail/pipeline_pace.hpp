// The pace of a pipeline: whether its items take so little time that one thread is enough. See src/loop/pipeline.md,
// "Short items".
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <heddle/detail/loop_site.hpp>

namespace heddle::detail {

// The time that an item takes in the stages themselves, as one runner measures it. The first pass of each window is
// timed stage by stage. The other passes are timed by the window's time, less the time that the first one spent outside
// its stages.
class pipeline_pace {
 public:
  // The cost of passing an item on to another core and back.
  static constexpr std::uint64_t short_nanoseconds = 250;

  // Begins a pass. Returns true if is_short() has a new value.
  bool next() noexcept {
    const std::size_t nth = passes_++ % window;
    if (nth > 1) [[likely]]
      return false;
    const std::uint64_t now = loop_cycles();
    return nth == 0 ? begin_window(now) : end_timed(now);
  }
  bool is_short() const noexcept { return item_ < loop_site::ticks_in(short_nanoseconds); }

  // Runs a stage.
  template <class F>
  [[gnu::always_inline]] decltype(auto) time(F&& stage) {
    const stopwatch running(*this);
    return stage();
  }

 private:
  static constexpr std::size_t window = 32;

  bool begin_window(std::uint64_t now) noexcept {
    const bool has_ended = passes_ != 1;
    if (has_ended) {
      const std::uint64_t mean = (now - begun_) / window;
      item_ = std::max(inside_, mean - std::min(mean, outside_));
    }
    begun_ = now;
    inside_ = 0;
    is_timed_ = true;
    return has_ended;
  }
  bool end_timed(std::uint64_t now) noexcept {
    is_timed_ = false;
    outside_ = now - begun_ - std::min(inside_, now - begun_);
    if (passes_ != 2) return false;
    item_ = inside_;  // a new runner knows nothing else
    return true;
  }

  struct stopwatch {
    explicit stopwatch(pipeline_pace& p) noexcept : of(p), begun(p.is_timed_ ? loop_cycles() : 0) {}
    ~stopwatch() {
      if (begun != 0) [[unlikely]]
        of.inside_ += loop_cycles() - begun;
    }
    pipeline_pace& of;
    const std::uint64_t begun;
  };

  std::size_t passes_{0};
  bool is_timed_{false};
  // In cycles: the time when the window began, the times of its first pass inside and outside the stages, and the time
  // of an item.
  std::uint64_t begun_{0}, inside_{0}, outside_{0}, item_{0};
};

}  // namespace heddle::detail
