// The table of experiments that `heddle paper` repeats. One file a paper (adws.cpp) registers
// itself with a static object; an experiment is one row, and everything that is run follows from the values of its
// measures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/paper/value.hpp"

namespace heddle::cli::paper {

enum class scale : std::uint8_t { quick, medium, full };
const char* name(scale s);

// How large a program is at one scale.
struct size {
  std::string arguments;  // behind the command
  // caches of the machine above the innermost one are divided by this, where the data is, too
  unsigned shrink{1};
  std::string left_out{};  // why it is not run at this scale; empty: it is
  std::string changes{};   // what its numbers change besides the size; empty: nothing
};

struct program {
  std::string name;     // in values: "2048"
  std::string command;  // what follows `heddle`
  size quick;
  size full;
  std::string real;           // the whole command on this machine, at its own size; empty: not run there
  std::string metric{};       // of the command's JSON rows; empty: the first
  std::string real_metric{};  // of `real`'s
  // Where the size above is a shrunk one: another shrink of the same, to see what hangs on it.
  std::optional<size> quick_beside{}, full_beside{};
  // Between the two, where the quick size says too little; none: the quick one, with what is beside that.
  std::optional<size> medium{}, medium_beside{};
};

// What the paper says of a figure.
enum class claim : std::uint8_t {
  above,   // more than the pivot
  below,   // less than the pivot
  about,   // the figure itself, no direction
  at_most  // no more than the figure; how much less is not told
};

struct goal {  // the project's own aim, told beside the verdict
  double bound;
  bool at_least{true};
};

struct measure {
  std::string name;
  value of;
  claim says;
  std::string words;               // of the paper, where it gives no number
  std::optional<double> number{};  // of the paper
  double pivot{1};                 // what divides one direction from the other
  double band{1.25};               // the same size: by at most this factor more or less
  std::optional<goal> aim{};
  std::string why{};  // known cause of a difference; told when there is one
  bool input{false};  // the machine's file has its costs from this very figure: what comes out is what went in
};

struct experiment {
  std::string id;       // "adws-4.17"
  std::string figure;   // "figure 4.17"
  std::string title;    // what is measured
  std::string machine;  // the paper's, by its name here
  unsigned workers;
  std::vector<program> programs;
  std::vector<measure> measures;
  std::string remark;  // how it differs from the paper's
};

struct paper {
  std::string name;  // "adws": what the ids begin with
  std::string title;
  std::vector<experiment> (*experiments)();
};

struct registration {
  explicit registration(const paper& p);
};

// Ordered by name.
std::vector<paper> papers();
// Of all papers, in the order of their tables.
std::vector<experiment> experiments();
// The program of that name. Throws std::logic_error: a value names one that is not declared.
const program& program_of(const experiment& e, const std::string& name);
// `beside`: the other shrink, where there is one.
const size& size_at(const program& p, scale s, bool beside = false);
bool has_beside(const program& p, scale s);
// What follows `heddle` at that scale.
std::string command_at(const program& p, scale s, bool beside = false);
// The policies of the measures' values, in order of appearance, each once.
std::vector<std::string> policies_of(const experiment& e);

}  // namespace heddle::cli::paper
