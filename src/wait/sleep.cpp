#include <heddle/sleep.hpp>

#include <mutex>

#include <heddle/condition_variable.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/mutex.hpp>

namespace heddle::detail {

void sleep_until(deadline when) noexcept {
  waiter w("time");
  // The waiter is known to the clock alone.
  suspend_until(w, [](void*, waiter&) noexcept { return true; }, nullptr, when);
}

bool sleep_until(deadline when, const std::stop_token& stop) noexcept {
  mutex alone;
  condition_variable never;
  std::unique_lock lock(alone);
  never.wait_until(lock, stop, when, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace heddle::detail
