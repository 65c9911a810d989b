#include "omp/core/teams/proxy.hpp"

#include <system_error>
#include <utility>

#include "omp/core/settings/environment.hpp"
#include "omp/core/teams/member_kind.hpp"

namespace heddle::omp {

std::unique_ptr<proxy> proxy::make() {
  std::unique_ptr<proxy> made(new proxy);
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

proxy::~proxy() {
  if (!thread_.joinable()) return;
  await_rest();
  stops_ = true;
  heddle::detail::wake(*seen_);
  thread_.join();
}

bool proxy::rest(void* self, heddle::detail::waiter& w) noexcept {
  static_cast<proxy*>(self)->rests_.store(&w);
  return true;
}

void proxy::live() noexcept {
  for (;;) {
    heddle::detail::waiter w("OpenMP leader");
    heddle::detail::suspend(w, rest, this);
    if (stops_) return;
    while (wanted_.load() != 0) wanted_.wait(1);  // sleeps in the kernel; ticks interrupt it
    heddle::detail::leave_gang();
  }
}

// The proxy comes to rest soon, because nothing wants it.
void proxy::await_rest() noexcept {
  while (seen_ == nullptr) {
    seen_ = rests_.exchange(nullptr);
    if (seen_ == nullptr) heddle::detail::yield();
  }
}

void proxy::enter(heddle::detail::gang_handle* gang, unsigned number) noexcept {
  await_rest();
  heddle::detail::waiter& w = *std::exchange(seen_, nullptr);
  wanted_.store(1);
  heddle::detail::take_into_gang(gang, number, static_cast<heddle::detail::thread_handle*>(w.thread));
  heddle::detail::wake(w);
}

void proxy::leave() noexcept {
  wanted_.store(0);
  wanted_.notify_one();
}

}  // namespace heddle::omp
