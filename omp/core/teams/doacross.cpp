#include "omp/core/teams/doacross.hpp"

#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp {

doacross* make_doacross(unsigned loops, const doacross_loop* of) {
  auto made = std::make_unique<doacross>();
  made->loops = loops;
  made->of = std::make_unique<doacross_loop[]>(loops);
  std::uint64_t all = 1;
  for (unsigned i = 0; i < loops; ++i) {
    made->of[i] = of[i];
    all *= of[i].trips;
  }
  made->done = std::make_unique<std::atomic<std::uint64_t>[]>(all / 64 + 1);
  return made.release();
}

void free_doacross(doacross*& d) noexcept {
  if (d == nullptr) return;
  delete d;
  d = nullptr;
}

bool number_of(const doacross& d, const std::uint64_t* values, std::uint64_t& number) noexcept {
  number = 0;
  for (unsigned i = 0; i < d.loops; ++i) {
    const doacross_loop& loop = d.of[i];
    const bool down = static_cast<std::int64_t>(loop.step) < 0;
    const std::uint64_t distance = down ? loop.first - values[i] : values[i] - loop.first;
    const std::uint64_t index = distance / (down ? 0 - loop.step : loop.step);
    if (index >= loop.trips) return false;  // also before the first iteration, because the difference wraps around
    number = number * loop.trips + index;
  }
  return true;
}

void post(thread& self, doacross& d, std::uint64_t iteration) noexcept {
  // release pairs with wait_for: publishes what the iteration has written
  d.done[iteration / 64].fetch_or(std::uint64_t{1} << (iteration % 64), std::memory_order_release);
  if (self.in->size > 1) self.in->wake_all();
}

void wait_for(thread& self, doacross& d, std::uint64_t iteration) {
  const std::atomic<std::uint64_t>& word = d.done[iteration / 64];
  const std::uint64_t bit = std::uint64_t{1} << (iteration % 64);
  self.parker.wait([&] { return (word.load(std::memory_order_acquire) & bit) != 0; });  // pairs with post
}

}  // namespace heddle::omp
