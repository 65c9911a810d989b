// The thread slots of <heddle/thread_slot.hpp> beyond reading and binding: claiming them, and the values that a thread
// sees in a blocking call, where it counts as a foreign kernel thread. [slot:1] to [slot:5] of slots.md.
#pragma once

#include <heddle/thread_slot.hpp>

#include "fiber/thread.hpp"
#include "worker/carriers/carrier.hpp"

namespace heddle::worker {

// `show_slots` begins, and `hide_slots` ends, a blocking call of `t` on the kernel thread of `on`. In between the slots
// of that kernel thread show the values that are bound in `t`. Both are called by that kernel thread, on the storage
// that the call sees, without a worker.
void show_slots(const fiber::thread& t, carrier& on) noexcept;
void hide_slots(carrier& on) noexcept;

}  // namespace heddle::worker
