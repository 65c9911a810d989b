#include "omp/core/members.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "omp/core/affinity_format.hpp"
#include "omp/core/environment.hpp"
#include "omp/core/task_reduction.hpp"
#include "omp/core/taskwait.hpp"
#include "omp/core/team.hpp"
#include "omp/core/thread.hpp"

namespace heddle::omp {

namespace {

// User-level members of all teams, asleep or not.
constinit std::atomic<int> members_alive{0};

// What a member does with its worker between two regions. True: there is another region for it.
bool dock(thread& self, team& t, std::uint32_t seen, std::uint32_t phase) {
  for (;;) {
    bool ordered = false;
    // That there may be a task is a hint, confirmed by help.
    park_for_task(
        self, nullptr,
        [&] {
          ordered = self.order.load(std::memory_order_acquire) != seen;  // pairs with begin_region, dismiss: what it is
          return ordered;
        },
        [] {}, [&] { return !t.joined.is_over(phase); });
    if (ordered) return !self.stops.load(std::memory_order_relaxed);  // published by the order
    if (!t.joined.help(self, t, phase)) heddle::detail::yield();
  }
}

void live(thread& self, team& t, unsigned number) {
  const heddle::thread_slot<thread>::scope bound(current_slot, &self);
  std::uint32_t seen = 1;
  std::uint32_t phase;
  do {
    begin_part(self, t, number);
    self.given.call(self.given.data, self);
    end_part(self);
    seen = self.order.load(std::memory_order_relaxed);  // the leader gives no other order before this member's arrival
    phase = t.joined.arrive(t);
  } while (dock(self, t, seen, phase));
  dismiss_teams(self);
}

[[noreturn]] void cannot_make(unsigned number, unsigned size, const char* why) noexcept {
  std::fflush(stdout);
  std::fprintf(stderr, "heddle: OpenMP: thread %u of a team of %u cannot be made: %s\n", number, size, why);
  std::_Exit(1);
}

bool should_be_preemptive() noexcept {
  switch (preempting()) {
    case preempt_members::on: return true;
    case preempt_members::off: return false;
    case preempt_members::automatic: break;
  }
  // One worker at least never runs a thread that keeps it, so those that find none of their own have turns there; what
  // waits behind a thread that is not preemptive is taken from there ([members:2]).
  return members_alive.load() + 1 >= demand::processors.load();
}

}  // namespace

void begin_part(thread& self, team& t, unsigned number) {
  self.in = &t;
  self.number = number;
  task& mine = t.implicit[number];
  begin_implicit(mine, t);
  self.running = &mine;
  work_cursor& c = self.work;
  c.constructs = 0;
  c.singles = 0;
  c.share = c.across = nullptr;
  c.in_loop = false;
  if (t.reduction_words != nullptr) begin_region_words(self, t.reduction_words);
  if (t.has_loop) begin_loop(self, t.loop);
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
  count_in(*t.leader);
  for (; t.manned < n; ++t.manned) {
    thread& made = thread::make();
    const unsigned number = t.manned;
    t.members[number] = &made;
    made.order.store(1, std::memory_order_relaxed);  // it begins with what there is: dock
    made.counts = true;
    made.given = body;
    heddle::thread_options options;
    options.stack_size = stack_size();
    options.name = "OpenMP";
    options.tls = heddle::tls::own;
    options.preemption = should_be_preemptive() ? heddle::preemption::signal_yield : heddle::preemption::none;
    demand::awake.fetch_add(1);
    members_alive.fetch_add(1);
    try {
      made.fiber.emplace(options, [&made, &t, number] { live(made, t, number); });
    } catch (const std::exception& e) {
      cannot_make(number, n, e.what());
    }
  }
}

void dismiss(team& t) {
  for (unsigned i = 1; i < t.manned; ++i) {
    thread& member = *t.members[i];
    member.stops.store(true, std::memory_order_relaxed);  // published by the order
    member.order.fetch_add(1);
    member.parked.wake();
  }
  for (unsigned i = 1; i < t.manned; ++i) {
    thread& member = *t.members[i];
    member.fiber->join();
    member.fiber.reset();
    demand::awake.fetch_sub(1);
    members_alive.fetch_sub(1);
    thread::drop(member);
  }
  t.manned = 1;
}

}  // namespace heddle::omp
