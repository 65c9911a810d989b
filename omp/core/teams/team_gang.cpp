#include "omp/core/teams/team_gang.hpp"

#include "omp/core/settings/environment.hpp"
#include "omp/core/teams/member_kind.hpp"
#include "omp/core/teams/members.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp {

namespace {

constinit std::atomic<bool> asked_for{false};

bool are_gangs(const control_variables& of) noexcept {
  if (of.teams_are != team_scheduling::automatic) return of.teams_are == team_scheduling::gang;
  return preempting() == preempt_members::off;
}

bool are_preempted() noexcept { return preempting() != preempt_members::off && members_can_be_preempted(); }

// A foreign kernel thread has no seat itself, because the system runs it.
unsigned seats_of(const team& t) noexcept { return t.led_inside || t.is_led_for ? t.size : t.size - 1; }

// [region_gang:6]
bool wants_proxy(team& t) {
  if (t.led_inside || !are_preempted() || t.size > static_cast<unsigned>(process_environment().workers)) return false;
  if (t.beside == nullptr) t.beside = proxy::make();
  return t.beside != nullptr;
}

}  // namespace

// [region_gang:1], [region_gang:3]
bool shall_be_gang(const thread& self, const team& t, const region_options& how) noexcept {
  if (self.in->active_level == 0) [[likely]]
    return false;
  if (!are_gangs(t.variables) || how.league || t.variables.places.count != 0) return false;
  const bool led_inside = is_user_level();
  if (are_preempted()) return !led_inside || self.preemptive;
  return t.size - (led_inside ? 0 : 1) <= static_cast<unsigned>(process_environment().workers);
}

// relaxed: a flag that publishes nothing; a thread that has not seen it makes members as before
void ask_for_gangs() noexcept { asked_for.store(true, std::memory_order_relaxed); }
bool gangs_are_asked_for() noexcept { return asked_for.load(std::memory_order_relaxed); }

bool gangs_may_come(const control_variables& of) noexcept { return gangs_are_asked_for() || are_gangs(of); }

namespace {

// `level`: the active level of a team whose members have these variables.
bool may_be_in_gangs(const control_variables& of, int level) noexcept {
  return gangs_may_come(of) && (level > 1 || of.max_active_levels > level);
}

}  // namespace

bool may_be_in_gangs(const team& t) noexcept { return may_be_in_gangs(t.variables, t.active_level); }

void suit_members_to_gangs(const thread& self, team& t) {
  if (preempting() == preempt_members::off || !members_can_be_preempted()) return;
  if (!may_be_in_gangs(*self.running->variables, self.in->active_level + 1)) return;
  for (unsigned i = 1; i < t.manned; ++i)
    if (!t.members[i]->preemptive) return dismiss(t);
}

void begin_gang(team& t) {
  t.led_inside = is_user_level();
  if (t.beside != nullptr) t.beside->await_rest();  // it may be on its way out of the last gang
  if (t.gang_room < t.size) {
    if (t.gang != nullptr) heddle::detail::free_gang(t.gang);
    t.gang_room = 0;
    t.gang = heddle::detail::make_gang(nullptr, t.size);
    t.gang_room = t.size;
  }
  for (unsigned i = 1; i < t.manned; ++i) t.members[i]->is_in_gang = false;
  t.is_led_for = wants_proxy(t);
  heddle::detail::begin_gang(t.gang, seats_of(t));
  if (t.is_led_for) t.beside->enter(t.gang, t.size - 1);
}

void wake_into_gang(team& t, unsigned i) noexcept {
  thread& member = *t.members[i];
  heddle::detail::waiter* const w = member.parker.take_sleeper();
  // It has not seen its go flag yet, and enters by itself.
  if (w == nullptr) return;
  if (w->thread != nullptr) {
    member.is_in_gang = true;  // published by its waking
    heddle::detail::take_into_gang(t.gang, i - (t.led_inside ? 0 : 1),
                                   static_cast<heddle::detail::thread_handle*>(w->thread));
  }
  parker::wake(*w);
}

void leave_gang(team& t) noexcept {
  if (t.led_inside) heddle::detail::leave_gang();
  else if (t.is_led_for) t.beside->leave();
}

void enter_gang(thread& self, team& t, unsigned number) noexcept {
  if (self.is_in_gang && number != 0) return;
  heddle::detail::enter_gang(t.gang, number - (t.led_inside ? 0 : 1));
}

}  // namespace heddle::omp
