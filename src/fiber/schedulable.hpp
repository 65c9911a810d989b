// The part of a user-level thread's control block that belongs to the scheduling policy.
#pragma once

#include <cstddef>

namespace heddle::fiber {

// Owned by whoever owns the thread. A policy that hands a thread to another worker publishes these fields with it.
struct schedulable {
  // null when the thread is made: the policy has no part in it. Else it hears of wake-up and end
  void* word{nullptr};
  schedulable* next;  // links of the policy's queue that the thread stands in; unset otherwise
  schedulable* previous;
  alignas(8) std::byte room[40];  // what the policy knows of the thread; unset until the policy sets it
};

}  // namespace heddle::fiber
