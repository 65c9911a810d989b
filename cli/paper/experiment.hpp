// The table of experiments that `heddle paper` repeats. There is one file for each paper (adws.cpp), which registers
// itself with a static object. An experiment is one row, and every run follows from the values of its measures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/paper/value.hpp"

namespace heddle::cli::paper {

enum class scale : std::uint8_t { quick, medium, full };
const char* name(scale s);

// The size of a program at one scale.
struct size {
  std::string arguments;  // behind the command
  // The divisor of the machine's caches above the innermost one, for data that are smaller by the same factor.
  unsigned shrink{1};
  std::string left_out{};  // why it is not run at this scale; empty if it is run
  // The effects on its numbers besides the size; empty if there are none.
  std::string changes{};
};

struct program {
  std::string name;     // its name in values: "2048"
  std::string command;  // the words after `heddle`
  size quick;
  size full;
  // The whole command on this machine, at its own size; empty if it is not run there.
  std::string real;
  std::string metric{};       // of the command's JSON rows; empty means the first
  std::string real_metric{};  // of the rows of `real`
  // Another shrink of the same program, if the size above is a shrunk one, to see what depends on the shrink.
  std::optional<size> quick_beside{}, full_beside{};
  // A size between the two, for programs whose quick size says too little. If there is none, the quick size is used,
  // with what is beside it.
  std::optional<size> medium{}, medium_beside{};
};

// The paper's claim about a figure.
enum class claim : std::uint8_t {
  above,  // more than the pivot
  below,  // less than the pivot
  about,  // the figure itself, no direction
  // No more than the figure; the paper does not say how much less.
  at_most
};

// The project's own aim, shown beside the verdict.
struct goal {
  double bound;
  bool at_least{true};
};

struct measure {
  std::string name;
  value of;
  claim says;
  std::string words;               // the paper's words, if it gives no number
  std::optional<double> number{};  // the paper's number
  double pivot{1};                 // the bound between one direction and the other
  double band{1.25};               // the size counts as the same within this factor
  std::optional<goal> aim{};
  std::string why{};  // the known cause of a difference, shown when there is one
  // The machine's file has its costs from this very figure, so the result is the input.
  bool input{false};
};

struct experiment {
  std::string id;       // "adws-4.17"
  std::string figure;   // "figure 4.17"
  std::string title;    // what is measured
  std::string machine;  // the name here of the paper's machine
  unsigned workers;
  std::vector<program> programs;
  std::vector<measure> measures;
  std::string remark;  // how it differs from the paper's
};

struct paper {
  std::string name;  // "adws", the beginning of the ids
  std::string title;
  std::vector<experiment> (*experiments)();
};

struct registration {
  explicit registration(const paper& p);
};

// Returns the papers, ordered by name.
std::vector<paper> papers();
// Returns the experiments of all papers, in the order of their tables.
std::vector<experiment> experiments();
// Returns the program of that name. Throws std::logic_error if a value names a program that is not declared.
const program& program_of(const experiment& e, const std::string& name);
// If `beside` is true, returns the other shrink, where there is one.
const size& size_at(const program& p, scale s, bool beside = false);
bool has_beside(const program& p, scale s);
// Returns the words after `heddle` at that scale.
std::string command_at(const program& p, scale s, bool beside = false);
// Returns the policies of the measures' values, in order of appearance, each once.
std::vector<std::string> policies_of(const experiment& e);

}  // namespace heddle::cli::paper
