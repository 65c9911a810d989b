#include "omp/core/parking.hpp"

#include <algorithm>
#include <chrono>

#include "omp/core/environment.hpp"

namespace heddle::omp {

namespace {

using clock = std::chrono::steady_clock;

constexpr int turns_between_looks = 64;
// A spinning thread lets ready threads of other libraries run so often. Those of OpenMP are counted (demand).
constexpr auto between_yields = std::chrono::microseconds(20);
// A foreign kernel thread keeps no worker from others, and its sleep costs the one who wakes it microseconds, and
// itself tens of them until the kernel gives it a processor among the workers' busy kernel threads: a barrier of four
// threads on two processors took 100 us, and takes 1.3 us since it looks for so long whatever the demand is.
constexpr std::chrono::nanoseconds most_foreign_spin = std::chrono::microseconds(50);

}  // namespace

void parking::wait_long(bool (*ready)(void*), void* asked, void (*before)(void*), void* told) {
  const clock::time_point begin = clock::now();
  const std::chrono::nanoseconds most = spin_time();
  clock::time_point yields_at = begin + between_yields;
  const clock::time_point spins_until = is_user_level() ? begin : begin + std::min(most, most_foreign_spin);
  while (!demand::exceeds() || clock::now() < spins_until) {
    for (int turn = 0; turn < turns_between_looks; ++turn) {
      if (ready(asked)) return;
      heddle_pause();
    }
    const clock::time_point now = clock::now();
    if (now - begin >= most) break;
    if (now < yields_at) continue;
    heddle::detail::yield();
    yields_at = now + between_yields;
  }
  for (;;) {
    // seq_cst, as the fence is: [parking:1]
    word_.store(settling);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    before(told);
    if (ready(asked)) {
      word_.store(is_awake);  // who wakes from now on finds nothing to do; who was before has done the same
      return;
    }
    sleep();
    if (ready(asked)) return;
  }
}

// On another stack, if the caller is a user-level thread.
bool parking::fall_asleep(void* self, heddle::detail::waiter& w) noexcept {
  auto& p = *static_cast<parking*>(self);
  demand::awake.fetch_sub(1);
  std::uintptr_t expected = settling;
  if (p.word_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(&w))) return true;
  demand::awake.fetch_add(1);  // woken meanwhile
  return false;
}

void parking::sleep() noexcept {
  heddle::detail::waiter w("OpenMP");
  heddle::detail::suspend(w, fall_asleep, this);
}

void parking::wake_sleeper() noexcept {
  const std::uintptr_t was = word_.exchange(is_awake);
  if (was == is_awake || was == settling) return;  // it is awake, or looks again before it sleeps
  demand::awake.fetch_add(1);                      // before it runs, so that those who spin make way for it
  heddle::detail::wake(*reinterpret_cast<heddle::detail::waiter*>(was));
}

}  // namespace heddle::omp
