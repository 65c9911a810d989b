// A task: implicit, one a member of a team, or explicit. It carries the data environment's control variables, the
// nesting of groups and cancellation, and counts its children.
#pragma once

#include <atomic>
#include <cstdint>

#include "omp/core/icv.hpp"

namespace heddle::omp {

class thread;
struct team;
struct task_group;
struct dependences;  // depend.hpp: the graph that the children of one task form

struct task {
  task* parent{nullptr};        // null: of an initial thread's implicit task
  team* in{nullptr};            // whose threads may run it
  const control_variables* variables{nullptr};  // its own if owns_variables, else an ancestor's or its team's
  task_group* group{nullptr};   // the innermost taskgroup that it is in
  dependences* depends{nullptr};  // of its children; null: none had a depend clause
  // Children that have not ended. Written by those who end them, and by itself.
  std::atomic<std::uint32_t> children{0};
  std::uint32_t depth{0};       // of explicit tasks below the implicit one
  bool is_explicit{false};
  bool tied{true};
  bool is_final{false};
  bool owns_variables{false};

  // Those that it may write: a copy of its own from now on.
  control_variables& own_variables();
};

}  // namespace heddle::omp
