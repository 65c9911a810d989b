#include "omp/core/teams/team.hpp"

#include <algorithm>
#include <limits>

#include "omp/core/places/binding.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/tasks/task_reduction.hpp"
#include "omp/core/teams/members.hpp"
#include "omp/core/teams/team_gang.hpp"
#include "omp/core/teams/thread.hpp"
#include "omp/ompt/regions.hpp"

namespace heddle::omp {

team::~team() {
  for (unsigned i = 0; i < room; ++i) drop_own_variables(implicit[i]);
  beside.reset();
  if (gang != nullptr) heddle::detail::free_gang(gang);
}

void team::wake_all() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (unsigned i = 0; i < size; ++i) members[i]->parker.wake_after_fence();
}

unsigned threads_for(const thread& self, const region_options& how) noexcept {
  const control_variables& v = *self.running->variables;
  if (how.serial || self.in->active_level >= v.max_active_levels) return 1;
  int wanted = how.threads > 0 ? how.threads : self.next.threads > 0 ? self.next.threads : v.threads;
  if (v.dynamic) wanted = std::min(wanted, process_environment().workers);
  wanted = std::min(wanted, v.thread_limit);
  return static_cast<unsigned>(std::max(wanted, 1));
}

namespace {

// The team with which the contention group of `region` begins.
team& group_of(team& region) noexcept {
  team* t = &region;
  while (t->outer != nullptr && !t->begins_group) t = t->outer;
  return *t;
}

// Returns how many of `wanted` threads a region of the caller's gets under thread-limit-var of its contention group: 1,
// the caller itself, at least. The others are counted in the group, and in `reserved`.
unsigned reserve_threads(const thread& self, unsigned wanted, unsigned& reserved) noexcept {
  reserved = 0;
  const int limit = self.running->variables->thread_limit;
  if (wanted <= 1 || limit == std::numeric_limits<int>::max()) [[likely]]
    return wanted;
  std::atomic<unsigned>& count = group_of(*self.in).threads_of_group;
  const unsigned most = static_cast<unsigned>(limit) - 1;
  unsigned busy = count.load(std::memory_order_relaxed);  // relaxed: a count that publishes nothing
  do {
    reserved = std::min(wanted - 1, busy < most ? most - busy : 0);
  } while (reserved != 0 && !count.compare_exchange_weak(busy, busy + reserved, std::memory_order_relaxed));
  return reserved + 1;
}

// The number of threads that the region's clauses or the control variable ask for, before anything cuts it.
unsigned requested_by(const thread& self, const region_options& how) noexcept {
  if (how.serial) return 1;
  if (how.league) return static_cast<unsigned>(how.league_size);
  const int clause = how.threads > 0 ? how.threads : self.next.threads;
  return static_cast<unsigned>(clause > 0 ? clause : self.running->variables->threads);
}

team& team_here(thread& self) {
  team*& kept = *self.kept_at;
  if (kept == nullptr) {
    kept = new team;
    kept->leader = &self;
    make_room(*kept, 1);
    kept->members[0] = &self;
    kept->manned = 1;
  }
  return *kept;
}

// Writes only a value that differs, because a line that no thread writes stays in its readers' caches.
template <class T>
void change(T& there, const T& value) noexcept {
  if (!(there == value)) there = value;
}
template <class T>
void change(std::atomic<T>& there, T value) noexcept {
  // relaxed: published with the region, by the members' go flags
  if (there.load(std::memory_order_relaxed) != value) there.store(value, std::memory_order_relaxed);
}

}  // namespace

