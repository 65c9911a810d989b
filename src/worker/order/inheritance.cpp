#include "worker/order/inheritance.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <type_traits>

#include "worker/runtime.hpp"
#include "worker/searching/sources.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

using detail::inheriting_lock;

namespace {

// The lock of inheritance is the process's, because locks know no runtime. It is taken inside guards, by threads in the
// runtime and foreign kernel threads only, for some steps along a chain of holders that wait. Inside it no lock is
// taken but those of lists of ready threads.
constinit detail::spin_word inheritance;
constinit std::atomic<bool> used{false};

// Returns null if there is no thread that could inherit.
thread* holder_of(const inheriting_lock& l) noexcept { return reinterpret_cast<thread*>(l.word.now().heir()); }

int level_of(const detail::waiter& w) noexcept {
  return w.thread == nullptr ? 0 : static_cast<const thread*>(w.thread)->level.load();
}

static_assert(std::extent_v<decltype(thread::inherited.times)> == highest_level - lowest_level + 1);
std::uint16_t& inherited_at(thread& t, int level) noexcept { return t.inherited.times[level - lowest_level]; }

// The thread's level: its own, or the highest that it has inherited.
int level_with_inherited(thread& t) noexcept {
  int level = highest_level;
  while (level > t.inherited.own_level && inherited_at(t, level) == 0) --level;
  return level;
}

// The holder `h` inherits `level` through `l` from here on, if that is more than h's own.
void set_inherited(inheriting_lock& l, thread& h, int level) noexcept {
  if (h.inherited.count == 0) h.inherited.own_level = h.level.load();
  // If `h` has inherited nothing though the lock says so, the former holder has ended without letting go, and the block
  // is another thread's.
  if (l.inherited != inheriting_lock::nothing && h.inherited.count != 0) {
    --inherited_at(h, l.inherited);
    --h.inherited.count;
  }
  l.inherited = inheriting_lock::nothing;
  if (level > h.inherited.own_level) {
    ++inherited_at(h, level);
    ++h.inherited.count;
    l.inherited = static_cast<std::int8_t>(level);
  }
  h.level.store(static_cast<std::int8_t>(level_with_inherited(h)));
}

// [inherit:5]. Goes from the lock that is waited for to its holder, on to the lock that the holder waits for, and so
// on. Each step raises a level, so the walk ends, also where threads wait in a circle. A lock on the way exists,
// because the holder before it stands in its list, and leaves that only under the lock of inheritance ([inherit:1]).
void raise_holder(inheriting_lock* to, int level) noexcept {
  while (to != nullptr) {
    // [inherit:2]: before the look at the holder. A holder that lets go without having seen the flag has let go by
    // then.
    to->word.note_inheritance();
    thread* const h = holder_of(*to);
    if (h == nullptr || !h->home->precedence().is_used() || level <= to->inherited) return;
    const int before = h->level.load();
    set_inherited(*to, *h, level);
    if (h->level.load() <= before) return;
    h->home->precedence().level_was_raised(*h, before);
    to = h->inherited.blocked_on;
  }
}

}  // namespace

void forget_inheritance() noexcept { new (&inheritance) detail::spin_word; }

bool levels_are_used() noexcept { return used.load(); }
void use_levels() noexcept { used.store(true); }

detail::waiter* most_urgent(const detail::waiter_list& waiters) noexcept {
  detail::waiter* best = nullptr;
  int highest = lowest_level - 1;
  for (detail::waiter* w = waiters.front(); w != nullptr; w = w->next) {
    const int level = level_of(*w);
    if (level <= highest) continue;
    best = w;
    highest = level;
  }
  return best;
}

void begin_inheritance(inheriting_lock& to, detail::waiter& w) noexcept {
  std::lock_guard hold(inheritance);
  if (w.thread != nullptr) static_cast<thread*>(w.thread)->inherited.blocked_on = &to;
  raise_holder(&to, level_of(w));
}

void inherit(inheriting_lock& to, const detail::waiter_list& waiters) noexcept {
  std::lock_guard hold(inheritance);
  if (const detail::waiter* w = most_urgent(waiters); w != nullptr) raise_holder(&to, level_of(*w));
}

void end_waiting(inheriting_lock& to, detail::waiter& w, const detail::waiter_list& waiters) noexcept {
  std::lock_guard hold(inheritance);
  if (w.thread != nullptr) static_cast<thread*>(w.thread)->inherited.blocked_on = nullptr;
  thread* const h = holder_of(to);
  if (to.inherited == inheriting_lock::nothing || h == nullptr) return;
  const detail::waiter* const most = most_urgent(waiters);
  set_inherited(to, *h, most != nullptr ? std::min<int>(level_of(*most), to.inherited) : lowest_level);
}

void set_holder(inheriting_lock& l, const detail::waiter& next) noexcept {
  l.word.hand_to(reinterpret_cast<std::uintptr_t>(next.thread));
}

void leave(inheriting_lock& from, detail::waiter* next, bool hand_over) noexcept {
  std::lock_guard hold(inheritance);
  auto* const successor = next != nullptr ? static_cast<thread*>(next->thread) : nullptr;
  if (successor != nullptr) successor->inherited.blocked_on = nullptr;
  if (thread* const h = holder_of(from); h != nullptr && from.inherited != inheriting_lock::nothing)
    set_inherited(from, *h, lowest_level);
  from.inherited = inheriting_lock::nothing;
  if (hand_over) set_holder(from, *next);
  else from.word.leave();
}

// --- where the holder stands ---------------------------------------------------------------------------------------

// Threads among this worker's ready threads, or in the inbox, that have inherited a level go to the list of that level.
void worker_agenda::sort_ready() noexcept {
  raised_seen_ = home.precedence().raised();  // before the look
  pinned.sort();
  thread* chain = nullptr;
  thread** end = &chain;
  while (thread* t = ready.pop()) {
    t->next = nullptr;
    *end = t;
    end = &t->next;
  }
  thread* const common = home.incoming().take_all();
  *end = common;
  bool raised = false;
  while (chain != nullptr) {
    thread& t = *chain;
    chain = t.next;
    if (home.levels().push(t, rank, position::on_top)) raised = true;
    else ready.push(t);
  }
  if (raised) sources::level_threads::announce(home, rank);
  if (common != nullptr) sources::ready_threads::announce(whole());
}

}  // namespace heddle::worker
