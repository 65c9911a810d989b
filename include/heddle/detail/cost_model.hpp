// Where <heddle/cost.hpp> sends what it is told.
#pragma once

#include <cstddef>

extern "C" {
struct heddle_cost_model {
  void (*cycles)(double n);
  void (*access)(const void* address, std::size_t bytes, int write);
  int only;                    // fast mode: the arithmetic may be left out
  // Pages of the range that are touched from now on lie where `policy` says: 0 with their first toucher, 1 interleaved over
  // all nodes, 2 on `node` (the operating system's number).
  void (*place)(const void* address, std::size_t bytes, int policy, int node);
  void (*forget)(const void* address, std::size_t bytes);   // the range went back to the system
};
}
