#include "omp/ompt/regions.hpp"

#include "omp/core/tasks/placing.hpp"
#include "omp/ompt/callbacks.hpp"
#include "omp/ompt/recording.hpp"
#include "omp/ompt/records.hpp"
#include "omp/ompt/work.hpp"

namespace heddle::omp::ompt {

namespace {

// Whether the team is that of an initial thread, a league's (GNU ABI) or a target region's, which no parallel construct
// has made.
bool is_initial(const team& t) noexcept { return t.tool.flags == 0; }

constexpr int flags_of_league =
    static_cast<int>(ompt_parallel_league) | static_cast<int>(ompt_parallel_invoker_runtime);

// Whether this is a team of a league for whose teams a region was made. For tools it is a region that the team's
// initial task encounters.
bool is_told_team(const thread& self, const region_options& how) noexcept {
  return how.league_number >= 0 && is_league(self.in->tool);
}

int flags_for(const thread& self, const region_options& how) noexcept {
  if (how.league) return flags_of_league;
  if (how.league_number >= 0 && !is_told_team(self, how)) return 0;
  return static_cast<int>(ompt_parallel_team) |
         static_cast<int>(how.started ? ompt_parallel_invoker_program : ompt_parallel_invoker_runtime);
}

void thread_begins(thread& self, ompt_thread_t kind) {
  self.tool = {};
  tell<ompt_callback_thread_begin>(kind, &self.tool.data);
}

}  // namespace

void initial_thread_begins(thread& self) {
  thread_begins(self, ompt_thread_initial);
  task_record& mine = record_of(*self.running);
  mine = {};
  tell<ompt_callback_implicit_task>(ompt_scope_begin, region_of(self), &mine.data, 1u, 1u, int{ompt_task_initial});
}

void initial_thread_ends(thread& self) {
  tell<ompt_callback_implicit_task>(ompt_scope_end, static_cast<ompt_data_t*>(nullptr), data_of(*self.running), 0u, 1u,
                                    int{ompt_task_initial});
  tell<ompt_callback_thread_end>(&self.tool.data);
}

void member_begins(thread& self) { thread_begins(self, ompt_thread_worker); }
void member_ends(thread& self) { tell<ompt_callback_thread_end>(&self.tool.data); }

void prepare_region(team& t) noexcept {
  // acquire pairs with join_ends: members have read the team for the last time
  while (t.tool.leaving.load(std::memory_order_acquire) != 0) heddle::detail::yield();
}

void region_begins(thread& self, team& t, const region_options& how, unsigned requested) {
  t.tool.data = {};
  t.tool.code = is_told_team(self, how) ? self.in->tool.code : how.code;
  t.tool.leaving.store(static_cast<int>(t.size) - 1, std::memory_order_relaxed);  // relaxed: published with the region
  t.tool.flags = flags_for(self, how);
  task_record& from = record_of(*self.running);
  // It is set until region_ends, because the entry point that begins the region may return.
  if (from.frame.enter_frame.ptr == nullptr) {
    from.frame.enter_frame.ptr = static_cast<void**>(__builtin_frame_address(0)) + 2;
    from.frame.enter_frame_flags = ompt_frame_runtime | ompt_frame_stackaddress;
  }
  if (is_initial(t)) return;
  recording::region(self, t, t.tool.code);
  tell<ompt_callback_parallel_begin>(&from.data, static_cast<const ompt_frame_t*>(&from.frame), &t.tool.data, requested,
                                     t.tool.flags, t.tool.code);
}

void region_ends(thread& self, team& t) {
  self.tool.state = usual_state(self);
  task_record& from = record_of(*self.running);
  if (!is_initial(t)) tell<ompt_callback_parallel_end>(&t.tool.data, &from.data, t.tool.flags, t.tool.code);
  from.frame.enter_frame = {};
  from.frame.enter_frame_flags = 0;
}

void run_region(thread& self, const region_options& how, const region_body& body) {
  const bool is_outermost = self.in->level == 0 && how.league_number < 0 && !how.league;
  if (placing::on() && is_outermost && !is_user_level() && self.running->variables->places.count == 0 &&
      threads_for(self, how) > 1 && placing::lead(self, how, body))
    return;
  const inside here(self);
  begin_region(self, how, body);
  body.call(body.data, self);
  end_region(self);
}

league_events::league_events(thread& self, unsigned teams, const void* code) : self_(self), told_(on()), code_(code) {
  if (!told_) [[likely]]
    return;
  task_record& from = record_of(*self.running);
  const inside here(self);
  tell<ompt_callback_parallel_begin>(&from.data, static_cast<const ompt_frame_t*>(&from.frame), &data_, teams,
                                     flags_of_league, code_);
}

league_events::~league_events() {
  if (!told_) [[likely]]
    return;
  tell<ompt_callback_parallel_end>(&data_, data_of(*self_.running), flags_of_league, code_);
}

league_team_events::league_team_events(thread& self, int number, int teams)
    : self_(self), told_(on()), number_(static_cast<unsigned>(number)) {
  if (!told_) [[likely]]
    return;
  task_record& mine = record_of(*self.running);
  mine = {};
  tell<ompt_callback_implicit_task>(ompt_scope_begin, region_of(self), &mine.data, static_cast<unsigned>(teams),
                                    number_, int{ompt_task_initial});
}

league_team_events::~league_team_events() {
  if (!told_) [[likely]]
    return;
  tell<ompt_callback_implicit_task>(ompt_scope_end, static_cast<ompt_data_t*>(nullptr), data_of(*self_.running), 0u,
                                    number_, int{ompt_task_initial});
}

void implicit_task_begins(thread& self) {
  team& t = *self.in;
  task_record& mine = record_of(*self.running);
  mine = {};
  self.tool.state = ompt_state_work_parallel;
  if (is_league(t.tool)) return;
  if (is_initial(t)) {
    tell<ompt_callback_implicit_task>(ompt_scope_begin, &t.tool.data, &mine.data, static_cast<unsigned>(t.league_size),
                                      static_cast<unsigned>(t.league_number), int{ompt_task_initial});
  } else {
    if (placing::on()) self.rank.store(heddle::detail::current_rank(), std::memory_order_relaxed);  // a hint
    recording::member_begins(self, t, t.tool.code);
    tell<ompt_callback_implicit_task>(ompt_scope_begin, &t.tool.data, &mine.data, t.size, self.number,
                                      int{ompt_task_implicit});
  }
}

namespace {

// The code of the leader's part is the place where it encountered the region. The other members have none.
const void* code_of_join(const thread& self) noexcept { return self.number == 0 ? self.in->tool.code : nullptr; }

}  // namespace

void join_begins(thread& self) {
  end_gnu_single(self);
  team& t = *self.in;
  task_record& mine = record_of(*self.running);
  mine.frame = {};
  if (is_initial(t) || is_league(t.tool)) return;
  self.tool.state = ompt_state_wait_barrier_implicit_parallel;
  const auto kind = ompt_sync_region_barrier_implicit_parallel;
  tell<ompt_callback_sync_region>(kind, ompt_scope_begin, &t.tool.data, &mine.data, code_of_join(self));
  tell<ompt_callback_sync_region_wait>(kind, ompt_scope_begin, &t.tool.data, &mine.data, code_of_join(self));
  recording::wait_begins(self, recording::wait::end_of_region, &t);
  if (placing::on()) placing::children_wait(self);
}

void join_ends(thread& self) {
  team& t = *self.in;
  task_record& mine = record_of(*self.running);
  ompt_data_t* const no_region = nullptr;  // it is over
  if (is_initial(t)) {
    tell<ompt_callback_implicit_task>(ompt_scope_end, no_region, &mine.data, 0u, static_cast<unsigned>(t.league_number),
                                      int{ompt_task_initial});
    return;
  }
  if (is_league(t.tool)) {
    self.tool.state = ompt_state_idle;
    if (self.number != 0) t.tool.leaving.fetch_sub(1);
    return;
  }
  if (placing::on()) placing::children_go_on(self);
  recording::wait_ends(self, recording::wait::end_of_region, &t);
  recording::member_ends(self, t);
  const auto kind = ompt_sync_region_barrier_implicit_parallel;
  tell<ompt_callback_sync_region_wait>(kind, ompt_scope_end, no_region, &mine.data, code_of_join(self));
  tell<ompt_callback_sync_region>(kind, ompt_scope_end, no_region, &mine.data, code_of_join(self));
  self.tool.state = ompt_state_overhead;
  tell<ompt_callback_implicit_task>(ompt_scope_end, no_region, &mine.data, t.size, self.number,
                                    int{ompt_task_implicit});
  self.tool.state = ompt_state_idle;
  if (self.number != 0) t.tool.leaving.fetch_sub(1);
}

}  // namespace heddle::omp::ompt
