// Synchronisation of heddle.h: each handle is the C++ object.
#include <heddle/barrier.hpp>
#include <heddle/condition_variable.hpp>
#include <heddle/latch.hpp>
#include <heddle/mutex.hpp>
#include <heddle/semaphore.hpp>

#include <limits>
#include <mutex>

#include "capi/status.hpp"

namespace capi = heddle::capi;

struct heddle_mutex {
  heddle::mutex object;
};

struct heddle_condition {
  heddle::condition_variable object;
};

struct heddle_semaphore {
  explicit heddle_semaphore(std::size_t permits) : object(static_cast<std::ptrdiff_t>(permits)) {}
  heddle::semaphore object;
};

struct heddle_barrier {
  explicit heddle_barrier(std::size_t expected) : object(static_cast<std::ptrdiff_t>(expected)) {}
  heddle::barrier<> object;
};

struct heddle_latch {
  explicit heddle_latch(std::size_t expected) : object(static_cast<std::ptrdiff_t>(expected)) {}
  heddle::latch object;
};

namespace {

// Calls wait(lock) with the mutex that the caller holds and keeps.
template <class Wait>
heddle_status with_held(heddle_mutex* mutex, Wait&& wait) noexcept {
  std::unique_lock<heddle::mutex> lock(mutex->object, std::adopt_lock);
  const heddle_status status = wait(lock) ? HEDDLE_OK : HEDDLE_TIMED_OUT;
  static_cast<void>(lock.release());
  return status;
}

bool exceeds(std::size_t value, std::ptrdiff_t most) noexcept { return value > static_cast<std::size_t>(most); }

}  // namespace

extern "C" {

heddle_status heddle_mutex_create(heddle_mutex** out) { return capi::make(out); }
heddle_status heddle_mutex_destroy(heddle_mutex* mutex) { return capi::destroy(mutex); }
heddle_status heddle_mutex_lock(heddle_mutex* mutex) {
  return capi::with(mutex, [](heddle::mutex& m) { m.lock(); });
}
heddle_status heddle_mutex_try_lock(heddle_mutex* mutex) {
  return capi::with(mutex, HEDDLE_BUSY, [](heddle::mutex& m) { return m.try_lock(); });
}
heddle_status heddle_mutex_try_lock_for(heddle_mutex* mutex, uint64_t time) {
  return capi::with(mutex, HEDDLE_TIMED_OUT, [time](heddle::mutex& m) { return m.try_lock_for(capi::span(time)); });
}
heddle_status heddle_mutex_unlock(heddle_mutex* mutex) {
  return capi::with(mutex, [](heddle::mutex& m) { m.unlock(); });
}

heddle_status heddle_condition_create(heddle_condition** out) { return capi::make(out); }
heddle_status heddle_condition_destroy(heddle_condition* condition) { return capi::destroy(condition); }
heddle_status heddle_condition_wait(heddle_condition* condition, heddle_mutex* mutex) {
  if (condition == nullptr || mutex == nullptr) return HEDDLE_INVALID;
  return with_held(mutex, [&](std::unique_lock<heddle::mutex>& lock) {
    condition->object.wait(lock);
    return true;
  });
}
heddle_status heddle_condition_wait_for(heddle_condition* condition, heddle_mutex* mutex, uint64_t time) {
  if (condition == nullptr || mutex == nullptr) return HEDDLE_INVALID;
  return with_held(mutex, [&](std::unique_lock<heddle::mutex>& lock) {
    return condition->object.wait_for(lock, capi::span(time)) == heddle::cv_status::no_timeout;
  });
}
heddle_status heddle_condition_notify_one(heddle_condition* condition) {
  return capi::with(condition, [](heddle::condition_variable& c) { c.notify_one(); });
}
heddle_status heddle_condition_notify_all(heddle_condition* condition) {
  return capi::with(condition, [](heddle::condition_variable& c) { c.notify_all(); });
}

heddle_status heddle_semaphore_create(heddle_semaphore** out, size_t permits) {
  return exceeds(permits, heddle::semaphore::max()) ? HEDDLE_INVALID : capi::make(out, permits);
}
heddle_status heddle_semaphore_destroy(heddle_semaphore* semaphore) { return capi::destroy(semaphore); }
heddle_status heddle_semaphore_acquire(heddle_semaphore* semaphore) {
  return capi::with(semaphore, [](heddle::semaphore& s) { s.acquire(); });
}
heddle_status heddle_semaphore_try_acquire(heddle_semaphore* semaphore) {
  return capi::with(semaphore, HEDDLE_BUSY, [](heddle::semaphore& s) { return s.try_acquire(); });
}
heddle_status heddle_semaphore_try_acquire_for(heddle_semaphore* semaphore, uint64_t time) {
  return capi::with(semaphore, HEDDLE_TIMED_OUT,
                    [time](heddle::semaphore& s) { return s.try_acquire_for(capi::span(time)); });
}
heddle_status heddle_semaphore_release(heddle_semaphore* semaphore, size_t count) {
  if (exceeds(count, heddle::semaphore::max())) return HEDDLE_INVALID;
  return capi::with(semaphore, [count](heddle::semaphore& s) { s.release(static_cast<std::ptrdiff_t>(count)); });
}

heddle_status heddle_barrier_create(heddle_barrier** out, size_t expected) {
  return expected == 0 || exceeds(expected, heddle::barrier<>::max()) ? HEDDLE_INVALID : capi::make(out, expected);
}
heddle_status heddle_barrier_destroy(heddle_barrier* barrier) { return capi::destroy(barrier); }
heddle_status heddle_barrier_wait(heddle_barrier* barrier) {
  return capi::with(barrier, [](heddle::barrier<>& b) { b.arrive_and_wait(); });
}
heddle_status heddle_barrier_drop(heddle_barrier* barrier) {
  return capi::with(barrier, [](heddle::barrier<>& b) { b.arrive_and_drop(); });
}

heddle_status heddle_latch_create(heddle_latch** out, size_t expected) {
  return exceeds(expected, heddle::latch::max()) ? HEDDLE_INVALID : capi::make(out, expected);
}
heddle_status heddle_latch_destroy(heddle_latch* latch) { return capi::destroy(latch); }
heddle_status heddle_latch_count_down(heddle_latch* latch, size_t count) {
  if (exceeds(count, heddle::latch::max())) return HEDDLE_INVALID;
  bool counted = false;
  const heddle_status status =
      capi::with(latch, [&](heddle::latch& l) { counted = l.count_down_to_zero(static_cast<std::ptrdiff_t>(count)); });
  return status == HEDDLE_OK && !counted ? HEDDLE_INVALID : status;
}
heddle_status heddle_latch_wait(heddle_latch* latch) {
  return capi::with(latch, [](heddle::latch& l) { l.wait(); });
}
heddle_status heddle_latch_try_wait(heddle_latch* latch) {
  return capi::with(latch, HEDDLE_BUSY, [](heddle::latch& l) { return l.try_wait(); });
}

}  // extern "C"
