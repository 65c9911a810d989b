// The rules in which the policies differ that lay tasks out by one scheme (layout.hpp).
#pragma once

#include <cstdint>
#include <functional>

#include <heddle/policy_victims.hpp>
#include "policy/adws/number_lines.hpp"

namespace heddle::policy {

struct layout_rules {
  // Which members and lines there are, and how groups go down the lines.
  number_lines::kind lines = number_lines::kind::one;
  // by_work is ADWS. Under by_steals (ml-ws) nothing is laid out: a new task stays with the member that made it, and
  // all members of a domain steal from each other.
  enum class sharing : std::uint8_t { by_work, by_steals };
  sharing how = sharing::by_work;
  bool by_speed = false;  // A member's part of the work is in proportion to its workers' declared speeds.
  bool steals = true;
  victim_memory::rule victim = victim_memory::rule::random;  // which of the members that it may rob a thief tries first
  unsigned patience = 0;                                     // described at the head of adws.cpp
  // The bytes of a fork that gives none: those that its owner touches, or unknown, so that it goes to the leaves at
  // once.
  enum class fork_bytes : std::uint8_t { of_owner, unknown };
  fork_bytes forks_touch = fork_bytes::of_owner;
  // The worker that is woken for a task queued for a member: the member's head, or, if the head is awake, another
  // worker.
  enum class announcement : std::uint8_t { to_head, to_head_or_anybody };
  announcement announced = announcement::to_head;
  // True if only these rules take tasks, so that Theorems 1 and 2 hold. Audit builds then check them [adws:3].
  bool in_order = true;
  // Called with the bytes of each group and fork that is laid out; 0 if not known. May be empty. The rules of [seam:2]
  // hold.
  std::function<void(double bytes)> hears_bytes;

  bool by_steals() const noexcept { return how == sharing::by_steals; }
};

}  // namespace heddle::policy
