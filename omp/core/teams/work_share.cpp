#include "omp/core/teams/work_share.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "omp/core/teams/doacross.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp {

namespace {

constexpr std::uint64_t free_for(std::uint64_t number) noexcept { return 3 * number; }
constexpr std::uint64_t taken_for(std::uint64_t number) noexcept { return 3 * number + 1; }
constexpr std::uint64_t set_up_for(std::uint64_t number) noexcept { return 3 * number + 2; }

// `turn` was changed; seq_cst throughout, with the waiter's count as the other side ([share:3]).
void tell(team& t, work_share& s) noexcept {
  if (s.waiters.load() != 0) t.wake_all();
}

}  // namespace

void work_shares::begin() noexcept {
  if (!used.load(std::memory_order_relaxed)) return;  // written by members of the last region, which have all arrived
  used.store(false, std::memory_order_relaxed);       // published with the region
  for (std::uint64_t i = 0; i < places; ++i) {
    work_share& s = ring[i];
    s.turn.store(free_for(i), std::memory_order_relaxed);  // published with the region, as all here
    s.left.store(0, std::memory_order_relaxed);
    free_doacross(s.across);
    std::free(s.memory);
    s.memory = nullptr;
  }
}

work_share& enter_share(thread& self, std::uint64_t& number, void (*first)(work_share&, void*), void* argument) {
  team& t = *self.in;
  number = self.work.constructs++;
  work_share& s = t.shares.ring[number % work_shares::places];
  for (;;) {
    std::uint64_t turn = s.turn.load(std::memory_order_acquire);  // pairs with the stores below: what was set up
    if (turn == set_up_for(number)) return s;
    if (turn == free_for(number) && s.turn.compare_exchange_strong(turn, taken_for(number))) {
      s.next.store(0, std::memory_order_relaxed);  // published by `turn`, as all here
      s.ordered.store(0, std::memory_order_relaxed);
      s.cancelled.store(false, std::memory_order_relaxed);
      s.reductions = nullptr;
      // gcc's scans use it after the end of the construct, up to the second barrier behind it; the place comes round
      // again only later.
      std::free(std::exchange(s.memory, nullptr));
      if (!t.shares.used.load(std::memory_order_relaxed))  // read at the next region's begin
        t.shares.used.store(true, std::memory_order_relaxed);
      if (first != nullptr) first(s, argument);
      s.turn.store(set_up_for(number));
      tell(t, s);
      return s;
    }
    s.waiters.fetch_add(1);
    self.parked.wait([&] {
      const std::uint64_t now = s.turn.load();
      return now == set_up_for(number) || now == free_for(number);
    });
    s.waiters.fetch_sub(1);
  }
}

void leave_share(thread& self, work_share& s, std::uint64_t number) {
  team& t = *self.in;
  if (s.left.fetch_add(1) + 1 != t.size) return;
  s.left.store(0, std::memory_order_relaxed);  // published by `turn`
  free_doacross(s.across);
  s.turn.store(free_for(number + work_shares::places));
  tell(t, s);
}

void begin_loop(thread& self, const loop_plan& plan, void (*first)(work_share&, void*), void* argument) {
  work_cursor& c = self.work;
  if (c.share != nullptr) end_loop(self);  // a cancelled one, which nobody has ended
  c.plan = plan;
  c.in_loop = true;
  c.at = self.number;
  c.now = {};
  c.ordered_done = false;
  if (plan.kind == schedule_kind::automatic) {
    c.plan.kind = schedule_kind::of_static;
    c.plan.chunk = 0;
  } else if (plan.kind == schedule_kind::trapezoidal) {
    c.plan.kind = schedule_kind::of_guided;
  }
  if (c.plan.kind != schedule_kind::of_static && c.plan.chunk == 0) c.plan.chunk = 1;
  // One thread gets all at once: nobody else takes any.
  if (self.in->size == 1 && !plan.ordered && !plan.shared && !plan.sections) {
    c.plan.at_once = std::exchange(c.plan.kind, schedule_kind::of_static) == schedule_kind::of_dynamic;
    c.plan.chunk = 0;
    return;
  }
  if (c.plan.kind == schedule_kind::of_static && !plan.ordered && !plan.shared) return;
  c.share = &enter_share(self, c.share_number, first, argument);
}

