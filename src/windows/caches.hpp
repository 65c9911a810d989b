// The facts about the runtime that loops with windows need: which workers share which cache.
#pragma once

#include <cstdint>
#include <vector>

namespace heddle::detail {

// The workers, by rank, that share a cache of `bytes`. Workers that share no cache are taken together, with `bytes` 0.
struct loop_cache {
  unsigned first_worker, workers;
  std::uint64_t bytes;
  unsigned line_bytes;
};
// The caches of the calling runtime, in the order of its workers. Must be called on a worker. Throws std::bad_alloc.
std::vector<loop_cache> loop_caches();

}  // namespace heddle::detail
