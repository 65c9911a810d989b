// The pass over a recording that finds the longest path to every point of the program: dag.md. Every thread carries the
// path to its present point; time on a worker lengthens that path; forks copy it and joins take the longer one.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/dag.hpp"
#include "trace/dag_functions.hpp"
#include "trace/dag_path.hpp"
#include "trace/dag_tasks.hpp"
#include "trace/replay.hpp"

namespace heddle::trace {

class dag_builder : public replay_visitor {
 public:
  dag_builder(const recording& what, const dag_options& options, dag_summary& into);

  void event(const record& r) override;

  // After the last event: writes spans, the critical path and the functions.
  void finish();

 private:
  // A worker.
  struct lane {
    std::uint64_t last = 0;  // time of its last event
    std::uint64_t thread = 0;
    bool running = false;
    longest_path left;  // of the thread that left last
  };
  // A task or a second half that its thread is inside of.
  struct frame {
    std::uint64_t task = 0;
    std::uint32_t function = 0;
    bool half = false;       // second half of a fork, run by the forker
    longest_path before;     // half: the end of the first half; OpenMP's: where the thread was when it began
    double work_before = 0;  // the thread's work when it began
    task_graph::number number = 0;  // OpenMP's task
    bool waits = false;             // no task: the thread waits in the frame below
  };
  struct thread_state {
    longest_path at;
    longest_path woken;      // the longest path of those who woke it since it parked
    bool was_woken = false;  // that path is in `at`, and nothing ran since
    double work = 0;         // of what is joined into it
    std::vector<frame> inside;
    std::vector<std::uint32_t> regions;
    std::uint64_t group = 0;  // key of the group that it is a child of; 0: none
    double hint = std::nan("");

    // The innermost task of OpenMP's; 0: none.
    [[nodiscard]] task_graph::number task() const {
      for (std::size_t i = inside.size(); i-- > 0;)
        if (inside[i].number != 0) return inside[i].number;
      return 0;
    }
    [[nodiscard]] std::uint32_t function() const {
      if (!regions.empty()) return regions.back();
      return inside.empty() ? 0 : inside.back().function;
    }
  };
  struct fork_state {
    longest_path at;   // the fork
    longest_path end;  // the stolen half's end
    double work;       // the stolen half's
    bool ended;
    std::uint32_t function;
    std::size_t depth;  // frames of the forker at the fork
  };
  struct group {
    longest_path ended;  // the longest of the children that have ended
    std::vector<child_record> done;
  };

  static constexpr std::uint32_t openmp_task = 2;  // field `kind` of task_begin

  static std::uint64_t group_key(std::uint32_t id) { return std::uint64_t{id} + 1; }

  // The time since the last event on this worker belongs to the thread that runs there.
  void charge(lane& on, const record& r);

  void steal(const record& r);
  void begin_half(thread_state& self, std::uint64_t job);
  void leave_halves(thread_state& self, std::size_t depth);
  void end_fork(thread_state& self, std::uint64_t job);
  void begin_task(lane& on, thread_state& self, const record& r);
  void end_task(thread_state& self, std::uint64_t task);
  void spawn(thread_state& self, const record& r);
  void end_group(thread_state& self, std::uint64_t key);

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
  // Of regions that a user-level thread leads for a kernel thread: the path of the latter, and to the end of the former.
  longest_path led_from_, led_to_;
  stretches stretches_;
  function_table functions_;
  longest_path ended_;
};

}  // namespace heddle::trace
