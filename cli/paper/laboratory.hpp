// Runs the programs of experiments: on the paper's machine in the simulator, and here.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/paper/experiment.hpp"
#include "cli/paper/machine.hpp"
#include "cli/paper/outcome.hpp"

namespace heddle::cli::paper {

// Why a figure is missing that nobody wanted: rows that are merged keep that of an earlier run.
inline constexpr const char* not_simulated = "not asked for (--no-sim)";
inline constexpr const char* not_measured = "not asked for (--real)";

// The result of a run, or why there is none. Used by one kernel thread.
struct attempt {
  outcome got;
  std::string failure;         // empty: none
  std::vector<double> rounds;  // measured here, s; got.seconds is their median
};

class laboratory {
 public:
  // `simulates`: false: nothing is simulated. `real_workers`: 0: nothing is run here.
  laboratory(scale s, bool simulates, unsigned real_workers);
  ~laboratory();
  laboratory(const laboratory&) = delete;
  laboratory& operator=(const laboratory&) = delete;

  // Everything that the experiment's measures need; what another experiment has simulated already is not simulated
  // again. Shows its progress on a terminal.
  void run(const experiment& e);

  // Of what run(e) has run. `e` and the laboratory outlive it.
  [[nodiscard]] std::unique_ptr<evidence> simulated(const experiment& e) const;
  [[nodiscard]] std::unique_ptr<evidence> measured(const experiment& e) const;

  // What was run, in words: "2048: heddle bench heat2d --n 2048".
  [[nodiscard]] std::string simulated_scale(const experiment& e) const;
  [[nodiscard]] std::string measured_scale(const experiment& e) const;

 private:
  struct simulation;  // what identifies a run
  [[nodiscard]] simulation simulation_of(const experiment& e, const execution& what) const;
  attempt simulate_once(const simulation& s, std::uint64_t seed) const;
  attempt simulate_all(const simulation& s) const;
  void measure_here(const experiment& e, const program& p, bool first);
  [[nodiscard]] std::vector<execution> wanted(const experiment& e) const;

  friend class simulated_evidence;
  friend class measured_evidence;

  scale scale_;
  bool simulates_;
  unsigned real_workers_;
  scratch_folder folder_{"heddle-paper"};
  std::map<std::string, attempt> simulations_;   // by simulation::key
  std::map<std::string, attempt> measurements_;  // by experiment, program and policy, and whether it was traced
};

}  // namespace heddle::cli::paper
