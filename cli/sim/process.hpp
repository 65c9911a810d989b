// How `heddle sim` starts a program: on a simulated platform, put
// under it by LD_PRELOAD, at addresses that are the same in each run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace heddle::cli {

struct sim_setting {
  std::string machine;
  std::string policy;   // "": the program's, or the runtime's default
  unsigned workers{0};  // 0: one a processing unit
  std::uint64_t seed{42};
  unsigned padding{0};  // bytes allocated before the program's own memory
  std::string charge{"auto"};
  bool fast{false};
  double cycles_factor{1};  // a told cycle is so many of the machine's
  bool free_scheduler{false};
  std::string trace;
  unsigned stall_limit{30};  // seconds of CPU time without a scheduling point; 0: none
  bool explore{false};
  std::uint64_t explore_seed{0};
  std::string reuse{};  // sim::reuse_question::text(): figures have a member "reuse" then; "": not wanted
};

// Of the repetitions of one run, each with a seed and a place of its data: the first is as asked for.
sim_setting repetition(sim_setting of, unsigned number);

enum class shown : std::uint8_t { all, errors, captured };  // which of the program's output streams go where ours go

struct sim_outcome {
  int status{0};                     // exit status, or 128 + signal
  bool late{false};                  // killed at the time limit
  std::vector<std::string> figures;  // a line of JSON from each process that started a runtime
  std::string failed;                // what the simulator ended a process for: "deadlock", "stall"; or ""
  std::string errors;                // standard error, if captured
};

// The simulator's libheddle, beside the command or where it is installed. Throws std::runtime_error.
std::filesystem::path simulator_library(bool explore);

// Runs to its end. `limit`: seconds of real time, 0: none. Throws std::runtime_error if the program cannot be started:
// not found, address randomisation not to be switched off, linked statically.
sim_outcome simulate(const std::vector<std::string>& words, const sim_setting& s, shown output, unsigned limit = 0);

}  // namespace heddle::cli
