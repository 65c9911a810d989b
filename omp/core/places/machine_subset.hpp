// KMP_HW_SUBSET: the part of the machine that OpenMP threads are to use, as counts of what each part of it has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "omp/core/places/places.hpp"

namespace heddle::omp {

struct machine_subset {
  enum class layer : std::uint8_t { socket, numa, core, thread };  // the larger ones first
  struct part {
    layer what;
    int count;   // 0: all
    int offset;  // so many are left out first
    bool operator==(const part&) const = default;
  };
  std::vector<part> parts;  // the larger ones first; empty: the whole machine
  bool absolute{false};     // what is not named does not count: threads of a socket, whatever their cores are

  bool operator==(const machine_subset&) const = default;
};

// [:]COUNT LAYER[@OFFSET],... with s, n, c, t or their words; COUNT may be * or missing. False: `text` is none.
bool parse_subset(std::string_view text, machine_subset& into);
std::string text_of(const machine_subset& of);

// The units of the machine that belong to it. None: the machine has not so many of something.
machine_units units_in(const machine_subset& subset, const machine_units& machine);

}  // namespace heddle::omp
