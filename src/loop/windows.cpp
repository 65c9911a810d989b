// What loops with windows need of the runtime: who shares which cache, and how long a window is to be.
#include <heddle/detail/loop_window_choice.hpp>

#include <algorithm>

#include "machine/topology.hpp"
#include "worker/runtime.hpp"
#include "worker/section.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

std::vector<loop_cache> loop_caches() {
  const machine::topology* known = nullptr;
  unsigned workers = 0;
  {
    const worker::section inside;
    const worker::runtime& home = worker::worker::current().home;
    known = home.options().machine.get();
    workers = home.workers();
  }
  const machine::view machine = known != nullptr ? known->view() : machine::view();
  std::vector<loop_cache> caches;
  const machine::memory_group* last = nullptr;
  for (unsigned w = 0; w < workers; ++w) {
    const machine::memory_group* const shared =
        machine.is_known() && w < machine.workers() ? machine.shared_cache_of(w) : nullptr;
    if (w != 0 && shared == last) {
      ++caches.back().workers;
      continue;
    }
    const bool is_cache = shared != nullptr && shared->capacity != machine::unlimited;
    caches.push_back({w, 1, is_cache ? shared->capacity : 0, is_cache ? shared->line_size : 0});
    last = shared;
  }
  return caches;
}

// The window has an eighth of the cache: of what the serial loop finds there again, it loses what has been out of use
// for seven eighths of it. That is as many bytes as the caches inside a core have, or fewer, on most machines.
std::size_t window_choice::choose(std::size_t n, std::size_t bytes, const std::vector<loop_cache>& caches) noexcept {
  constexpr std::size_t part = 8, iterations_of_a_worker = 2;
  std::uint64_t smallest = 0;
  unsigned workers = 0;
  for (const loop_cache& c : caches) {
    if (c.bytes == 0) continue;
    smallest = smallest == 0 ? c.bytes : std::min(smallest, c.bytes);
    workers = std::max(workers, c.workers);
  }
  if (smallest == 0 || bytes == 0) return 0;
  if (n <= smallest / bytes) return 0;  // all of it stays there
  const std::size_t length = smallest / part / bytes, least = std::size_t{iterations_of_a_worker} * workers;
  if (length >= least) return length;
  return least <= smallest / 2 / bytes ? least : 0;
}

unsigned loop_worker() noexcept {
  const worker::section inside;
  return worker::worker::current().rank;
}

}  // namespace heddle::detail
