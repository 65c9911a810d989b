// Q. Chen, M. Guo, "Task scheduling for multi-core and parallel architectures", Springer 2017, chapters 3 (CAB) and 4
// (LAWS): the parts that their tables share. The baseline of both is MIT Cilk with pinned workers ("Cilk-a"); here it
// is heddle's random_ws.
#pragma once

#include <string>
#include <vector>

#include "cli/paper/experiment.hpp"

namespace heddle::cli::paper {

inline constexpr const char* opteron = "opteron-8380-4x4";
inline constexpr const char* xeon = "xeon-x7560-4x8";
inline constexpr const char* chen_random = "random_ws";
inline constexpr const char* chen_l3 = "l3";
inline constexpr const char* chen_iterations =
    "The book has 200 iterations in chapter 3 and does not tell how many in chapter 4. The time is of a second run of "
    "all iterations in the same process; misses are of both runs, first touch included. ";

// A kernel that is cut by rows. `shape` has the arguments of both scales; `quick` and `full` have those that each adds.
inline program chen_rows(const std::string& name, const std::string& shape, const std::string& quick,
                         const std::string& full) {
  return {.name = name,
          .command = "bench " + shape,
          .quick = {.arguments = quick},
          .full = {.arguments = full},
          .real = {}};
}

// Returns the factor by which `policy` changes a figure of the baseline; below 1 it is a reduction.
inline value left_of_time(const std::string& program, const std::string& policy,
                          const std::string& base = chen_random) {
  return time(program, policy) / time(program, base);
}
inline value left_of_misses(const std::string& program, const std::string& policy, const std::string& level) {
  return misses(program, policy, level) / misses(program, chen_random, level);
}

std::vector<experiment> cab_tables();
experiment cab_locality();
std::vector<experiment> laws_tables();

}  // namespace heddle::cli::paper
