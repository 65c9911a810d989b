#include "worker/searching/parker.hpp"

namespace heddle::worker {

bool parker::unpark() noexcept {
  auto now = static_cast<state>(word_.load());
  for (;; now = static_cast<state>(word_.load())) {
    if (now == state::awake || now == state::wanted) return now == state::awake;
    const bool with_caller = is_with_caller(now);
    if (!change(now, with_caller ? state::wanted : state::awake)) continue;
    if (!with_caller) platform::wake_one(word_);
    return !with_caller;
  }
}

bool parker::send_to_resting() noexcept {
  for (auto now = static_cast<state>(word_.load());; now = static_cast<state>(word_.load())) {
    if (now == state::awake) return false;
    if (change(now, state::awake)) return now == state::asleep;
  }
}

void parker::end_nap(state seen, bool something_is_queued) noexcept {
  auto next = seen;
  if (seen == state::with_caller_again) next = state::with_caller;
  else if (seen == state::held && !something_is_queued) next = state::stale;
  else if (is_held(seen)) next = state::awake;
  if (next != seen) static_cast<void>(change(seen, next));
}

parker::taken parker::take() noexcept {
  const state seen = look();  // the exchange decides
  if (seen == state::asleep && change(seen, state::with_caller)) return taken::from_asleep;
  if (is_held(seen) && change(seen, state::with_caller_again)) return taken::from_held;
  return taken::no;
}

void parker::return_awake() noexcept {
  std::atomic<std::uint32_t>& word = word_;
  word.store(static_cast<std::uint32_t>(state::awake));
  platform::wake_one(word);  // only its address is used
}

void parker::return_resting(bool asleep) noexcept {
  for (state now = look(); now != state::wanted; now = look()) {  // the exchange decides
    std::atomic<std::uint32_t>& word = word_;
    if (!change(now, asleep ? state::asleep : state::held)) continue;
    if (!asleep && now == state::with_caller) platform::wake_one(word);  // [caller_runs:6]: C shall nap
    return;                                                              // [caller_runs:7]
  }
  return_awake();
}

}  // namespace heddle::worker
