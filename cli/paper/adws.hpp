// The ADWS thesis: S. Shiina, "Efficient thread scheduling strategies for nested parallel programs", The University of
// Tokyo, 2021. Figures of its text; where a figure is only drawn, what the text says of it.
#pragma once

#include <vector>

#include "cli/paper/experiment.hpp"

namespace heddle::cli::paper {

std::vector<experiment> adws_single_level();  // chapter 4, appendix B: 4 x 16 cores
std::vector<experiment> adws_multi_level();   // chapter 5: 2 x 28 cores

// By how many times `a` is faster than `b`.
inline value faster(const std::string& program, const std::string& a, const std::string& b) {
  return time(program, b) / time(program, a);
}

}  // namespace heddle::cli::paper
