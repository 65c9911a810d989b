// Section 3 of S. Shiina's thesis: preemptive user-level threads. The programs are those of heddle-preempt-model
// (bench/preempt_model).
#pragma once

#include <string>
#include <vector>

#include "cli/paper/experiment.hpp"

namespace heddle::cli::paper::preemption {

// The cost of a preemption: table 3.1, figures 3.4, 3.6 and 3.7.
experiment table_3_1();
experiment table_3_1_knl();
experiment figure_3_4();
experiment figure_3_6();
experiment figure_3_7();
// The effect of preemption on threads: figures 3.8, 3.9 and 3.12.
experiment figure_3_8();
experiment figure_3_9();
experiment figure_3_12();
// Parallel libraries inside parallel programs: figures 3.10 and 3.11.
experiment figure_3_10();
experiment figure_3_11();
// In situ analysis: figures 3.13 and 3.14.
experiment figure_3_13();
experiment figure_3_14();

inline constexpr const char* skylake = "skylake-2x28";
inline constexpr unsigned all = 56;
inline constexpr const char* given =
    "The machine's file has its costs of signals and of kernel threads' switches from table 3.1 and from one point of "
    "figure 3.4 (its sources and assumptions say which): these figures are put in, the others come out.";

inline constexpr const char* policy = "random_ws";
inline value figure_of(const std::string& program) { return time(program, policy); }
inline value in_us(const std::string& program) { return 1e6 * figure_of(program); }

inline program model(const std::string& name, const std::string& arguments, const std::string& metric,
                     const size& quick, const size& full, const std::string& real) {
  return {.name = name,
          .command = "preempt-model " + arguments,
          .quick = quick,
          .full = full,
          .real = real.empty() ? real : "preempt-model " + real,
          .metric = metric,
          .real_metric = metric};
}

}  // namespace heddle::cli::paper::preemption
