// The results of one execution of a program.
#pragma once

#include <map>
#include <string>

#include "cli/paper/map.hpp"
#include "cli/paper/value.hpp"

namespace heddle::cli::paper {

struct level_figures {
  double accesses{0};
  double misses{0};
};

struct counted {              // counts of the simulator alone
  double virtual_seconds{0};  // of the whole process
  double busy{0}, idle{0}, overhead{0};
  double steals{0};
  double local_bytes{0}, remote_bytes{0};
  // For the node whose own cores read the fewest bytes from it.
  double least_local_bytes{0};
  std::map<std::string, level_figures> levels;
};

struct outcome {
  double seconds{0};  // of the sample
  unsigned workers{0};
  bool has_counts{false};
  counted counts;
  task_map map;  // empty unless traced
  // The policy's remarks, with the largest value of each; empty unless traced.
  std::map<std::string, double> notes;
};

}  // namespace heddle::cli::paper
