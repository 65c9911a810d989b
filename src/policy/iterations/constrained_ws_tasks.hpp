// What constrained work stealing keeps in a task. Its tag is `outside_` for threads that are nobody's child, while
// they run no iteration; `inside_` for the tasks of an iteration, its root included; and null for what is not watched.
#pragma once

#include <cstdint>

#include "policy/iterations/constrained_ws.hpp"

namespace heddle::policy {

struct constrained_ws::in_iteration {
  static constexpr std::uint8_t quiet = 1;  // replayed with all its descendants in one worker: not watched
  static constexpr std::uint8_t lost = 2;   // the record does not know it
  static constexpr std::uint8_t root = 4;

  std::uint64_t id;
  steal_node* node;        // while a record is made
  std::uint32_t children;  // so far
  std::uint32_t home;      // where it began; nobody: it has not
  std::uint32_t recorded;  // the worker that the record names, if it is a piece
  std::uint32_t order;     // of a piece
  std::uint32_t forks;     // that it is in
  std::uint8_t flags;

  bool is(std::uint8_t flag) const noexcept { return (flags & flag) != 0; }
};

inline constrained_ws::in_iteration& constrained_ws::state_of(task& t) noexcept { return t.get<in_iteration>(); }

// Where a task that is sent goes.
inline constexpr unsigned kept_slot = 0, open_slot = 1, passed_slot = 2, assigned_slot = 3;

}  // namespace heddle::policy
