// The output of `heddle demo` about the trainings: a table, a verdict, and rows of JSON.
#pragma once

#include <vector>

#include "cli/demo/nested.hpp"
#include "cli/demo/trees.hpp"

namespace heddle::cli::demo {

// The first one is serial, the last one heddle.
void print_table(const std::vector<contender>& all, const trained_on& about);
void print_verdict(const std::vector<contender>& all);
void write_json(const request& given, const std::vector<contender>& all, const std::vector<nested_contender>& nested,
                const trained_on& about);

}  // namespace heddle::cli::demo