bool next_block(thread& self) {
  work_cursor& c = self.work;
  const loop_plan& p = c.plan;
  const std::uint64_t members = self.in->size;
  if (c.share != nullptr && c.share->cancelled.load(std::memory_order_relaxed)) return false;  // seen at the next block
  switch (p.kind) {
    case schedule_kind::of_dynamic: {
      // Relaxed: a counter that hands out numbers; what the iterations write is published by barriers.
      const std::uint64_t chunks = chunks_of(p.trips, p.chunk);
      std::atomic<std::uint64_t>& next = c.share->next;
      if (next.load(std::memory_order_relaxed) >= chunks) return false;
      const std::uint64_t k = next.fetch_add(1, std::memory_order_relaxed);
      if (k >= chunks) return false;
      c.now.first = k * p.chunk;
      c.now.count = std::min(p.chunk, p.trips - c.now.first);
      break;
    }
    case schedule_kind::of_guided: {
      std::atomic<std::uint64_t>& next = c.share->next;
      std::uint64_t first = next.load(std::memory_order_relaxed);  // as above
      std::uint64_t count;
      do {
        if (first >= p.trips) return false;
        const std::uint64_t rest = p.trips - first;
        count = std::max(p.chunk, rest / members + (rest % members != 0 ? 1 : 0));
        if (p.grain > 1) count = (count + p.grain - 1) / p.grain * p.grain;
        count = std::min(rest, count);
      } while (!next.compare_exchange_weak(first, first + count, std::memory_order_relaxed));
      c.now = {first, count};
      break;
    }
    default: {
      constexpr std::uint64_t over = std::numeric_limits<std::uint64_t>::max();
      if (c.at == over) return false;
      if (p.chunk == 0) {
        c.now = even_part(p.trips, self.number, members);
        c.at = over;
        if (c.now.count == 0) return false;
        break;
      }
      if (c.at >= chunks_of(p.trips, p.chunk)) return false;
      c.now.first = c.at * p.chunk;
      c.now.count = std::min(p.chunk, p.trips - c.now.first);
      c.at = c.at > over - members ? over : c.at + members;
    }
  }
  c.ordered_at = c.now.first;
  return true;
}

void end_loop(thread& self) {
  work_cursor& c = self.work;
  c.in_loop = false;
  if (c.share == nullptr) return;
  work_share& s = *c.share;
  c.share = nullptr;
  leave_share(self, s, c.share_number);
}

void cancel_loop(thread& self) {
  if (self.work.share != nullptr) self.work.share->cancelled.store(true, std::memory_order_relaxed);  // see next_block
}

bool loop_is_cancelled(const thread& self) noexcept {
  // relaxed: the member itself has cancelled the loop or has seen next_block return false for it
  return self.work.share->cancelled.load(std::memory_order_relaxed) ||
         self.in->cancelled.load(std::memory_order_relaxed);
}

bool take_single(thread& self) noexcept {
  std::atomic<std::uint32_t>& count = self.in->singles;
  std::uint32_t mine = self.work.singles++;
  if (self.in->size == 1) return true;
  // Relaxed: it decides who; data goes by barriers.
  if (count.load(std::memory_order_relaxed) != mine) return false;
  return count.compare_exchange_strong(mine, mine + 1, std::memory_order_relaxed);
}

namespace {

void wait_for_turn(thread& self, work_share& s, std::uint64_t iteration) {
  // acquire pairs with pass_turn: the ordered parts before this one
  if (s.ordered.load(std::memory_order_acquire) == iteration) return;
  self.parked.wait([&] { return s.ordered.load(std::memory_order_acquire) == iteration; });
}

void pass_turn(thread& self, work_share& s, std::uint64_t next) {
  s.ordered.store(next, std::memory_order_release);  // pairs with wait_for_turn
  if (self.in->size > 1) self.in->wake_all();
}

}  // namespace

void begin_ordered(thread& self) {
  work_cursor& c = self.work;
  if (c.share != nullptr) wait_for_turn(self, *c.share, c.ordered_at);
}

void end_ordered(thread& self) {
  work_cursor& c = self.work;
  if (c.share == nullptr || c.ordered_done) return;
  c.ordered_done = true;
  pass_turn(self, *c.share, c.ordered_at + 1);
}

void end_ordered_iteration(thread& self) {
  work_cursor& c = self.work;
  if (c.share == nullptr || !c.plan.ordered) return;
  if (!c.ordered_done) {
    wait_for_turn(self, *c.share, c.ordered_at);
    pass_turn(self, *c.share, c.ordered_at + 1);
  }
  c.ordered_done = false;
  ++c.ordered_at;
}

// Block by block (GNU ABI): the turn belongs to a whole block, and goes on when its member asks for the next one.
void wait_for_ordered_block(thread& self) {
  work_cursor& c = self.work;
  if (c.share != nullptr && c.now.count != 0) wait_for_turn(self, *c.share, c.now.first);
}

void pass_ordered_block(thread& self) {
  work_cursor& c = self.work;
  if (c.share == nullptr || c.now.count == 0) return;
  wait_for_turn(self, *c.share, c.now.first);
  pass_turn(self, *c.share, c.now.first + c.now.count);
  c.now.count = 0;
}

}  // namespace heddle::omp
