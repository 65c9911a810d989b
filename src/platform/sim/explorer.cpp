#include "platform/sim/explorer.hpp"

#include <algorithm>

namespace heddle::sim {

explorer::plan explorer::plan_for(std::uint64_t seed) noexcept {
  plan p;
  p.seed = seed;
  if (seed % 2 == 1) p.mean_run = 2u << (seed / 2 % 6);
  else p.preemptions = 1 + static_cast<unsigned>(seed / 2 % 4);
  // Serves short and long programs alike: most runs force their switches early.
  p.length = std::uint64_t{100} << (seed / 8 % 8);
  p.ticks = static_cast<unsigned>(seed / 2 % 7);
  p.tick_length = std::uint64_t{20} << (seed / 4 % 8);
  constexpr unsigned rest_every[] = {0, 2, 32};
  p.rest_every = rest_every[seed % 3];
  constexpr unsigned remind_every[] = {0, 2, 0, 4, 0, 16, 0};
  p.remind_every = remind_every[seed % 7];
  p.fast_paths = seed % 5 >= 3;
  return p;
}

explorer::explorer(const plan& p)
    : random_(p.seed),
      preemptions_(p.preemptions),
      mean_run_(p.mean_run),
      rest_every_(p.rest_every),
      of_rests_(p.seed + 0x3c6ef372u),  // a source of its own, like that of the ticks below
      remind_every_(p.remind_every),
      of_reminders_(p.seed + 0x78dde6e4u),
      fast_paths_(p.fast_paths),
      seed_(p.seed) {
  for (unsigned i = 0; i < preemptions_; ++i)
    places_.push_back(1 + random_.below(static_cast<std::uint32_t>(p.length)));
  std::sort(places_.begin(), places_.end());
  // A source of its own, so that a program without timers has the same schedules as without this search.
  base::random_source of_ticks(p.seed + 0x9e3779b9u);
  for (unsigned i = 0; i < p.ticks; ++i)
    tick_places_.push_back(1 + of_ticks.below(static_cast<std::uint32_t>(p.tick_length)));
  std::sort(tick_places_.begin(), tick_places_.end());
}

}  // namespace heddle::sim
