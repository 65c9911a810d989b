// One simulated process: from HEDDLE_SIM_* variables to an engine on a modelled machine, and from there to the line of
// figures that `heddle sim` reads.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "machine/model.hpp"
#include "platform/sim/configuration.hpp"
#include "platform/sim/engine.hpp"
#include "platform/sim/explorer.hpp"
#include "sim/memory_model.hpp"
#include "sim/reuse_watch.hpp"

namespace heddle::sim {

struct session_options {
  std::string machine{"this"};  // machine::model::from_name
  charging charge{charging::automatic};
  bool fast{false};
  double cycles_factor{1};  // the number of the machine's cycles for one cycle that the program tells
  // The scheduler's operations cost nothing: a serial program's time.
  bool free_scheduler{false};
  std::optional<std::uint64_t> explore;  // the seed of a schedule to explore
  std::uint64_t seed{0};                 // of the pages' places
  std::string statistics;                // the file to which the figures are appended; "" for none
  // seconds of CPU time without a scheduling point that end the process; 0 for no limit
  unsigned stall_limit{30};
  // if set, the figures have the reuse distances of the accesses that the program tells
  std::optional<reuse_question> reuse;

  // From HEDDLE_SIM_MACHINE, _CHARGE (auto, annotations, measured), _FAST (1), _CYCLES (factor), _FREE (1), _EXPLORE
  // (seed), _STATISTICS, _STALL (seconds), _REUSE (reuse_question::text), and from HEDDLE_SEED. Throws
  // std::invalid_argument.
  static session_options from_environment();
};

class session {
 public:
  // Makes the calling kernel thread the simulated program's first. Throws std::invalid_argument because of the machine.
  explicit session(session_options o);
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  // Called if the simulated process is the whole process. Ends the process when it stalls, and counts the time that it
  // computes without telling costs.
  void watch() noexcept;

  engine& of() noexcept { return *engine_; }
  const machine::model& machine() const noexcept { return model_; }
  memory_model& memory() noexcept { return memory_; }
  reuse_watch* reuse() noexcept { return reuse_.get(); }  // null if not asked for

  // One line of JSON; fields: docs/guide/simulator.md.
  std::string figures();
  // Appends figures() to the file of the options, if the program started a runtime. Prints an error message on failure.
  void save() noexcept;

 private:
  void append(const std::string& line) noexcept;

  session_options options_;
  machine::model model_;
  memory_model memory_;
  std::unique_ptr<reuse_watch> reuse_;
  std::unique_ptr<explorer> explorer_;
  std::unique_ptr<engine> engine_;
  std::uint64_t real_start_;
};

}  // namespace heddle::sim
