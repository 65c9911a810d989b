// The caches that workers share.
#include "windows/caches.hpp"

#include "machine/topology.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
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

}  // namespace heddle::detail
