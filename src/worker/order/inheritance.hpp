// Levels that those who wait for a lock lend to the thread that holds it. Protocol and argument: [inherit:1] to
// [inherit:7] of inheritance.md.
#pragma once

#include <heddle/detail/lendable.hpp>
#include <heddle/detail/wait.hpp>

namespace heddle::worker {

// Some thread of the process was made with a level beside the normal
// one: else there is nothing to lend. Set before the first is made.
bool levels_are_used() noexcept;
void use_levels() noexcept;

// Of those that wait the one of the highest level, among equals the first;
// null: nobody. Of a foreign kernel thread the level is the normal one.
detail::waiter* most_urgent(const detail::waiter_list& waiters) noexcept;

// In a child of fork(): a kernel thread that the child lacks may have been lending.
void forget_loans() noexcept;

// All below with the lock's guard held.

// `w` has just begun to wait for a lock that is held.
void begin_to_lend(detail::lendable& to, detail::waiter& w) noexcept;
// The caller has got the lock while these wait for it.
void inherit(detail::lendable& to, const detail::waiter_list& waiters) noexcept;
// `w` has given up; these still wait.
void end_waiting(detail::lendable& to, detail::waiter& w, const detail::waiter_list& waiters) noexcept;
// `next` holds it from here on; where there is nothing to lend.
void set_holder(detail::lendable& l, const detail::waiter& next) noexcept;
// The holder leaves: what was lent to it for this lock ends. `next`, if there is one, waits no longer; with `hand_over`
// it holds the lock from here on, and else nobody lends to the holder any more.
void leave(detail::lendable& from, detail::waiter* next, bool hand_over) noexcept;

}  // namespace heddle::worker
