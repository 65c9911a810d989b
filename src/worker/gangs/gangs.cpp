#include "worker/gangs/gangs.hpp"

#include <algorithm>
#include <mutex>

#include "fiber/preemptible.hpp"
#include "worker/runtime.hpp"

namespace heddle::worker {

namespace {

bool is_nested_in(const gang& g, const gang& other) noexcept {
  for (const gang* p = g.parent; p != nullptr; p = p->parent) {
    if (p == &other) return true;
  }
  return false;
}

// [gang:2], [gang:14]
bool is_more_urgent(const gang& a, const gang& b) noexcept {
  if (a.lap != b.lap) return a.lap < b.lap;
  return a.level != b.level ? a.level > b.level : a.id < b.id;
}

template <class F>
void for_each_seat(gang& g, F f) noexcept {
  for (unsigned i = 0; i < g.size; ++i) {
    if (g.seats[i].has_come) f(g.seats[i]);
  }
}

}  // namespace

gangs::gangs(const worker_list& workers, unsigned most, bool by_load)
    : workers_(workers),
      by_load_(by_load),
      seats_at_(new std::atomic<seat*>[most]()),
      ticks_at_(new unsigned[most]()),
      marks_(new mark[most]()) {}

// --- seats at workers ----------------------------------------------------------------------------------------------
// All of this under lock_; the relaxed accesses of seats_at_ are ordered by it.

void gangs::sit_down(seat& s, unsigned rank) noexcept {
  s.worker = rank;
  s.below = seats_at_[rank].load(std::memory_order_relaxed);
  seats_at_[rank].store(&s, std::memory_order_relaxed);  // under lock_, as all here
}

void gangs::stand_up(seat& s) noexcept {
  seat* above = seats_at_[s.worker].load(std::memory_order_relaxed);  // under lock_, as the store
  if (above == &s) {
    seats_at_[s.worker].store(s.below, std::memory_order_relaxed);
    return;
  }
  while (above->below != &s) above = above->below;
  above->below = s.below;
}

// [gang:4]: returns true if no thread sits there, or only waiting threads of gangs that `g` is nested in. Where threads
// share workers, waiting threads of `g` itself may sit there, too.
bool gangs::is_free_for(const gang& g, unsigned rank) const noexcept {
  for (const seat* s = seats_at_[rank].load(std::memory_order_relaxed); s != nullptr; s = s->below) {
    if (s->of == &g && !s->active && g.left > count()) continue;
    if (s->active || !is_nested_in(g, *s->of)) return false;
  }
  return true;
}

// [gang:5]
bool gangs::may_run(const seat& s) const noexcept {
  return s.of->on && seats_at_[s.worker].load(std::memory_order_relaxed)->of == s.of;
}

// The innermost gang of the worker has changed.
void gangs::let_run(unsigned rank, threads_to_list& out) noexcept {
  seat* const top = seats_at_[rank].load(std::memory_order_relaxed);
  if (top != nullptr && top->of->ending) return;
  for (seat* s = top; s != nullptr && s->of == top->of; s = s->below) {
    if (s->withheld) out.add(*s);
  }
}

// --- which gang is on ----------------------------------------------------------------------------------------------

void gangs::wait_for_workers(gang& g) noexcept {
  gang** place = &waiting_;
  while (*place != nullptr && !is_more_urgent(g, **place)) place = &(*place)->next;
  g.next = *place;
  *place = &g;
  g.waits = true;
}

// The number of threads of gangs that sit at the worker.
unsigned gangs::load_of(unsigned rank) const noexcept {
  unsigned load = 0;
  for (const seat* s = seats_at_[rank].load(std::memory_order_relaxed); s != nullptr; s = s->below) ++load;
  return load;
}

// Chooses a worker for a thread of the gang that has none: the worker where it was before, else one that is idle, else
// any; or, [gang:17], one with at most `average` seats. Under packing the active ones come first. The worker whose
// processor belongs to a foreign kernel thread that takes part comes last. If there are more threads than workers, the
// further threads are dealt out to the workers in turn.
unsigned gangs::choose(const seat& s, unsigned average) noexcept {
  const auto is_preferred = [&](unsigned rank) {
    if (by_load_) return load_of(rank) <= average;
    return workers_[rank]->idle.load(std::memory_order_relaxed);  // a hint
  };
  const auto crowds = [&](unsigned rank) { return s.of->beside && rank == s.of->near; };
  if (marks_[s.worker] == mark::free && !crowds(s.worker) && is_preferred(s.worker)) return s.worker;
  unsigned best = count();
  int least = 0;
  for (unsigned i = 0; i < count(); ++i) {
    const unsigned r = (s.of->near + i) % count();
    if (marks_[r] == mark::taken) continue;
    const worker& w = *workers_[r];
    const int cost =
        (marks_[r] == mark::shared ? 4 : 0) + (w.is_inactive() || crowds(r) ? 2 : 0) + (is_preferred(r) ? 0 : 1);
    if (best != count() && cost >= least) continue;
    best = r;
    least = cost;
  }
  return best;
}

// [gang:3]: all at once or none. The holder of `stays` runs, and goes on where it is if it may.
bool gangs::put_on(gang& g, seat* stays) noexcept {
  unsigned free = 0, seats = 0;
  for (unsigned r = 0; r < count(); ++r) {
    if (by_load_) seats += load_of(r);
    const bool is_free = is_free_for(g, r);
    marks_[r] = is_free ? mark::free : mark::taken;
    free += is_free ? 1 : 0;
  }
  if (free < std::min(g.left, count())) return false;
  bool fits = true;
  for_each_seat(g, [&](const seat& s) {
    fits = fits && (s.own_worker < 0 || marks_[static_cast<unsigned>(s.own_worker)] != mark::taken);
  });
  if (!fits) return false;
  const auto give = [&](seat& s, unsigned rank) {
    marks_[rank] = mark::shared;
    s.worker = rank;
  };
  for_each_seat(g, [&](seat& s) {
    if (s.own_worker >= 0) give(s, static_cast<unsigned>(s.own_worker));
  });
  // After all pinned threads: it may run on the worker of one of them.
  if (stays != nullptr && stays->own_worker < 0) {
    if (marks_[stays->worker] == mark::free) give(*stays, stays->worker);
    else stays = nullptr;
  }
  unsigned shared = 0;
  for_each_seat(g, [&](seat& s) {
    if (s.own_worker >= 0 || &s == stays) return;
    unsigned rank = choose(s, seats / count());
    if (marks_[rank] == mark::shared) {
      do rank = shared++ % count();
      while (marks_[rank] == mark::taken);
    }
    give(s, rank);
  });
  for_each_seat(g, [&](seat& s) {
    s.ticks = 0;
    sit_down(s, s.worker);
  });
  g.on = true;
  g.lap = 0;
  return true;
}

// [gang:6]: none of the gang's threads is active; or, [gang:14], none of them runs.
void gangs::put_off(gang& g, threads_to_list& out) noexcept {
  g.on = g.ending = false;
  gang** place = &on_;
  while (*place != &g) place = &(*place)->next;
  *place = g.next;
  // All of them first: where several sit at one worker, this gang is the innermost there until the last has stood up,
  // and its withheld threads must stay withheld.
  for_each_seat(g, [&](seat& s) { stand_up(s); });
  out.freed = this;
  for_each_seat(g, [&](const seat& s) { let_run(s.worker, out); });
}

// Gangs that wait get workers, the most urgent first. Behind a gang that gets none only nested ones do, because the
// threads that the gang waits for may wait for nested ones ([gang:7]). Gangs that have had a time slice pass nobody
// ([gang:14]).
void gangs::serve(threads_to_list& out) noexcept {
  bool passed_over = false;
  for (gang** place = &waiting_; *place != nullptr;) {
    gang& g = **place;
    if (passed_over && g.lap != 0) break;
    if ((passed_over && g.level == 0) || !put_on(g)) {
      passed_over = true;
      place = &g.next;
      continue;
    }
    *place = g.next;
    g.waits = false;
    begin_to_run(g, out);
  }
}

// The gang was put on.
void gangs::begin_to_run(gang& g, threads_to_list& out) noexcept {
  g.next = on_;
  on_ = &g;
  for_each_seat(g, [&](seat& s) {
    if (s.withheld && may_run(s)) out.add(s);
  });
}

// --- the threads of a gang -----------------------------------------------------------------------------------------

void gangs::begin(gang& g, unsigned n, const thread* by, unsigned near) noexcept {
  std::lock_guard hold(lock_);
  g.parent = by != nullptr && by->home == &g.home && by->ties.belongs.is_seated() ? by->listed.seat->of : nullptr;
  g.level = g.parent != nullptr ? g.parent->level + 1 : 0;
  g.id = begun_++;
  g.size = g.to_come = g.left = n;
  g.active = 0;
  g.near = near;
  g.beside = by == nullptr;
  g.is_sliced = true;
  g.lap = 0;
  for (unsigned i = 0; i < n; ++i) {
    seat& s = g.seats[i];
    s.of = &g;
    s.worker = (near + i) % count();
    s.has_come = s.active = s.withheld = false;
  }
}

void gangs::take_in(seat& s, thread& t) noexcept {
  threads_to_list out;
  std::lock_guard hold(lock_);
  belong(s, t, out);
}

// The last thread that comes need not wait, if no gang is before its own.
bool gangs::enter(seat& s, thread& t, unsigned rank) noexcept {
  threads_to_list out;
  std::lock_guard hold(lock_);
  gang& g = *s.of;
  belong(s, t, out);
  if (g.to_come != 1 || (waiting_ != nullptr && !is_more_urgent(g, *waiting_))) return false;
  s.has_come = true;
  s.worker = rank;
  if (!put_on(g, &s)) {
    s.has_come = false;
    return false;
  }
  g.to_come = 0;
  s.active = true;
  ++g.active;
  begin_to_run(g, out);
  t.ties.belongs.seat(s.worker);
  return s.worker == rank && may_run(s);
}

void gangs::belong(seat& s, thread& t, threads_to_list& out) noexcept {
  if (t.preemptive == nullptr || !t.preemptive->how.preemptive()) s.of->is_sliced = false;
  s.holder = &t;
  s.outer = t.ties.belongs.is_seated() ? t.listed.seat : nullptr;
  s.own_worker = -1;
  if (s.outer != nullptr) {
    s.own_worker = s.outer->own_worker;
    rest(*s.outer, out);
  } else if (t.ties.belongs.is_pinned()) {
    s.own_worker = static_cast<int>(t.ties.belongs.rank());
  }
  t.listed.seat = &s;
  t.ties.belongs.seat(s.worker);
}

bool gangs::leave(thread& t, unsigned rank) noexcept {
  threads_to_list out;
  std::lock_guard hold(lock_);
  seat& s = *t.listed.seat;
  gang& g = *s.of;
  seat* const outer = s.outer;
  --g.left;
  if (g.on) {
    stand_up(s);
    out.freed = this;
    let_run(s.worker, out);
  }
  s.has_come = false;
  rest(s, out);
  bool goes_on = true;
  if (outer == nullptr) {
    if (s.own_worker >= 0) t.ties.belongs.pin(static_cast<unsigned>(s.own_worker));
    else t.ties.belongs.clear();
  } else {
    t.listed.seat = outer;
    t.ties.belongs.seat(outer->worker);
    goes_on = outer->worker == rank && may_run(*outer);
    if (goes_on) {
      outer->active = true;
      ++outer->of->active;
    }
  }
  serve(out);
  return goes_on;
}

// The seat's thread is active no more.
void gangs::rest(seat& s, threads_to_list& out) noexcept {
  if (!s.active) return;  // it has not come yet
  s.active = false;
  if (--s.of->active == 0) put_off(*s.of, out);
  else if (s.of->ending) put_off_if_still(*s.of, out);
  serve(out);
}

void gangs::wait(thread& t) noexcept {
  threads_to_list out;
  std::lock_guard hold(lock_);
  rest(*t.listed.seat, out);
}

void gangs::make_ready(thread& t) noexcept {
  threads_to_list out;
  std::lock_guard hold(lock_);
  seat& s = *t.listed.seat;
  gang& g = *s.of;
  if (!s.has_come) {
    s.has_come = true;
    --g.to_come;
  }
  if (!s.active) {
    s.active = true;
    ++g.active;
  }
  s.withheld = true;
  if (g.ending) {
    put_off_if_still(g, out);
    return serve(out);
  }
  if (may_run(s)) return out.add(s);
  if (g.on || g.waits || g.to_come != 0) return;
  wait_for_workers(g);
  serve(out);
}

}  // namespace heddle::worker
