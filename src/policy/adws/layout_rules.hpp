// In what the policies differ that lay tasks out by one scheme (layout.hpp).
#pragma once

#include <cstdint>
#include <functional>

#include <heddle/policy_victims.hpp>
#include "policy/adws/number_lines.hpp"

namespace heddle::policy {

struct layout_rules {
  // Which members and lines there are, and how groups go down them.
  number_lines::kind lines = number_lines::kind::one;
  // by_work: ADWS. by_steals (ml-ws): nothing is laid out; what is new stays with the member that made it, and all
  // members of a domain steal from each other.
  enum class sharing : std::uint8_t { by_work, by_steals };
  sharing how = sharing::by_work;
  bool by_speed = false;  // a member's part of the work is in proportion to its workers' speeds, as declared
  bool steals = true;
  victim_memory::rule victim = victim_memory::rule::random;  // which of those whom a member may rob, first
  unsigned patience = 0;                                     // see the head of adws.cpp
  // The bytes of a fork that gives none: what its owner touches, or unknown, so that it goes to the leaves at once.
  enum class fork_bytes : std::uint8_t { of_owner, unknown };
  fork_bytes forks_touch = fork_bytes::of_owner;
  // Who is woken for what is queued for a member: its head; or, where that is awake, somebody else.
  enum class announcement : std::uint8_t { to_head, to_head_or_anybody };
  announcement announced = announcement::to_head;
  // Nothing but these rules takes tasks, so that Theorems 1 and 2 hold. Audit builds check them then [adws:3].
  bool in_order = true;
  // Hears of each group and fork that is laid out: its bytes; 0: not known. May be empty. The rules of seam:2 hold.
  std::function<void(double bytes)> hears_bytes;

  bool by_steals() const noexcept { return how == sharing::by_steals; }
};

}  // namespace heddle::policy