team& begin_region(thread& self, const region_options& how, region_body body) {
  unsigned reserved = 0;
  unsigned n = threads_for(self, how);
  if (!how.league) n = reserve_threads(self, n, reserved);  // each team of a league is a contention group of its own
  team& t = team_here(self);
  if (gangs_are_asked_for()) [[unlikely]]
    suit_members_to_gangs(self, t);
  const bool told = ompt::on();
  if (told) [[unlikely]]
    ompt::prepare_region(t);
  t.tasks.prepare(n);
  const team& outer = *self.in;
  t.saved_work = self.work;
  t.saved_kept_at = self.kept_at;
  change(t.size, n);
  change(t.reserved, reserved);
  change(t.outer, self.in);
  change(t.outer_number, self.number);
  change(t.outer_task, self.running);
  change(t.level, outer.level + (how.league ? 0 : 1));
  change(t.active_level, outer.active_level + (n > 1 && !how.league ? 1 : 0));
  const bool is_team_of_league = how.league_number >= 0;
  change(t.league_number, is_team_of_league ? how.league_number : outer.league_number);
  change(t.league_size, is_team_of_league ? how.league_size : outer.league_size);
  change(t.begins_group, is_team_of_league);
  change(t.has_loop, how.loop != nullptr);
  if (how.loop != nullptr) t.loop = *how.loop;
  change(t.data_of_code, how.data);
  change(t.reduction_words, how.reductions);
  change(t.variables, variables_of_region(self, how));
  if (t.variables.places.count != 0) [[unlikely]] {
    if (how.league && t.variables.places.bind != bind_kind::no)
      t.variables.places.bind = process_environment().league_bind;
    settle_places(t, n);
  }
  if (how.reductions != nullptr) register_words(how.reductions, nullptr, nullptr, n);
  // The values that members have written in the region before. All of them have arrived since, and the go flags publish
  // these stores to the next members.
  t.shares.begin();
  change(t.singles, 0u);
  change(t.tasked, false);
  if (t.cancelled.load(std::memory_order_relaxed)) t.barrier.forget_arrivals();
  change(t.cancelled, false);
  t.cancellations.forget();
  if (told) [[unlikely]]
    ompt::region_begins(self, t, how, requested_by(self, how));
  self.next = {};
  self.did.region(n, t.level);
  change(t.is_gang, n > 1 && shall_be_gang(self, t, how));
  if (n > 1) {
    if (t.is_gang) [[unlikely]]
      begin_gang(t);
    make_room(t, n);
    const unsigned there = std::min(n, t.manned);
    if (there < n) recruit(t, n, body);
    for (unsigned i = 1; i < there; ++i) {
      t.members[i]->given = body;
      std::atomic<std::uint32_t>& go = t.members[i]->go;
      // written by this thread alone; release pairs with idle_wait: publishes all of the above
      go.store(go.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (t.is_gang) [[unlikely]] {
      for (unsigned i = 1; i < there; ++i) wake_into_gang(t, i);
    } else {
      for (unsigned i = 1; i < there; ++i) t.members[i]->parker.wake_after_fence();
    }
    if (there < n) start_recruits(t, n);
    if (t.is_gang && t.led_inside) [[unlikely]]
      enter_gang(self, t, 0);
  }
  self.kept_at = &t.deeper;
  begin_part(self, t, 0);
  return t;
}

namespace {

// A region inside another one may have had its leader at a place of its own.
void leave_place(thread& self) noexcept {
  if (self.bound < 0) return;
  if (self.in->level == 0 && self.in->league_size == 1 && process_environment().places.reset) unbind_caller(self);
  else bind_caller(self, place_of(*self.in, self.number));
}

}  // namespace

void end_region(thread& self) {
  team& t = *self.in;
  const bool told = ompt::on();
  if (told) [[unlikely]]
    ompt::join_begins(self);
  end_part(self);
  if (t.is_gang) [[unlikely]]
    leave_gang(t);
  // relaxed: in a team of one only the caller itself makes the first task
  if (t.size > 1 || t.tasked.load(std::memory_order_relaxed)) t.joined.wait_for_members(self, t);
  if (told) [[unlikely]] {
    t.wake_all();  // members tell of the end when they see it
    ompt::join_ends(self);
  }
  if (t.reserved != 0) [[unlikely]]
    group_of(*t.outer).threads_of_group.fetch_sub(t.reserved, std::memory_order_relaxed);  // as in reserve_threads
  self.in = t.outer;
  self.number = t.outer_number;
  self.running = t.outer_task;
  self.work = t.saved_work;
  self.kept_at = t.saved_kept_at;
  if (t.variables.places.count != 0) [[unlikely]]
    leave_place(self);
  if (told) [[unlikely]]
    ompt::region_ends(self, t);
}

team& begin_league_member(thread& self, int number, int teams, int threads) {
  region_options how;
  how.serial = true;
  how.league_number = number;
  how.league_size = teams;
  team& t = begin_region(self, how, {});
  t.level = t.outer->level;
  if (t.variables.places.count != 0 && t.variables.places.bind != bind_kind::no) {
    placement& where = t.variables.places;
    const placement& all = t.outer->variables.places;
    where = {all.first, all.count, all.parent, process_environment().league_bind};
    const member_place mine = place_of_member(where, static_cast<unsigned>(number), static_cast<unsigned>(teams));
    where = {mine.first, mine.count, mine.place, bind_kind::primary};
    bind_caller(self, mine.place);
  }
  if (threads > 0) {
    t.variables.thread_limit = threads;
    t.variables.threads = std::min(t.variables.threads, threads);
  }
  return t;
}

void run_region(thread& self, const region_options& how, region_body body) {
  if (ompt::on()) [[unlikely]]
    return ompt::run_region(self, how, body);
  begin_region(self, how, body);
  body.call(body.data, self);
  end_region(self);
}

bool wait_at_barrier(thread& self, bool cancellable) {
  team& t = *self.in;
  // A member that saw its loop cancelled leaves the loop without a call. A combined construct of the GNU ABI has its
  // loop open before the first block is asked for, and gcc puts a barrier there (sections with firstprivate and
  // lastprivate).
  if (self.work.share != nullptr && loop_is_cancelled(self)) end_loop(self);
  if (t.size == 1 && !t.tasked.load(std::memory_order_relaxed)) {
    if (t.cancellations.any()) [[unlikely]]
      t.barrier.begin_next();  // they belong to the phase that ends here
    return cancellable && t.cancelled.load(std::memory_order_relaxed);
  }
  return t.barrier.wait(self, t, cancellable);
}

void dismiss_teams(thread& self) {
  for (team* t = std::exchange(self.kept, nullptr); t != nullptr;) {
    dismiss(*t);
    delete std::exchange(t, t->deeper);
  }
  self.kept_at = &self.kept;
}

}  // namespace heddle::omp
