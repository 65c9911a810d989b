#include "worker/searching/token.hpp"

namespace heddle::worker {

bool token::send() noexcept {
  auto now = static_cast<state>(word_.load());
  for (;; now = static_cast<state>(word_.load())) {
    if (now == state::awake || now == state::wanted) return now == state::awake;
    const bool lent = is_lent(now);
    if (!change(now, lent ? state::wanted : state::awake)) continue;
    if (!lent) platform::wake_one(word_);
    return !lent;
  }
}

bool token::send_to_resting() noexcept {
  for (auto now = static_cast<state>(word_.load());; now = static_cast<state>(word_.load())) {
    if (now == state::awake) return false;
    if (change(now, state::awake)) return now == state::asleep;
  }
}

void token::end_nap(state seen, bool something_is_queued) noexcept {
  auto next = seen;
  if (seen == state::lent_again) next = state::lent;
  else if (seen == state::held && !something_is_queued) next = state::stale;
  else if (is_held(seen)) next = state::awake;
  if (next != seen) static_cast<void>(change(seen, next));
}

token::taken token::take() noexcept {
  const state seen = look();  // the exchange decides
  if (seen == state::asleep && change(seen, state::lent)) return taken::from_asleep;
  if (is_held(seen) && change(seen, state::lent_again)) return taken::from_held;
  return taken::no;
}

void token::return_awake() noexcept {
  std::atomic<std::uint32_t>& word = word_;
  word.store(static_cast<std::uint32_t>(state::awake));
  platform::wake_one(word);  // only its address is used
}

void token::return_resting(bool asleep) noexcept {
  for (state now = look(); now != state::wanted; now = look()) {  // the exchange decides
    std::atomic<std::uint32_t>& word = word_;
    if (!change(now, asleep ? state::asleep : state::held)) continue;
    if (!asleep && now == state::lent) platform::wake_one(word);  // [borrow:6]: C shall nap
    return;                                                       // [borrow:7]
  }
  return_awake();
}

}  // namespace heddle::worker
