// The ADWS thesis: S. Shiina, "Efficient thread scheduling strategies for nested parallel programs", The University of
// Tokyo, 2021. The figures are those of its text; where the thesis only draws a figure, they are what the text says
// about it.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "cli/paper/experiment.hpp"

namespace heddle::cli::paper {

std::vector<experiment> adws_single_level();  // chapter 4: 4 x 16 cores
std::vector<experiment> adws_multi_level();   // chapter 5: 2 x 28 cores
std::vector<experiment> adws_task_maps();     // appendix B: chapter 4's machine

// Returns by how many times `a` is faster than `b`.
inline value faster(const std::string& program, const std::string& a, const std::string& b) {
  return time(program, b) / time(program, a);
}

// The constants that chapter 4 and appendix B share.
inline constexpr const char* machine4 = "skylake-4x16";
inline constexpr const char* no_steal = "adws:steal=off";
inline constexpr const char* same_share =
    "Modelled caches hold in the third level what they hold in the second, and forget by age alone: 128 MB in a cycle "
    "would all be missed there. N = 2944 is 84 % of the third levels.";

inline program heat2d(const std::string& name, const std::string& options, const std::string& quick,
                      const std::string& full, const std::string& real) {
  return {
      .name = name,
      .command = "bench heat2d " + options,
      .quick = {.arguments = "--iterations " + quick},
      .full = {.arguments = "--iterations " + full},
      .real = real,
      .medium = size{.arguments = fmt::format("--iterations {:.0f}", std::sqrt(std::stod(quick) * std::stod(full)))}};
}

// The same grid without tasks, by rows in equal parts. Threads are pinned, so the policy of a value decides nothing.
inline program heat2d_static(const std::string& name, const std::string& options, const std::string& quick,
                             const std::string& full, const std::string& real) {
  return heat2d(name, "--variant static " + options, quick, full, real.empty() ? real : real + " --variant static");
}
inline value static_time(const std::string& program) { return time(program, "random_ws"); }

}  // namespace heddle::cli::paper
