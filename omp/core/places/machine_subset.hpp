// KMP_HW_SUBSET: the part of the machine that OpenMP threads should use, as counts of its parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "omp/core/places/places.hpp"

namespace heddle::omp {

struct machine_subset {
  enum class layer : std::uint8_t { socket, numa, core, thread };  // larger layers first
  struct part {
    layer what;
    int count;   // 0 means all
    int offset;  // the number of units that are left out first
    bool operator==(const part&) const = default;
  };
  std::vector<part> parts;  // larger parts first; empty for the whole machine
  // Layers that are not named do not count: threads of a socket, whatever their cores are.
  bool absolute{false};

  bool operator==(const machine_subset&) const = default;
};

// Reads [:]COUNT LAYER[@OFFSET],... with s, n, c, t or their words; COUNT may be * or missing. Returns false if `text`
// has another form.
bool parse_subset(std::string_view text, machine_subset& into);
std::string text_of(const machine_subset& of);

// The units of the machine that belong to the subset. Empty if the machine has too few of something.
machine_units units_in(const machine_subset& subset, const machine_units& machine);

}  // namespace heddle::omp
