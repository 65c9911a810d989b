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

// Called when `phase` was changed. All accesses are seq_cst; the waiter's count is the other side ([share:3]).
void tell(team& t, work_share& s) noexcept {
  if (s.waiters.load() != 0) t.wake_all();
}

}  // namespace

void work_shares::begin() noexcept {
  // relaxed: written by members of the last region, which have all arrived
  if (!used.load(std::memory_order_relaxed)) return;
  used.store(false, std::memory_order_relaxed);  // relaxed: published with the region
  for (std::uint64_t i = 0; i < slots; ++i) {
    work_share& s = ring[i];
    s.phase.store(free_for(i), std::memory_order_relaxed);  // relaxed: published with the region, as all here
    s.left.store(0, std::memory_order_relaxed);
    free_doacross(s.across);
    std::free(s.memory);
    s.memory = nullptr;
  }
}

work_share& enter_share(thread& self, std::uint64_t& number, void (*first)(work_share&, void*), void* argument) {
  team& t = *self.in;
  number = self.work.constructs++;
  work_share& s = t.shares.ring[number % work_shares::slots];
  for (;;) {
    // pairs with the stores below: makes visible what was set up
    std::uint64_t phase = s.phase.load(std::memory_order_acquire);
    if (phase == set_up_for(number)) return s;
    if (phase == free_for(number) && s.phase.compare_exchange_strong(phase, taken_for(number))) {
      s.next.store(0, std::memory_order_relaxed);  // relaxed: published by `phase`, as all here
      s.ordered.store(0, std::memory_order_relaxed);
      s.cancelled.store(false, std::memory_order_relaxed);
      s.reductions = nullptr;
      // gcc's scans use the memory after the end of the construct, up to the second barrier behind it. The slot comes
      // round again only after that.
      std::free(std::exchange(s.memory, nullptr));
      if (!t.shares.used.load(std::memory_order_relaxed))  // relaxed: read at the beginning of the next region
        t.shares.used.store(true, std::memory_order_relaxed);
      if (first != nullptr) first(s, argument);
      s.phase.store(set_up_for(number));
      tell(t, s);
      return s;
    }
    s.waiters.fetch_add(1);
    self.parker.wait([&] {
      const std::uint64_t now = s.phase.load();
      return now == set_up_for(number) || now == free_for(number);
    });
    s.waiters.fetch_sub(1);
  }
}

void leave_share(thread& self, work_share& s, std::uint64_t number) {
  team& t = *self.in;
  if (s.left.fetch_add(1) + 1 != t.size) return;
  s.left.store(0, std::memory_order_relaxed);  // relaxed: published by `phase`
  free_doacross(s.across);
  s.phase.store(free_for(number + work_shares::slots));
  tell(t, s);
}

void begin_loop(thread& self, const loop_plan& plan, void (*first)(work_share&, void*), void* argument) {
  work_cursor& c = self.work;
  // A cancelled loop, which no call has ended.
  if (c.share != nullptr) end_loop(self);
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
  // In a team of one the thread gets all iterations at once, because no other thread takes any.
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
  c.service.boundary();
  const loop_plan& p = c.plan;
  const std::uint64_t members = self.in->size;
  // relaxed: seen at the next block
  if (c.share != nullptr && c.share->cancelled.load(std::memory_order_relaxed)) return false;
  switch (p.kind) {
    case schedule_kind::of_dynamic: {
      // relaxed: a counter that hands out numbers; barriers publish what the iterations write
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
      std::uint64_t first = next.load(std::memory_order_relaxed);  // relaxed as above
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
  // relaxed: see next_block
  if (self.work.share != nullptr) self.work.share->cancelled.store(true, std::memory_order_relaxed);
}

bool loop_is_cancelled(const thread& self) noexcept {
  // relaxed: the member itself has cancelled the loop or has seen next_block return false for it
  return self.work.share->cancelled.load(std::memory_order_relaxed) ||
         self.in->cancelled.load(std::memory_order_relaxed);
}

bool take_single(thread& self) noexcept {
  // The policy knows the leader's implicit task as a root, which it lays out; and others' as threads of no concern.
  if (placing::on() && self.in->level == 1) [[unlikely]]
    return self.number == 0;
  std::atomic<std::uint32_t>& count = self.in->singles;
  std::uint32_t mine = self.work.singles++;
  if (self.in->size == 1) return true;
  // relaxed: it decides only which member runs the construct; barriers publish data
  if (count.load(std::memory_order_relaxed) != mine) return false;
  return count.compare_exchange_strong(mine, mine + 1, std::memory_order_relaxed);
}

namespace {

void wait_for_ordered(thread& self, work_share& s, std::uint64_t iteration) {
  // acquire pairs with pass_ordered_on: makes visible the earlier ordered parts
  if (s.ordered.load(std::memory_order_acquire) == iteration) return;
  self.parker.wait([&] { return s.ordered.load(std::memory_order_acquire) == iteration; });
}

void pass_ordered_on(thread& self, work_share& s, std::uint64_t next) {
  s.ordered.store(next, std::memory_order_release);  // pairs with wait_for_ordered
  if (self.in->size > 1) self.in->wake_all();
}

}  // namespace

void begin_ordered(thread& self) {
  work_cursor& c = self.work;
  if (c.share != nullptr) wait_for_ordered(self, *c.share, c.ordered_at);
}

void end_ordered(thread& self) {
  work_cursor& c = self.work;
  if (c.share == nullptr || c.ordered_done) return;
  c.ordered_done = true;
  pass_ordered_on(self, *c.share, c.ordered_at + 1);
}

void end_ordered_iteration(thread& self) {
  work_cursor& c = self.work;
  if (c.share == nullptr || !c.plan.ordered) return;
  if (!c.ordered_done) {
    wait_for_ordered(self, *c.share, c.ordered_at);
    pass_ordered_on(self, *c.share, c.ordered_at + 1);
  }
  c.ordered_done = false;
  ++c.ordered_at;
}

// Block by block (GNU ABI): the ordered part belongs to a whole block, and moves on when the block's member asks for
// the next block.
void wait_for_ordered_block(thread& self) {
  work_cursor& c = self.work;
  if (c.share != nullptr && c.now.count != 0) wait_for_ordered(self, *c.share, c.now.first);
}

void pass_ordered_block(thread& self) {
  work_cursor& c = self.work;
  if (c.share == nullptr || c.now.count == 0) return;
  wait_for_ordered(self, *c.share, c.now.first);
  pass_ordered_on(self, *c.share, c.now.first + c.now.count);
  c.now.count = 0;
}

}  // namespace heddle::omp
