// Lines that say where a thread runs: OMP_DISPLAY_AFFINITY, OMP_AFFINITY_FORMAT (OpenMP 5.1, sections 6.13 and 6.14).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::omp {

class thread;

// The facts about a thread for its line.
struct thread_facts {
  int team_number{0};
  int teams{1};
  int level{0};
  int number{0};
  int team_size{1};
  int ancestor{-1};
  std::string host;
  int process{0};
  int kernel_thread{0};  // the one that runs it at the moment
  std::vector<int> processors;
};
thread_facts facts_of(const thread& self);

// Fields are %n, %{thread_num}, with [[[0].]size] before the name: %4n is four wide with blanks behind, %.4n with
// blanks before, %0.4n with zeros before. Unknown fields are printed as "undefined".
std::string affinity_line(std::string_view format, const thread_facts& of);

// affinity-format-var, which belongs to the process.
std::string affinity_format();
void set_affinity_format(std::string_view format);

// For OMP_DISPLAY_AFFINITY, to be called by a member that begins a region. Prints the member's line if this is its
// first region, or if it has another number in its team or another binding than in its last region.
void display_affinity_of_member(const thread& self);

}  // namespace heddle::omp
