#include "omp/core/teams/parker.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "omp/core/settings/environment.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp {

namespace {

using clock = std::chrono::steady_clock;

constexpr int looks_between_clocks = 64;
// [parker:3] The number of times that it gives its processor away to another OpenMP thread that was seen there, before
// it looks at the clock. After waits_between_questions waits of that kind it asks where all threads are.
constexpr int most_gifts = 8;
constexpr std::uint8_t waits_between_questions = 16;
// The interval at which a spinning thread lets ready threads of other libraries run. Those of OpenMP are counted
// (active_count).
constexpr auto between_yields = std::chrono::microseconds(20);
// The number of times that a user-level thread yields to others before it sleeps, if there are more threads than
// processors. With half of that a region of sixteen threads on two processors took twice as long, because some slept,
// and had to be woken.
constexpr int most_yields = 16;
// A foreign kernel thread keeps no worker from others. Its sleep costs its waker microseconds, and costs itself tens of
// them until the kernel gives it a processor among the workers' busy kernel threads. A barrier of four threads on two
// processors took 100 us with an early sleep, and takes 1.3 us since the thread looks for this long whatever the active
// count is.
constexpr std::chrono::nanoseconds most_foreign_spin = std::chrono::microseconds(50);

// A leader that is a kernel thread may wait for the processor of the worker whose member spins for it, while another
// processor is idle: the system does not move a thread that has run just now, nor a worker that is bound. A region of
// four threads on two processors then took 0.3 ms more, the whole time for which its last member spun. The C library's
// function is not used, because libheddle_omp_waits.so interposes on it.
void give_processor_away() noexcept { static_cast<void>(syscall(SYS_sched_yield)); }

// [parker:5]. Returns true if the condition is ready.
bool yield_for_others(bool (*ready)(void*), void* asked) {
  for (int given = 0; given < most_yields; ++given) {
    heddle::detail::yield();
    if (ready(asked)) return true;
  }
  return false;
}

// The cost of a thread's spinning, printed in the line at the end of the program. It is taken from the last look at the
// clock, so that it costs no look of its own.
struct spin_account {
  explicit spin_account(clock::time_point now) noexcept : begin(now), last(now) {}
  ~spin_account() {
    thread* const self = thread::current_or_null();
    if (self != nullptr) self->did.spun.add(static_cast<std::uint64_t>(std::chrono::nanoseconds(last - begin).count()));
  }
  spin_account(const spin_account&) = delete;
  spin_account& operator=(const spin_account&) = delete;
  clock::time_point begin, last;
};

}  // namespace

// [parker:6] Returns true if the thread is still co-located.
bool parker::end_co_location(clock::time_point now) noexcept {
  if (++co_located_waits_ == waits_between_questions) {
    co_located_waits_ = 0;
    co_location::ask();
  }
  if (!is_user_level() || now < may_go_again_ || active_count::exceeds()) return true;
  where_.leave();
  if (heddle::detail::go_elsewhere()) {
    may_go_again_ = now + between_goings_;
    between_goings_ *= 4;
  }
  return where_.look();
}

// Returns true if the condition is ready.
bool parker::spin(bool (*ready)(void*), void* asked) {
  const bool is_patient = !shares_processor_ && !is_user_level();
  if (!is_patient && active_count::exceeds()) return is_user_level() && yield_for_others(ready, asked);
  const clock::time_point begin = clock::now();
  const std::chrono::nanoseconds most = spin_time();
  clock::time_point yields_at = begin + between_yields;
  const clock::time_point spins_until = is_patient ? begin + std::min(most, most_foreign_spin) : begin;
  spin_account account(begin);
  is_co_located_ = where_.look();
  if (is_co_located_) is_co_located_ = end_co_location(begin);
  for (int gifts = is_co_located_ ? most_gifts : 0; gifts > 0 && !active_count::exceeds(); --gifts) {
    give_processor_away();
    if (ready(asked)) return true;
  }
  while (!active_count::exceeds() || clock::now() < spins_until) {
    for (int look = 0; look < looks_between_clocks; ++look) {
      if (ready(asked)) return true;
      heddle_pause();
    }
    const clock::time_point now = clock::now();
    account.last = now;
    if (now - begin >= most) return false;
    if (now < yields_at && !(is_patient && active_count::exceeds())) continue;  // [parker:4]
    if (is_user_level()) heddle::detail::yield();
    give_processor_away();
    yields_at = clock::now();
    account.begin += yields_at - now;  // others had the processor meanwhile
    account.last = yields_at;
    yields_at += between_yields;
  }
  return false;
}

void parker::wait_long(bool (*ready)(void*), void* asked, void (*before)(void*), void* told) {
  if (spin(ready, asked)) return;
  for (;;) {
    // relaxed: the fence orders it with what ready() reads: [parker:1]
    word_.store(settling, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    before(told);
    if (ready(asked)) {
      // Threads that wake it from here on find nothing to do; those that did so before have done the same.
      word_.store(is_awake);
      return;
    }
    sleep();
    if (ready(asked)) return;
  }
}

// Runs on another stack if the caller is a user-level thread.
bool parker::fall_asleep(void* self, heddle::detail::waiter& w) noexcept {
  auto& p = *static_cast<parker*>(self);
  active_count::awake.fetch_sub(1);
  std::uintptr_t expected = settling;
  if (p.word_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(&w))) return true;
  active_count::awake.fetch_add(1);  // woken meanwhile
  return false;
}

void parker::sleep() noexcept {
  heddle::detail::waiter w("OpenMP");
  where_.leave();
  heddle::detail::suspend(w, fall_asleep, this);
  // While the active count exceeds the processors no thread acts on such a sighting.
  is_co_located_ = !active_count::exceeds() && where_.look();
}

// Returns null if the thread is awake, or looks again before it sleeps.
heddle::detail::waiter* parker::exchange_sleeper() noexcept {
  const std::uintptr_t was = word_.exchange(is_awake);
  return was == is_awake || was == settling ? nullptr : reinterpret_cast<heddle::detail::waiter*>(was);
}

void parker::wake(heddle::detail::waiter& sleeper) noexcept {
  // This comes before it runs, so that spinning threads make way for it.
  active_count::awake.fetch_add(1);
  heddle::detail::wake(sleeper);
}

void parker::wake_sleeper() noexcept {
  if (heddle::detail::waiter* const w = exchange_sleeper(); w != nullptr) wake(*w);
}

}  // namespace heddle::omp

// Called by libheddle_omp_waits.so, whose calls suspend members without their parker. `change` is -1 before, 1 after.
HEDDLE_OMP_ENTRY void heddle_omp_rests(int change) noexcept {
  const heddle::omp::thread* const self = heddle::omp::thread::current_or_null();
  if (self != nullptr && self->counts) heddle::omp::active_count::awake.fetch_add(change);
}
HEDDLE_OMP_ENTRY bool heddle_omp_is_crowded() noexcept { return heddle::omp::active_count::exceeds(); }
