#include "omp/core/teams/stand_in.hpp"

#include <system_error>
#include <utility>

#include "omp/core/settings/environment.hpp"
#include "omp/core/teams/member_kind.hpp"

namespace heddle::omp {

std::unique_ptr<stand_in> stand_in::make() {
  std::unique_ptr<stand_in> made(new stand_in);
  heddle::thread_options options;
  options.name = "OpenMP leader";
  set_kind(options, true);
  if (options.preemption == heddle::preemption::none) return nullptr;
  try {
    made->thread_ = heddle::thread(options, [self = made.get()] { self->live(); });
  } catch (const std::system_error&) {
    return nullptr;
  }
  return made;
}

stand_in::~stand_in() {
  if (!thread_.joinable()) return;
  await_rest();
  stops_ = true;
  heddle::detail::wake(*seen_);
  thread_.join();
}

bool stand_in::rest(void* self, heddle::detail::waiter& w) noexcept {
  static_cast<stand_in*>(self)->rests_.store(&w);
  return true;
}

void stand_in::live() noexcept {
  for (;;) {
    heddle::detail::waiter w("OpenMP leader");
    heddle::detail::suspend(w, rest, this);
    if (stops_) return;
    while (wanted_.load() != 0) wanted_.wait(1);  // in the kernel; ticks interrupt it
    heddle::detail::leave_gang();
  }
}

// It comes to rest soon, for nobody wants it.
void stand_in::await_rest() noexcept {
  while (seen_ == nullptr) {
    seen_ = rests_.exchange(nullptr);
    if (seen_ == nullptr) heddle::detail::yield();
  }
}

void stand_in::enter(heddle::detail::gang_handle* gang, unsigned number) noexcept {
  await_rest();
  heddle::detail::waiter& w = *std::exchange(seen_, nullptr);
  wanted_.store(1);
  heddle::detail::take_into_gang(gang, number, static_cast<heddle::detail::thread_handle*>(w.thread));
  heddle::detail::wake(w);
}

void stand_in::leave() noexcept {
  wanted_.store(0);
  wanted_.notify_one();
}

}  // namespace heddle::omp
