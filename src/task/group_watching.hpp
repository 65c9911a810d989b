// The data of a group for traces and for policies that watch groups.
#pragma once

#include <cstdint>

#include <heddle/policy.hpp>
#include <heddle/task_group.hpp>

#include "worker/runtime.hpp"
#include "worker/time/task_meter.hpp"

namespace heddle::detail {

// Derives the id from the group's address on a stack, which it keeps as long as it lives. It differs for all groups
// that live at once.
inline std::uint32_t trace_id(const group_state& group) noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&group) >> 4);
}

inline policy::group_info info_of(group_state& group, worker::worker& w, std::uint64_t elapsed) noexcept {
  // relaxed: the number of children is a hint
  return {group.work,
          group.bytes,
          group.index.load(std::memory_order_relaxed),
          group.expected,
          w.current_thread()->scheduling,
          group.policy_data,
          elapsed};
}

// Returns the nanoseconds since group_begin, if the policy wants to know them.
inline std::uint64_t elapsed_in(const group_state& group, worker::worker& w) noexcept {
  return w.home.host().wants().elapsed ? worker::nanoseconds_between(group.opened_at, platform::cycles()) : 0;
}

}  // namespace heddle::detail
