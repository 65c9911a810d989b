// The interface through which a simulated platform learns the costs that code declares. The functions that use it are
// in heddle/cost.hpp.
#pragma once

#include <cstddef>

#include <heddle/export.hpp>

extern "C" {
// Rows of `bytes` bytes; each begins `stride` bytes after the row before it.
struct heddle_cost_rows {
  const void* first;
  std::size_t bytes;
  std::size_t stride;
  int write;
};
struct heddle_cost_model {
  void (*cycles)(double n);
  void (*access)(const void* address, std::size_t bytes, int write);
  int only;  // not 0 in fast mode: the arithmetic may be left out
  // Sets where the pages of the range lie that are touched from now on. `policy` 0 puts each with its first toucher, 1
  // interleaves them over all nodes, 2 puts them on `node` (the operating system's number). Returns 0 if there is no
  // such node.
  int (*place)(const void* address, std::size_t bytes, int policy, int node);
  // Says that the range went back to the system.
  void (*forget)(const void* address, std::size_t bytes);
  // Accesses the first row of each set, then the second of each, and so on, `count` rows of each. No address depends on
  // data that was read, so all cache misses overlap.
  void (*rows)(const heddle_cost_rows* sets, std::size_t set_count, std::size_t count);
};
// Null outside the simulator, unless a loop is being sampled (src/windows/window_sample.hpp). `place` and `forget` may
// be null.
extern HEDDLE_API const heddle_cost_model* heddle_cost;
// Says that the program declares its costs. Code that it does not annotate is then free.
HEDDLE_API void heddle_cost_declare();
// Returns a value other than 0 if the program declares its costs.
HEDDLE_API int heddle_cost_is_declared() noexcept;
}

namespace heddle::detail {

inline const heddle_cost_model* cost_model() noexcept {
  return __atomic_load_n(&heddle_cost, __ATOMIC_ACQUIRE);  // pairs with window_sample: what the model says
}

}  // namespace heddle::detail
