#include "worker/carriers/census.hpp"

#include "platform/platform.hpp"
#include "worker/carriers/substitutes.hpp"

namespace heddle::worker {

template <class F>
void census::for_each(F&& f) const noexcept {
  for (const auto& w : workers_) f(static_cast<const worker&>(*w));
  substitutes_.for_each(f);
}

bool census::drained() const noexcept {
  // All ends are read before the residents, and these before all beginnings. So `made - finished` is at least the
  // number of threads that were alive when the residents were read. If both are equal, all of these were residents.
  std::uint64_t finished = 0;
  for_each([&](const worker& w) { finished += w.threads.finished.load(); });
  const std::uint64_t residents = residents_.load();
  std::uint64_t made = made_outside_.load();
  for_each([&](const worker& w) { made += w.threads.made.load(); });
  return made == finished + residents;
}

std::uint64_t census::alive() const noexcept {
  std::uint64_t sum = made_outside_.load();
  for_each([&](const worker& w) { sum += w.threads.made.load() - w.threads.finished.load(); });
  return sum;
}

std::uint64_t census::progress() const noexcept {
  std::uint64_t sum = made_outside_.load();
  for_each([&](const worker& w) {
    sum += w.picks.load(std::memory_order_relaxed) + w.threads.made.load(std::memory_order_relaxed);  // hints
  });
  return sum;
}

void census::check_drained() noexcept {
  if (!draining_.load() || !drained()) return;
  if (detail::waiter* w = ender_.exchange(nullptr); w != nullptr) detail::wake(*w);
}

void census::wait_for_calls() const noexcept {
  while (calls_.load() != 0) platform::yield_processor();
}

}  // namespace heddle::worker
