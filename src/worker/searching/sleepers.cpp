#include "worker/searching/sleepers.hpp"

#include <atomic>

#include "platform/platform.hpp"
#include "trace/emit.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

namespace {

// The time within which most sleepers that were woken have begun to look.
constexpr std::uint64_t woken_within_us = 100;

}  // namespace

bool sleepers::send_token(unsigned rank) noexcept {
  worker& w = *workers_[rank];
  if (w.drives == nullptr) [[likely]]
    return w.token.send();
  driver& its = *w.drives;  // once it is awake, the worker is somebody else's, and may be gone
  if (w.token.send_to_resting()) its.of.want(its);
  return true;
}

void sleepers::send_tokens() noexcept {
  for (unsigned rank = 0; rank < count(); ++rank) send_token(rank);
}

void sleepers::wake_one_for(unsigned rank) noexcept {
  if (!idle_.anyone_asleep()) return;  // [wake:1]
  // pairs with the fence of worker::find_work: what was published
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (idle_.anyone_searching()) return;  // [wake:2]
  choose(rank);
}

// [wake:6]
void sleepers::wake_one_away_from(unsigned beside) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // as in wake_one_for
  const bool searches = workers_[beside]->idle.load(std::memory_order_relaxed) && !idle_.is_asleep(beside);  // a hint
  if (idle_.anyone_searching(searches ? 1 : 0)) return;  // [wake:2], without that worker
  choose((beside + 1) % count());
}

// [wake:5]
void sleepers::leave_to_another(unsigned rank) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // as in wake_one_for
  if (!choose((rank + 1) % count())) return;
  workers_[rank]->leaves_inbox_until = platform::cycles() + woken_within_us * platform::cycles_per_microsecond();
}

// [wake:3]
bool sleepers::choose(unsigned first) noexcept {
  const int chosen = idle_.choose(first);
  if (chosen < 0) return false;
  idle_.begin_search();  // on its behalf
  worker* w = worker::current_or_null();
  if (w != nullptr && w->ring != nullptr && &w->home.sleepers() == this) {
    trace::emit<trace::event::wake_sent>(w->ring, static_cast<unsigned>(chosen));
  }
  send_token(static_cast<unsigned>(chosen));
  return true;
}

// Where a policy limits which worker may rob which, searchers do not count, because they may not be allowed to take the
// work. As in `wake`, no bit is cleared here. But a sleeper whose token is raised already is passed over, because it
// will take one thing and wake no other worker.
template <class MayTake>
void sleepers::wake_first(unsigned near, MayTake may_take) noexcept {
  if (!idle_.anyone_asleep()) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the fence of worker::find_work: what was published
  for (unsigned i = 0; i < count(); ++i) {
    const unsigned r = (near + i) % count();
    // a hint: if its token is raised it is about to look
    if (!idle_.is_asleep(r) || workers_[r]->token.look() == token::state::awake) continue;
    if (!may_take(r)) continue;
    send_token(r);
    return;
  }
}

void sleepers::wake_one_of(const std::vector<bool>& allowed) noexcept {
  wake_first(0, [&](unsigned r) { return allowed[r]; });
}

void sleepers::wake_any(unsigned near) noexcept {
  if (!limits_) return wake_one_for(near);
  wake_first(near, [](unsigned) { return true; });
}

void sleepers::wake_thief_of(unsigned rank) noexcept {
  if (!limits_) return wake_one_for(rank);
  wake_first(rank, [&](unsigned r) { return r != rank && policy_.may_rob(r, rank); });
}

bool sleepers::wake(unsigned rank) noexcept {
  // As in wake_one_for: this and the sleeper's {announce, heavy fence, look} are the two sides of Dekker's algorithm.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (!idle_.is_asleep(rank)) return false;
  // Not idle_.choose, which may choose another worker. If a waker chooses this worker meanwhile it wakes all the same.
  send_token(rank);
  return true;
}

bool sleepers::has_thief_of(unsigned rank) const noexcept {
  if (!idle_.anyone_asleep()) return false;
  if (!limits_) return true;
  for (unsigned r = 0; r < count(); ++r) {
    if (r != rank && idle_.is_asleep(r) && policy_.may_rob(r, rank)) return true;
  }
  return false;
}

}  // namespace heddle::worker
