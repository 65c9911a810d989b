// The pass over a recording that finds the longest path to every point of the program: dag.md. Every thread carries the
// path to its present point. Time on a worker lengthens that path, forks copy it, and joins take the longer one.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tools/trace/dag.hpp"
#include "tools/trace/dag_functions.hpp"
#include "tools/trace/dag_path.hpp"
#include "tools/trace/dag_tasks.hpp"
#include "trace/replay.hpp"

namespace heddle::trace {

class dag_builder : public replay_visitor {
 public:
  dag_builder(const recording& what, const dag_options& options, dag_summary& into);

  void event(const record& r) override;

  // Called after the last event: writes spans, the critical path, the functions, and the figures that follow from them.
  void finish();

 private:
  // The state of a worker.
  struct lane {
    std::uint64_t last = 0;  // the time of its last event
    std::uint64_t thread = 0;
    bool running = false;
    longest_path left;  // the path of the thread that left last
  };
  // A task or a second half that its thread is inside of.
  struct frame {
    std::uint64_t task = 0;
    std::uint32_t function = 0;
    bool half = false;              // true for the second half of a fork that the forker runs
    longest_path before;            // for a half: the path to the end of the first half; of OpenMP's: the thread's path
    double work_before = 0;         // the thread's work when the frame began
    task_graph::number number = 0;  // of a task of OpenMP's
    bool waits = false;             // true if the frame is no task, and the thread waits in the frame below
    bool leads = false;             // true for the part of a region's leader in it
    bool between_regions = false;   // true if the thread is a member that waits for its next region
  };
  struct region {
    std::uint32_t name;
    double work_before;  // the thread's work when it entered
  };
  struct thread_state {
    longest_path at;
    longest_path woken;  // the longest path of the threads that woke it since it parked
    // True if that path is in `at` and nothing has run since.
    bool was_woken = false;
    double work = 0;  // the work of what is joined into it
    std::vector<frame> inside;
    std::vector<region> regions;
    std::uint64_t group = 0;  // the key of the group that it is a child of; 0 if none
    double hint = std::nan("");

    // The innermost task of OpenMP's; 0: none.
    [[nodiscard]] task_graph::number task() const {
      for (std::size_t i = inside.size(); i-- > 0;)
        if (inside[i].number != 0) return inside[i].number;
      return 0;
    }
    [[nodiscard]] std::uint32_t function() const {
      if (!regions.empty()) return regions.back().name;
      return inside.empty() ? 0 : inside.back().function;
    }
  };
  struct fork_state {
    longest_path at;   // the fork
    longest_path end;  // the stolen half's end
    double work;       // the work of the stolen half
    bool ended;
    std::uint32_t function;
    std::size_t depth;  // the forker's frames at the fork
  };
  struct group {
    longest_path ended;  // the longest path of the children that have ended
    std::vector<child_record> done;
  };

  static constexpr std::uint32_t openmp_task = 2;  // field `kind` of task_begin

  static std::uint64_t group_key(std::uint32_t id) { return std::uint64_t{id} + 1; }

  // Charges the time since the last event on this worker to the thread that runs there.
  void charge(lane& on, const record& r);

  void steal(const record& r);
  void begin_half(thread_state& self, std::uint64_t job);
  void leave_halves(thread_state& self, std::size_t depth);
  void end_fork(thread_state& self, std::uint64_t job);
  void begin_task(lane& on, thread_state& self, const record& r);
  void end_task(thread_state& self, std::uint64_t task);
  void spawn(thread_state& self, const record& r);
  void end_group(thread_state& self, std::uint64_t key);
  void estimate();

  // OpenMP's: dag_openmp.cpp.
  void event_of_openmp(thread_state& self, const record& r);
  void begin_openmp_task(thread_state& self, const record& r);
  void end_openmp_task(thread_state& self, std::size_t depth);
  void end_wait(thread_state& self, const record& r);

  const recording& what_;
  const dag_options& options_;
  dag_summary& into_;
  double event_ns_;
  double fork_extra_ns_ = 0;
  std::unordered_map<std::uint16_t, lane> lanes_;
  std::unordered_map<std::uint64_t, thread_state> threads_;
  std::unordered_map<std::uint64_t, fork_state> forks_;
  std::unordered_map<std::uint64_t, longest_path> stolen_;
  std::unordered_map<std::uint64_t, group> groups_;
  task_graph tasks_;
  // Of regions that a user-level thread leads for a kernel thread: the path of the latter, and to the end of the
  // former.
  longest_path led_from_, led_to_;
  stretches stretches_;
  function_table functions_;
  longest_path ended_;
};

}  // namespace heddle::trace
