#include "omp/core/teams/members.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <system_error>

#include <heddle/detail/residents.hpp>

#include "omp/core/places/binding.hpp"
#include "omp/core/settings/affinity_format.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/tasks/task_reduction.hpp"
#include "omp/core/tasks/taskwait.hpp"
#include "omp/core/teams/member_kind.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/team_gang.hpp"
#include "omp/core/teams/thread.hpp"
#include "omp/ompt/regions.hpp"
#include "omp/ompt/work.hpp"

namespace heddle::omp {

namespace {

// The user-level members of all teams, asleep or not.
constinit std::atomic<int> members_alive{0};

// The idle wait of a member between two regions. Returns true if there is another region for it. `told`: a tool has
// heard that the member has come to the barrier of the region's end, and must hear of the end of that barrier.
bool idle_wait(thread& self, team& t, std::uint32_t seen, std::uint32_t phase, bool told) {
  for (;;) {
    bool goes = false;
    bool over = false;
    // The sign that there may be a task is a hint, confirmed by help.
    park_for_task(
        self, nullptr,
        [&] {
          // pairs with begin_region and dismiss: makes the description of the region visible
          goes = self.go.load(std::memory_order_acquire) != seen;
          if (told) [[unlikely]]
            over = t.joined.is_over(phase);
          return goes || over;
        },
        [] {}, [&] { return !t.joined.is_over(phase); });
    if (told && (goes || over)) [[unlikely]] {
      ompt::join_ends(self);
      told = false;
      if (!goes) continue;
    }
    if (goes) return !self.stops.load(std::memory_order_relaxed);  // relaxed: published by the go flag
    if (!t.joined.help(self, t, phase)) heddle::detail::yield();
  }
}

void live(thread& self, team& t, unsigned number) {
  const heddle::thread_slot<thread>::scope bound(current_slot, &self);
  std::uint32_t seen = 1;
  std::uint32_t phase;
  bool told;
  if (ompt::on()) [[unlikely]]
    ompt::member_begins(self);
  do {
    if (t.is_gang) [[unlikely]]
      enter_gang(self, t, number);
    begin_part(self, t, number);
    self.given.call(self.given.data, self);
    told = ompt::on();
    if (told) [[unlikely]]
      ompt::join_begins(self);
    end_part(self);
    // relaxed: the leader does not raise it again before this member's arrival
    seen = self.go.load(std::memory_order_relaxed);
    if (t.is_gang) [[unlikely]]
      heddle::detail::leave_gang();
    phase = t.joined.arrive(t);
  } while (idle_wait(self, t, seen, phase, told));
  dismiss_teams(self);
  if (ompt::on()) [[unlikely]]
    ompt::member_ends(self);
}

[[noreturn]] void cannot_make(unsigned number, unsigned size, const char* why) noexcept {
  std::fflush(stdout);
  std::fprintf(stderr, "heddle: OpenMP: thread %u of a team of %u cannot be made: %s\n", number, size, why);
  std::_Exit(1);
}

bool should_be_preemptive(const team& t, bool is_bound) noexcept {
  switch (preempting()) {
    case preempt_members::on: return true;
    case preempt_members::off: return false;
    case preempt_members::automatic: break;
  }
  if (is_bound) return true;            // to a worker to which others may be bound
  if (may_be_in_gangs(t)) return true;  // which are given time slices: [region_gang:3]
  // At least one worker never runs a thread that keeps it. So members that find no worker of their own get time slices
  // there. Threads that wait behind a thread that is not preemptive are taken from there ([members:2]).
  return members_alive.load() + 1 >= active_count::processors.load();
}

}  // namespace

void begin_part(thread& self, team& t, unsigned number) {
  self.in = &t;
  self.number = number;
  task& mine = t.implicit[number];
  begin_implicit(mine, t, number);
  self.running = &mine;
  if (t.outer != nullptr && ompt::on()) [[unlikely]]
    ompt::implicit_task_begins(self);
  work_cursor& c = self.work;
  c.constructs = 0;
  c.singles = 0;
  c.share = c.across = nullptr;
  c.in_loop = false;
  if (t.reduction_words != nullptr) begin_region_words(self, t.reduction_words);
  if (t.has_loop) {
    begin_loop(self, t.loop);
    if (ompt::on()) [[unlikely]]
      ompt::loop_begins(self, t.tool.code);
  }
  if (t.level > 0 && process_environment().display_affinity) [[unlikely]]
    display_affinity_of_member(self);
}

void end_part(thread& self) {
  work_cursor& c = self.work;
  if (c.share != nullptr) end_loop(self);
  if (self.in->reduction_words != nullptr) end_group(self);
}

void make_room(team& t, unsigned n) {
  if (n <= t.room) return;
  auto members = std::make_unique<thread*[]>(n);
  for (unsigned i = 0; i < t.manned; ++i) members[i] = t.members[i];
  for (unsigned i = 0; i < t.room; ++i) drop_own_variables(t.implicit[i]);
  t.members = std::move(members);
  t.implicit = std::make_unique<implicit_task[]>(n);
  t.room = n;
}

void recruit(team& t, unsigned n, region_body body) {
  // [members:4] The leader is one kernel thread more than there are workers for its members and those of other teams.
  if (!is_user_level() && members_alive.load() + static_cast<int>(n - t.manned) >= active_count::processors.load())
    heddle::detail::crowd(heddle::runtime::current());
  for (unsigned number = t.manned; number < n; ++number) {
    thread& made = thread::make();
    t.members[number] = &made;
    // The member begins with the present region: idle_wait.
    made.go.store(1, std::memory_order_relaxed);
    made.counts = true;
    made.given = body;
    made.placed = t.variables.places.count != 0 ? place_of(t, number) : -1;
  }
}

namespace {

void start_member(team& t, unsigned number, unsigned n) {
  thread& made = *t.members[number];
  heddle::thread_options options;
  options.stack_size = stack_size();
  options.name = "OpenMP";
  const bool is_bound = made.placed >= 0 && bind_member(options, number, made.placed);
  made.bound = is_bound ? made.placed : -1;
  const bool is_placed = !is_bound && placing::on() && t.level == 1 && is_user_level();
  const unsigned workers = heddle::runtime::current().workers();
  if (is_placed)  // beside the leader, a worker each
    options.worker = static_cast<std::uint16_t>((heddle::detail::current_rank() + number) % workers);
  const bool preemptive = should_be_preemptive(t, is_bound || (is_placed && n > workers));
  active_count::awake.fetch_add(1);
  members_alive.fetch_add(1);
  while (!made.fiber) {
    const member_kind kind = set_kind(options, preemptive);
    made.preemptive = options.preemption != heddle::preemption::none;
    try {
      made.fiber.emplace(options, [&made, &t, number] { live(made, t, number); });
    } catch (const std::system_error& e) {
      if (e.code() != std::errc::not_supported || !settle_for_less(kind, e.what())) cannot_make(number, n, e.what());
    } catch (const std::exception& e) {
      cannot_make(number, n, e.what());
    }
  }
}

}  // namespace

void start_recruits(team& t, unsigned n) {
  count_in(*t.leader);
  t.home = &heddle::runtime::current();
  for (; t.manned < n; ++t.manned) {
    start_member(t, t.manned, n);
    heddle::detail::count_resident(*t.home);
  }
}

void dismiss(team& t) {
  for (unsigned i = 1; i < t.manned; ++i) {
    thread& member = *t.members[i];
    heddle::detail::count_out_resident(*t.home);
    member.stops.store(true, std::memory_order_relaxed);  // published by the go flag
    member.go.fetch_add(1);
    member.parker.wake();
  }
  for (unsigned i = 1; i < t.manned; ++i) {
    thread& member = *t.members[i];
    member.fiber->join();
    member.fiber.reset();
    active_count::awake.fetch_sub(1);
    members_alive.fetch_sub(1);
    thread::drop(member);
  }
  t.manned = 1;
}

void forget_members() noexcept { members_alive.store(0); }

}  // namespace heddle::omp
