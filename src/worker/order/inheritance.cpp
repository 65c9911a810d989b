#include "worker/order/inheritance.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <type_traits>

#include "worker/runtime.hpp"
#include "worker/searching/sources.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

using detail::lendable;

namespace {

// The lock of inheritance is the process's, because locks know no runtime. It is taken inside guards, by threads in the
// runtime and foreign kernel threads only, for some steps along a chain of holders that wait. Inside it no lock is
// taken but those of lists of ready threads.
constinit detail::spin_word loans;
constinit std::atomic<bool> used{false};

// Returns null if there is no thread that could inherit.
thread* holder_of(const lendable& l) noexcept { return reinterpret_cast<thread*>(l.word.now().borrower()); }

int level_of(const detail::waiter& w) noexcept {
  return w.thread == nullptr ? 0 : static_cast<const thread*>(w.thread)->level.load();
}

static_assert(std::extent_v<decltype(thread::loans.lent)> == highest_level - lowest_level + 1);
std::uint16_t& loans_of(thread& t, int level) noexcept { return t.loans.lent[level - lowest_level]; }

// The thread's level: its own, or the highest that it has inherited.
int level_with_loans(thread& t) noexcept {
  int level = highest_level;
  while (level > t.loans.own_level && loans_of(t, level) == 0) --level;
  return level;
}

// The holder `h` inherits `level` through `l` from here on, if that is more than h's own.
void set_loan(lendable& l, thread& h, int level) noexcept {
  if (h.loans.count == 0) h.loans.own_level = h.level.load();
  // If `h` has inherited nothing though the lock says so, the former holder has ended without letting go, and the block
  // is another thread's.
  if (l.lent != lendable::nothing && h.loans.count != 0) {
    --loans_of(h, l.lent);
    --h.loans.count;
  }
  l.lent = lendable::nothing;
  if (level > h.loans.own_level) {
    ++loans_of(h, level);
    ++h.loans.count;
    l.lent = static_cast<std::int8_t>(level);
  }
  h.level.store(static_cast<std::int8_t>(level_with_loans(h)));
}

// [inherit:5]. Goes from the lock that is waited for to its holder, on to the lock that the holder waits for, and so
// on. Each step raises a level, so the walk ends, also where threads wait in a circle. A lock on the way exists,
// because the holder before it stands in its list, and leaves that only under the lock of inheritance ([inherit:1]).
void lend(lendable* to, int level) noexcept {
  while (to != nullptr) {
    // [inherit:2]: before the look at the holder. A holder that lets go without having seen the flag has let go by
    // then.
    to->word.lend();
    thread* const h = holder_of(*to);
    if (h == nullptr || !h->home->precedence().is_used() || level <= to->lent) return;
    const int before = h->level.load();
    set_loan(*to, *h, level);
    if (h->level.load() <= before) return;
    h->home->precedence().level_was_raised(*h, before);
    to = h->loans.blocked_on;
  }
}

}  // namespace

void forget_loans() noexcept { new (&loans) detail::spin_word; }

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

void begin_to_lend(lendable& to, detail::waiter& w) noexcept {
  std::lock_guard hold(loans);
  if (w.thread != nullptr) static_cast<thread*>(w.thread)->loans.blocked_on = &to;
  lend(&to, level_of(w));
}

void inherit(lendable& to, const detail::waiter_list& waiters) noexcept {
  std::lock_guard hold(loans);
  if (const detail::waiter* w = most_urgent(waiters); w != nullptr) lend(&to, level_of(*w));
}

void end_waiting(lendable& to, detail::waiter& w, const detail::waiter_list& waiters) noexcept {
  std::lock_guard hold(loans);
  if (w.thread != nullptr) static_cast<thread*>(w.thread)->loans.blocked_on = nullptr;
  thread* const h = holder_of(to);
  if (to.lent == lendable::nothing || h == nullptr) return;
  const detail::waiter* const most = most_urgent(waiters);
  set_loan(to, *h, most != nullptr ? std::min<int>(level_of(*most), to.lent) : lowest_level);
}

void set_holder(lendable& l, const detail::waiter& next) noexcept {
  l.word.hand_to(reinterpret_cast<std::uintptr_t>(next.thread));
}

void leave(lendable& from, detail::waiter* next, bool hand_over) noexcept {
  std::lock_guard hold(loans);
  auto* const successor = next != nullptr ? static_cast<thread*>(next->thread) : nullptr;
  if (successor != nullptr) successor->loans.blocked_on = nullptr;
  if (thread* const h = holder_of(from); h != nullptr && from.lent != lendable::nothing)
    set_loan(from, *h, lowest_level);
  from.lent = lendable::nothing;
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
