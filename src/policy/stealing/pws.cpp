// Probability work stealing: a victim is chosen with a probability proportional to the inverse of its distance.
// Children of groups are queued, as under random_ws.
//
// Source: Quintin, Wagner, "Hierarchical work-stealing" (Euro-Par 2010), as Chen and Guo (2017), chapter 3, describe
// it.
//
// Deviations: the distance is the number of levels up to the smallest memory group that holds both workers. A thief
// that insists tries every victim, from the drawn one on.
#include "policy/stealing/pws.hpp"

#include <algorithm>

namespace heddle::policy {

void pws::start(scheduler& host) {
  policy::start(host);
  constexpr std::uint32_t unit = 5040;  // divisible by all distances up to 10
  const unsigned workers = host.workers();
  below_.resize(workers);
  memory_.start(workers);
  for (unsigned self = 0; self < workers; ++self) {
    std::uint32_t sum = 0;
    for (unsigned victim = 0; victim < workers; ++victim) {
      if (victim != self) sum += std::max(unit / std::max(host.distance(self, victim), 1u), 1u);
      below_[self].push_back(sum);
    }
  }
}

entry pws::acquire(unsigned self, effort how) noexcept {
  const std::vector<std::uint32_t>& below = below_[self];
  const auto workers = static_cast<unsigned>(below.size());
  if (workers < 2) return 0;
  const auto draw = [&] {
    const std::uint32_t drawn = host_->random(self, below.back());
    return static_cast<unsigned>(std::upper_bound(below.begin(), below.end(), drawn) - below.begin());
  };
  return memory_.go_round(
      self, workers, how, draw, [&](unsigned each) { return each == self ? 0 : rob(*host_, self, each, how); },
      [&](unsigned each) { return host_->has_work(each); });
}

std::unique_ptr<policy> pws::make(parameters& given) { return create<pws>(victim_memory::asked_for(given)); }

}  // namespace heddle::policy
