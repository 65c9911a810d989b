// What loops with windows need of the runtime: who shares which cache.
#pragma once

#include <cstdint>
#include <vector>

namespace heddle::detail {

// Workers, by rank, that share a cache of `bytes`; those that share none with anybody are taken together, `bytes` 0.
struct loop_cache {
  unsigned first_worker, workers;
  std::uint64_t bytes;
  unsigned line_bytes;
};
// Of the calling runtime, in the order of its workers. On a worker. Throws std::bad_alloc.
std::vector<loop_cache> loop_caches();
// The rank of the worker that the caller is on.
unsigned loop_worker() noexcept;

}  // namespace heddle::detail
