// What a simulated platform offers to code that tells its costs; the functions that use it: heddle/cost.hpp.
#pragma once

#include <cstddef>

#include <heddle/export.hpp>

extern "C" {
// Pieces of `bytes`, each `stride` bytes after the one before.
struct heddle_cost_rows {
  const void* first;
  std::size_t bytes;
  std::size_t stride;
  int write;
};
struct heddle_cost_model {
  void (*cycles)(double n);
  void (*access)(const void* address, std::size_t bytes, int write);
  int only;  // fast mode: the arithmetic may be left out
  // Pages of the range that are touched from now on lie where `policy` says: 0 with their first toucher, 1 interleaved
  // over all nodes, 2 on `node` (the operating system's number). 0: there is no such node.
  int (*place)(const void* address, std::size_t bytes, int policy, int node);
  void (*forget)(const void* address, std::size_t bytes);  // the range went back to the system
  // The first row of each set, then the second of each, `count` rows of each. No address depends on what was read, so
  // all cache misses overlap.
  void (*rows)(const heddle_cost_rows* sets, std::size_t set_count, std::size_t count);
};
// Null outside the simulator, unless a loop is listened to (src/loop/window_sample.hpp). `place` and `forget` may be
// null.
extern HEDDLE_API const heddle_cost_model* heddle_cost;
// The program tells its costs: what it does not tell is free.
HEDDLE_API void heddle_cost_declare();
// Not 0: it does.
HEDDLE_API int heddle_cost_is_declared() noexcept;
}

namespace heddle::detail {

inline const heddle_cost_model* cost_model() noexcept {
  return __atomic_load_n(&heddle_cost, __ATOMIC_ACQUIRE);  // pairs with window_sample: what the model says
}

}  // namespace heddle::detail
