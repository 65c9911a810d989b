// How `heddle sim` starts a program: on a simulated platform, which LD_PRELOAD puts under it, at addresses that are the
// same in each run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace heddle::cli {

struct sim_setting {
  std::string machine;
  std::string policy;   // "" means the program's policy, or the runtime's default
  unsigned workers{0};  // 0 means one for each processing unit
  std::uint64_t seed{42};
  unsigned padding{0};  // bytes allocated before the program's own memory
  std::string charge{"auto"};
  bool fast{false};
  double cycles_factor{1};  // the number of the machine's cycles for a declared cycle
  bool free_scheduler{false};
  std::string trace;
  std::vector<std::pair<std::string, std::string>> environment{};  // further variables of the program
  // Seconds of CPU time without a scheduling point; 0 means no limit.
  unsigned stall_limit{30};
  bool explore{false};
  std::uint64_t explore_seed{0};
  // sim::reuse_question::text(), so that figures have a member "reuse"; "" means that it is not wanted.
  std::string reuse{};
};

// Returns the setting of a repetition, each with its own seed and place of its data. The first is unchanged.
sim_setting repetition(sim_setting of, unsigned number);

// Which of the program's output streams go to ours.
enum class shown : std::uint8_t { all, errors, captured };

struct sim_outcome {
  int status{0};                     // exit status, or 128 + signal
  bool late{false};                  // true if killed at the time limit
  std::vector<std::string> figures;  // a line of JSON from each process that started a runtime
  // Why the simulator ended a process: "deadlock", "stall"; or "".
  std::string failed;
  std::string errors;  // standard error, if captured
};

// Returns the simulator's libheddle, beside the command or where it is installed. Throws std::runtime_error.
std::filesystem::path simulator_library(bool explore);

// Runs a program to its end. `limit` is in seconds of real time; 0 means none. Throws std::runtime_error if the program
// cannot be started: it is not found, address randomisation cannot be switched off, or it is linked statically.
sim_outcome simulate(const std::vector<std::string>& words, const sim_setting& s, shown output, unsigned limit = 0);

}  // namespace heddle::cli
