#include "omp/ompt/recording.hpp"

#include <utility>

#include <heddle/trace.hpp>

#include "omp/core/tasks/depend.hpp"
#include "omp/core/tasks/task.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp::recording {

namespace {

using heddle::trace::event;

std::uint64_t number_of(const void* object) noexcept { return reinterpret_cast<std::uintptr_t>(object); }

// A return address lies behind the call, and may be the next function's: its name and line are those of the byte
// before.
std::uint64_t place_of(const void* code) noexcept { return code != nullptr ? number_of(code) - 1 : 0; }

void write(thread& self, event what, std::uint32_t arg, std::uint64_t a, std::uint64_t b) noexcept {
  thread_record& mine = self.recorded;
  if (!mine.has_lane && !is_user_level()) {
    mine.has_lane = true;
    mine.lane = heddle::detail::open_trace_lane();
  }
  heddle::detail::trace_lane* const lane = is_user_level() ? nullptr : mine.lane;
  if (lane == nullptr && !is_user_level()) return;
  const unsigned place = heddle::detail::write_to_trace(lane, static_cast<unsigned>(what), arg, a, b);
  mine.place.store(place, std::memory_order_relaxed);  // a hint
}

std::uint32_t kind_of(depend_kind kind) noexcept {
  switch (kind) {
    case depend_kind::in: return 0;
    case depend_kind::out: return 1;
    case depend_kind::mutexinoutset: return 2;
    case depend_kind::inoutset: return 3;
  }
  return 1;
}

}  // namespace

bool begin() noexcept {
  if (!heddle::trace::detail::is_recording()) return false;
  heddle::runtime::current();
  is_on.store(true, std::memory_order_relaxed);  // published by find_out
  return true;
}

void region(thread& self, const team& t, const void* code) {
  if (on()) write(self, event::omp_region, t.size, number_of(&t), place_of(code));
}

void member_begins(thread& self, const team& t, const void* code) {
  if (on()) write(self, event::omp_member_begin, self.number, number_of(&t), place_of(code));
}

void member_ends(thread& self, const team& t) {
  if (on()) write(self, event::omp_member_end, 0, number_of(&t), 0);
}

void task_made(thread& self, const void* id, std::uint32_t flags, const depend_list* list, const void* code) {
  if (!on()) return;
  write(self, event::omp_task, flags, number_of(id), place_of(code));
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->count; ++i) {
    const depend_item item = (*list)[i];
    write(self, event::omp_depend, kind_of(item.kind), number_of(id), number_of(item.address));
  }
}

void task_begins(thread& self, explicit_task& it) {
  const void* const made_at = std::exchange(it.tool.frame.enter_frame.ptr, nullptr);
  if (on()) write(self, event::task_begin, 2, number_of(&it), place_of(made_at));
}

void task_ends(thread& self, const explicit_task& it) {
  if (on()) write(self, event::task_end, 0, number_of(&it), 0);
}

void wait_begins(thread& self, wait why, const void* object) {
  if (on()) write(self, event::omp_wait_begin, static_cast<std::uint32_t>(why), number_of(object), 0);
}

void wait_ends(thread& self, wait why, const void* object) {
  if (on()) write(self, event::omp_wait_end, static_cast<std::uint32_t>(why), number_of(object), 0);
}

void group_begins(thread& self, const task_group* group) {
  if (on()) write(self, event::omp_group_begin, 0, number_of(group), 0);
}

void group_ends(thread& self, const task_group* group) {
  if (on()) write(self, event::omp_group_end, 0, number_of(group), 0);
}

void stolen(thread& self, const thread& victim, const explicit_task& it) {
  if (!on()) return;
  const unsigned from = victim.recorded.place.load(std::memory_order_relaxed);  // a hint
  if (from != heddle::detail::no_lane)
    heddle::detail::write_steal_to_trace(is_user_level() ? nullptr : self.recorded.lane, from, number_of(&it));
}

}  // namespace heddle::omp::recording
