#include <heddle/sleep.hpp>

#include <heddle/detail/wait.hpp>

namespace heddle::detail {

void sleep_until(deadline when) noexcept {
  waiter w("time");
  // Only the clock knows the waiter.
  suspend_until(w, [](void*, waiter&) noexcept { return true; }, nullptr, when);
}

}  // namespace heddle::detail
