#include "platform/sim/progress.hpp"

namespace heddle::sim {

void progress::count(strand& s) noexcept {
  const std::uint32_t beats = s.stretch.beats;
  s.stretch.beats = 0;
  program_beats_ += beats;
  if (!s.stretch.told) untold_beats_ += beats;
}

progress::quiet progress::beat(unsigned times, std::uint64_t events) noexcept {
  const std::uint64_t before = quiet_beats_;
  if (made_ != seen_) {
    seen_ = made_;
    seen_events_ = events;
    quiet_beats_ = 0;
  } else {
    quiet_beats_ += times;
  }
  return {before, quiet_beats_};
}

}  // namespace heddle::sim
