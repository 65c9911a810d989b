#include "worker/carriers/thread_slots.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "worker/preemption/section.hpp"

constinit thread_local void* heddle_foreign_slots[heddle::detail::thread_slots + 1]{};

namespace heddle::detail {

namespace {

// The number of claimed slots, including that of OpenMP.
constinit std::atomic<unsigned> claimed{1};

}  // namespace

unsigned claim_slot() {
  unsigned now = claimed.load();
  do {
    if (now == thread_slots) throw std::length_error("heddle: all thread slots are taken");
  } while (!claimed.compare_exchange_weak(now, now + 1));
  return now;
}

bool keep_in_slot(unsigned number, void* value) noexcept {
  if (current_queue() != nullptr) return false;
  void** const slots = foreign_slots();
  if (slots[thread_slots] != nullptr) return false;
  slots[number] = value;
  return true;
}

}  // namespace heddle::detail

namespace heddle::worker {

// A foreign kernel thread that runs a call itself (lending.md) has values of its own there.
void show_slots(const fiber::thread& t, carrier& on) noexcept {
  void** const here = detail::foreign_slots();
  std::copy_n(here, detail::thread_slots, on.own_slots);
  std::copy_n(t.slots, detail::thread_slots, here);
  here[detail::thread_slots] = &on;
}

void hide_slots(carrier& on) noexcept {
  void** const here = detail::foreign_slots();
  std::copy_n(on.own_slots, detail::thread_slots, here);
  here[detail::thread_slots] = nullptr;
}

}  // namespace heddle::worker
