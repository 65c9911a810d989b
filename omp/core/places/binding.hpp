// How threads are bound to the places that placement gives them (places.hpp): a kernel thread of the program's by its
// affinity mask, a member of a team by a worker of heddle whose processor is in the place.
#pragma once

#include <heddle/thread.hpp>

#include "omp/core/places/places.hpp"

namespace heddle::omp {

class thread;
struct team;

// The place that member `number` of the team is to be at; -1: it is not bound.
int place_of(const team& t, unsigned number) noexcept;

// The caller, if it is a kernel thread, is bound to a place from now on, unless it is -1. False: it is not.
bool bind_caller(thread& self, int number) noexcept;
// If it was bound by that: it has the mask again that it had before (KMP_AFFINITY=reset).
void unbind_caller(thread& self) noexcept;

// A member that is about to be made shall run at that place. False: no worker of heddle's is there.
bool bind_member(heddle::thread_options& options, unsigned number, int place) noexcept;

// Before a region whose members are bound: the leader is bound, and members that are elsewhere than they should be end,
// so that others are made in their places.
void settle_places(team& t, unsigned members) noexcept;

// Where the caller is bound in fact, and the partition that its regions have.
member_place bound_place(thread& self) noexcept;

}  // namespace heddle::omp
