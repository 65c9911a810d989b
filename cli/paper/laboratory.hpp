// Runs the programs of experiments: on the paper's machine in the simulator, and here.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cli/paper/attempt.hpp"
#include "cli/paper/experiment.hpp"
#include "cli/paper/machine.hpp"
#include "cli/paper/notebook.hpp"

namespace heddle::cli::paper {

// Reasons for a missing figure that was not requested: rows that are merged keep the figure of an earlier run.
inline constexpr const char* not_simulated = "not asked for (--no-sim)";
inline constexpr const char* not_measured = "not asked for (--real)";
inline constexpr const char* not_shrunk = "nothing is shrunk";

struct work_order {
  scale size{scale::quick};
  bool simulates{true};
  unsigned real_workers{0};  // 0 means that nothing is run here
  unsigned seeds{5};         // the number of pairs of simulated runs
  // The number of simulated runs at once; virtual times do not depend on it.
  unsigned jobs{1};
  std::string notes{};  // the file of the notebook; "" means that none is kept
};

// A figure for each pair of runs, or the reason why there is none.
struct series {
  std::vector<double> figures;
  std::string none;
};

// One kernel thread uses it; run() has others of its own.
class laboratory {
 public:
  explicit laboratory(work_order order);
  ~laboratory();
  laboratory(const laboratory&) = delete;
  laboratory& operator=(const laboratory&) = delete;

  // Runs everything that the experiments' measures need. Runs that another experiment has made already, or that the
  // notebook has, are not repeated. It simulates as many at once as was ordered, and then measures here, with nothing
  // beside it. `done` is called for each experiment in turn, as soon as all of it is there. Shows its progress on a
  // terminal.
  void run(const std::vector<experiment>& all, const std::function<void(const experiment&)>& done);

  // Return the figures of what run(e) has run. Each figure is of runs with the same seed, or of the same round here.
  [[nodiscard]] series simulated(const experiment& e, const measure& m) const;
  // The figures at the other shrinks of the measure's programs.
  [[nodiscard]] series beside(const experiment& e, const measure& m) const;
  [[nodiscard]] series measured(const experiment& e, const measure& m) const;

  // Return what was run, in words: "2048: heddle bench heat2d --n 2048".
  [[nodiscard]] std::string simulated_scale(const experiment& e) const;
  [[nodiscard]] std::string measured_scale(const experiment& e) const;
  // Returns, for one measure, "shrink 4 instead of 8", or an empty text if none of its programs has another shrink.
  [[nodiscard]] std::string beside_scale(const experiment& e, const measure& m) const;
  // Returns true if the results of its simulated programs were compared with the serial program's.
  [[nodiscard]] bool checked(const experiment& e, const measure& m) const;
  // Returns the commits of the runs that gave its simulated figures; there are several if a notebook is older than the
  // last run.
  [[nodiscard]] std::string commits(const experiment& e, const measure& m) const;
  [[nodiscard]] const work_order& order() const { return order_; }

 private:
  struct simulation;  // the data that identify a run
  class at_pair;      // the evidence of one pair
  class at_round;
  [[nodiscard]] simulation simulation_of(const experiment& e, const execution& what, unsigned pair, bool beside) const;
  [[nodiscard]] attempt simulate_once(const simulation& s, const scratch_folder& folder) const;
  void simulate_or_recall(const simulation& s, const scratch_folder& folder);
  [[nodiscard]] series over_pairs(const experiment& e, const measure& m, bool beside) const;
  void measure_here(const experiment& e);
  void measure_here(const experiment& e, const program& p, bool first);
  [[nodiscard]] std::string lasting_here(const std::string& key, const program& p) const;
  [[nodiscard]] bool known_here(const experiment& e, const program& p);
  void keep_here(const experiment& e, const program& p);
  [[nodiscard]] std::vector<execution> wanted(const experiment& e) const;
  [[nodiscard]] std::vector<simulation> to_simulate(const experiment& e) const;

  work_order order_;
  std::mutex mutex_;  // guards simulations_ and notes_ while run() simulates
  notebook notes_;
  scratch_folder folder_{"heddle-paper"};
  std::map<std::string, attempt> simulations_;   // by simulation::key
  std::map<std::string, attempt> measurements_;  // by experiment, program and policy, and whether it was traced
};

}  // namespace heddle::cli::paper
