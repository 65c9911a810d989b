// The data that constrained work stealing keeps in a task. The task's tag is `outside_` for threads without a parent
// while they run no iteration, `inside_` for the tasks of an iteration, its root included, and null for a task that is
// not watched.
#pragma once

#include <cstdint>

#include "policy/iterations/constrained_ws.hpp"

namespace heddle::policy {

struct constrained_ws::in_iteration {
  static constexpr std::uint8_t unwatched = 1;  // replayed with all its descendants on one worker, and not watched
  static constexpr std::uint8_t lost = 2;       // the record does not know it
  static constexpr std::uint8_t root = 4;

  std::uint64_t id;
  steal_node* node;        // set while a record is made
  std::uint32_t children;  // children so far
  std::uint32_t home;      // the worker where it began; nobody if it has not begun
  std::uint32_t recorded;  // the worker that the record names, if it is a piece
  std::uint32_t order;     // for a piece: its place in the order
  std::uint32_t forks;     // the forks inside which it is
  std::uint8_t flags;

  bool is(std::uint8_t flag) const noexcept { return (flags & flag) != 0; }
};

inline constrained_ws::in_iteration& constrained_ws::state_of(task& t) noexcept { return t.get<in_iteration>(); }

// The list to which a task is sent.
inline constexpr unsigned kept_slot = 0, open_slot = 1, passed_slot = 2, assigned_slot = 3;

}  // namespace heddle::policy
