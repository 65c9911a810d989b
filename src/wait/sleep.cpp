#include <heddle/sleep.hpp>

#include <heddle/detail/wait.hpp>

namespace heddle::detail {

void sleep_until(deadline when) noexcept {
  waiter w("time");
  // The waiter is known to the clock alone.
  suspend_until(w, [](void*, waiter&) noexcept { return true; }, nullptr, when);
}

}  // namespace heddle::detail
