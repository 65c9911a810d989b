// Events of locks, critical, atomic and ordered regions.
#pragma once

#include "omp/ompt/records.hpp"
#include "omp/ompt/state.hpp"

namespace heddle::omp::ompt {

// The events of one means of exclusion, which has a kind and an address.
class exclusion_events {
 public:
  exclusion_events(ompt_mutex_t kind, const void* what, const void* code, unsigned hint = 0) noexcept
      : kind_(kind), what_(reinterpret_cast<ompt_wait_id_t>(what)), code_(code), hint_(hint) {}

  void made() const;       // lock_init
  void destroyed() const;  // lock_destroy
  void wanted() const;     // mutex_acquire
  void got() const;        // mutex_acquired
  void released() const;
  void nested(ompt_scope_endpoint_t endpoint) const;  // taken or released by a task that keeps it

  // Calls acquire(), with its events.
  template <class Acquire>
  void take(Acquire acquire) const {
    thread& self = thread::current();
    const inside here(self);
    const in_state waiting(self, state(), what_);
    wanted();
    acquire();
    got();
  }

 private:
  int state() const noexcept;

  ompt_mutex_t kind_;
  ompt_wait_id_t what_;
  const void* code_;
  unsigned hint_;
};

// Takes a critical, atomic or ordered region, for both ABIs, with its events.
template <class Lock>
void take(Lock&& lock, ompt_mutex_t kind, const void* what, const void* code, unsigned hint = 0) {
  if (on()) [[unlikely]]
    exclusion_events(kind, what, code, hint).take(lock);
  else lock();
}
template <class Unlock>
void release(Unlock&& unlock, ompt_mutex_t kind, const void* what, const void* code) {
  unlock();
  if (on()) [[unlikely]]
    exclusion_events(kind, what, code).released();
}

}  // namespace heddle::omp::ompt
