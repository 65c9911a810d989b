// The parts of the program that kernel threads outside the workers have named, with their times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/recording.hpp"

namespace heddle::trace {

// Adds the records and texts of `other`, a recording without workers, to the log of foreign threads.
void add_outside(recording& into, const recording& other);

// A part that a kernel thread was in. Parts nest: an inner part is later in the list of parts and has a greater depth.
struct outside_part {
  std::uint64_t kernel_thread = 0;
  std::uint64_t begin_ns = 0, end_ns = 0;
  unsigned depth = 0;
  std::string name;
};

// Returns all parts, by begin. Parts that are open at the end last until recording::end_ns.
[[nodiscard]] std::vector<outside_part> outside_parts(const recording& what);

}  // namespace heddle::trace
