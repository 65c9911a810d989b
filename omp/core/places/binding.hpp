// Binding threads to the places that placement gives them (places.hpp): a kernel thread of the program's by its
// affinity mask, a member of a team by a worker of heddle whose processor is in the place.
#pragma once

#include <heddle/thread.hpp>

#include "omp/core/places/places.hpp"

namespace heddle::omp {

class thread;
struct team;

// The place where member `number` of the team should be; -1 if it is not bound.
int place_of(const team& t, unsigned number) noexcept;

// Binds the caller, if it is a kernel thread, to a place, unless the number is -1. Returns false if it could not be
// bound.
bool bind_caller(thread& self, int number) noexcept;
// If the caller was bound that way, restores the mask that it had before (KMP_AFFINITY=reset).
void unbind_caller(thread& self) noexcept;

// Makes a member that is about to be made run at that place. Returns false if no worker of heddle's is there.
bool bind_member(heddle::thread_options& options, unsigned number, int place) noexcept;

// Called before a region whose members are bound. Binds the leader, and ends members that are elsewhere than they
// should be, so that others are made in their places.
void settle_places(team& t, unsigned members) noexcept;

// The place to which the caller is actually bound, and the partition that its regions have.
member_place bound_place(thread& self) noexcept;

}  // namespace heddle::omp
