#include "omp/ompt/mutexes.hpp"

#include "omp/ompt/callbacks.hpp"

namespace heddle::omp::ompt {

namespace {

constexpr unsigned implementation = 1;  // the one that ompt_enumerate_mutex_impls names

}  // namespace

void exclusion_events::made() const {
  const inside here(thread::current());
  tell<ompt_callback_lock_init>(kind_, hint_, implementation, what_, code_);
}

void exclusion_events::destroyed() const {
  const inside here(thread::current());
  tell<ompt_callback_lock_destroy>(kind_, what_, code_);
}

void exclusion_events::wanted() const { tell<ompt_callback_mutex_acquire>(kind_, hint_, implementation, what_, code_); }

void exclusion_events::got() const { tell<ompt_callback_mutex_acquired>(kind_, what_, code_); }

void exclusion_events::released() const {
  const inside here(thread::current());
  tell<ompt_callback_mutex_released>(kind_, what_, code_);
}

void exclusion_events::nested(ompt_scope_endpoint_t endpoint) const {
  tell<ompt_callback_nest_lock>(endpoint, what_, code_);
}

int exclusion_events::state() const noexcept {
  switch (kind_) {
    case ompt_mutex_critical: return ompt_state_wait_critical;
    case ompt_mutex_atomic: return ompt_state_wait_atomic;
    case ompt_mutex_ordered: return ompt_state_wait_ordered;
    default: return ompt_state_wait_lock;
  }
}

}  // namespace heddle::omp::ompt
