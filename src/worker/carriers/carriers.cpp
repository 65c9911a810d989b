#include "worker/carriers/carriers.hpp"

#include <cerrno>
#include <mutex>
#include <new>
#include <utility>

#include "worker/preemption/section.hpp"

namespace heddle::worker {

carrier* carriers::make(int processing_unit, bool offers_itself) noexcept {
  auto* c = new (std::nothrow) carrier(home_);
  if (c == nullptr) {
    start_error_.store(ENOMEM);
    return nullptr;
  }
  c->offers_itself = offers_itself;
  if (const int error = platform::start(c->kernel, carry, c, "heddle", processing_unit); error != 0) {
    start_error_.store(error);
    delete c;
    return nullptr;
  }
  const section inside;  // a runtime may be made by a preemptive thread of another one
  std::lock_guard hold(mutex_);
  c->next_all = all_;
  all_ = c;
  return c;
}

bool carriers::take_out(const carrier& c) noexcept {
  carrier** place = &all_;
  while (*place != nullptr && *place != &c) place = &(*place)->next_all;
  if (*place == nullptr) return false;
  *place = c.next_all;
  return true;
}

carrier* carriers::take() noexcept {
  std::lock_guard hold(mutex_);
  return take_first();
}

carrier* carriers::try_take() noexcept {
  if (!mutex_.try_lock()) return nullptr;
  carrier* c = take_first();
  mutex_.unlock();
  return c;
}

// Under mutex_.
carrier* carriers::take_first() noexcept {
  carrier* c = spares_;
  if (c == nullptr) return nullptr;
  spares_ = c->next_spare;
  --spare_count_;
  return c;
}

void carriers::offer(carrier& self) noexcept {
  std::lock_guard hold(mutex_);
  if (ending_) return self.end();
  self.next_spare = spares_;
  spares_ = &self;
  self.passing = ++spare_count_ > spares_kept;
}

// [blocking:7] Returns true if `self` is to end: it was still a spare, there are more spares than are kept, and it is a
// spare no longer. It cannot join itself. The next carrier that ends joins it, or the destructor does, whichever takes
// it from the list of all carriers.
bool carriers::dismiss(carrier& self) noexcept {
  carrier* before = nullptr;
  {
    std::lock_guard hold(mutex_);
    carrier** place = &spares_;
    while (*place != nullptr && *place != &self) place = &(*place)->next_spare;
    if (*place == nullptr) return false;  // taken: a worker is on the way
    self.passing = spare_count_ > spares_kept && !keeps_spares_;
    if (!self.passing) return false;
    *place = self.next_spare;
    --spare_count_;
    before = std::exchange(dismissed_, &self);
    if (before != nullptr && !take_out(*before)) before = nullptr;
  }
  if (before == nullptr) return true;
  platform::join(before->kernel);
  delete before;
  return true;
}

bool carriers::owes_a_join() noexcept {
  const section inside;
  std::lock_guard hold(mutex_);
  return dismissed_ != nullptr;
}

// Called inside exit(), whose caller may hold any lock of the program's. So it must not wait for a kernel thread that
// is about to end, because that may be in a thread-local destructor of the program's, which wants such a lock. Nor does
// it wait for mutex_, whose holder exit() may have interrupted.
void carriers::end_with_process() noexcept {
  const section inside;
  if (!mutex_.try_lock()) return;
  keeps_spares_ = true;
  carrier* const last = dismissed_;
  const bool joined = last != nullptr && platform::try_join(last->kernel);
  if (joined) {
    dismissed_ = nullptr;
    static_cast<void>(take_out(*last));
  }
  mutex_.unlock();
  if (joined) delete last;
}

// A spare whose time is over must not look through the carriers that join_all frees. A carrier is known for a spare by
// the list. That it has no worker is no sign, because a carrier whose thread was preempted has none either, and that
// thread may still run.
void carriers::end_spares() noexcept {
  const section inside;  // a preemptive thread of another runtime perhaps
  std::lock_guard hold(mutex_);
  ending_ = true;
  for (carrier* c = std::exchange(spares_, nullptr); c != nullptr;) std::exchange(c, c->next_spare)->end();
}

void carriers::join_all() noexcept {
  for (;;) {
    carrier* c;
    {
      const section inside;
      std::lock_guard hold(mutex_);
      c = std::exchange(all_, all_ == nullptr ? nullptr : all_->next_all);
    }
    if (c == nullptr) break;
    platform::join(c->kernel);
    delete c;
  }
}

}  // namespace heddle::worker
