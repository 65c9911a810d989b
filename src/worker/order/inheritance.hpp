// Levels that the holder of a lock inherits from the threads that wait for it. Protocol and argument: [inherit:1] to
// [inherit:7] of inheritance.md.
#pragma once

#include <heddle/detail/lendable.hpp>
#include <heddle/detail/wait.hpp>

namespace heddle::worker {

// Returns true if some thread of the process was made with a level beside the normal one. Otherwise no level can be
// inherited. Set before the first such thread is made.
bool levels_are_used() noexcept;
void use_levels() noexcept;

// Returns the waiter of the highest level, among equals the first; null if none waits. A foreign kernel thread has the
// normal level.
detail::waiter* most_urgent(const detail::waiter_list& waiters) noexcept;

// Called in a child of fork(): a kernel thread that the child lacks may have been in the middle of this.
void forget_loans() noexcept;

// All functions below are called with the lock's guard held.

// `w` has just begun to wait for a lock that is held.
void begin_to_lend(detail::lendable& to, detail::waiter& w) noexcept;
// The caller has got the lock while `waiters` wait for it.
void inherit(detail::lendable& to, const detail::waiter_list& waiters) noexcept;
// `w` has given up; `waiters` still wait.
void end_waiting(detail::lendable& to, detail::waiter& w, const detail::waiter_list& waiters) noexcept;
// `next` holds the lock from here on. For cases in which no level can be inherited.
void set_holder(detail::lendable& l, const detail::waiter& next) noexcept;
// The holder leaves: the levels that it inherited for this lock end. `next`, if there is one, waits no longer. With
// `hand_over`, `next` holds the lock from here on; otherwise the holder inherits nothing more.
void leave(detail::lendable& from, detail::waiter* next, bool hand_over) noexcept;

}  // namespace heddle::worker
