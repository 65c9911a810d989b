// What kernel threads outside of the workers did: parts of the program that it named, and when.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/recording.hpp"

namespace heddle::trace {

// A part that a kernel thread was in. They nest: an inner one is later in the list of parts and has a greater depth.
struct outside_part {
  std::uint64_t kernel_thread = 0;
  std::uint64_t begin_ns = 0, end_ns = 0;
  unsigned depth = 0;
  std::string name;
};

// All of them, by begin; those that are open at the end last until recording::end_ns.
[[nodiscard]] std::vector<outside_part> outside_parts(const recording& what);

}  // namespace heddle::trace
