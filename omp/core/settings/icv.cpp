// Control variables of data environments: initial ones, those of regions, and copies on write.
#include "omp/core/settings/icv.hpp"
#include "omp/core/locks/kept.hpp"

#include <algorithm>
#include <mutex>
#include <set>

#include "omp/core/locks/short_lock.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/tasks/task.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp {

control_variables inherited(const control_variables& outer, unsigned number, unsigned outer_size, int clause) noexcept {
  control_variables v = outer;
  const environment& e = process_environment();
  const std::vector<int>& threads = outer.threads_list != nullptr ? *outer.threads_list : e.threads;
  if (outer.threads_next < threads.size()) {
    v.threads = threads[outer.threads_next];
    ++v.threads_next;
  }
  if (outer.bind != bind_kind::no && outer.bind_next < e.bind.size()) {
    v.bind = e.bind[outer.bind_next];
    ++v.bind_next;
  }
  if (outer.places.count != 0) {
    member_place here = place_of_member(outer.places, number, outer_size);
    if (here.place < 0) here = {outer.places.parent, outer.places.first, outer.places.count};
    v.places = placement_of(here, outer.bind, clause);
  }
  return v;
}

control_variables variables_of_region(const thread& self, const region_options& how) noexcept {
  const int clause = how.bind > 0 ? how.bind : self.next.bind;
  const bool is_kind = clause > 0 && clause <= static_cast<int>(bind_kind::spread);
  control_variables v = inherited(*self.running->variables, self.number, self.in->size, is_kind ? clause : -1);
  if (self.next.list != nullptr) [[unlikely]] {
    v.threads_list = self.next.list;
    v.threads = (*v.threads_list)[1];
    v.threads_next = 2;
  }
  return v;
}

namespace {

struct list_store {
  short_lock guard;
  std::set<std::vector<int>>* lists{nullptr};  // null until there is one; those of a parent process stay in memory
};
constinit kept<list_store> store;
[[maybe_unused]] const bool lists_told_of_forks = forget_in_children<store>();

}  // namespace

const std::vector<int>& kept_list(std::span<const int> numbers) {
  auto& [guard, lists] = store.object;
  const std::lock_guard hold(guard);
  if (lists == nullptr) lists = new std::set<std::vector<int>>;
  return *lists->emplace(numbers.begin(), numbers.end()).first;
}

control_variables& task::own_variables() {
  if (!owns_variables) {
    variables = new control_variables(*variables);
    owns_variables = true;
    if (is_explicit) static_cast<explicit_task*>(this)->make_intricate();
  }
  return const_cast<control_variables&>(*variables);
}

void drop_own_variables(task& of) noexcept {
  if (!of.owns_variables) return;
  delete of.variables;
  of.variables = nullptr;
  of.owns_variables = false;
}

namespace {

constexpr unsigned stealing = 102;  // kmp_sched_static_steal: dynamic here

}  // namespace

bool to_schedule(int kind, int chunk, schedule& result) noexcept {
  schedule s;
  const unsigned bits = static_cast<unsigned>(kind);
  s.monotonic = (bits & 0x80000000u) != 0;
  unsigned plain = bits & 0x7fffffffu;
  if (plain == stealing) plain = static_cast<unsigned>(schedule_kind::of_dynamic);
  if ((plain < 1 || plain > 4) && plain != static_cast<unsigned>(schedule_kind::trapezoidal)) return false;
  s.kind = static_cast<schedule_kind>(plain);
  switch (s.kind) {
    case schedule_kind::of_static: s.chunk = std::max(chunk, 0); break;
    case schedule_kind::automatic: s.chunk = 1; break;
    default: s.chunk = std::max(chunk, 1); break;
  }
  result = s;
  return true;
}

int kind_of(const schedule& s) noexcept {
  return static_cast<int>(static_cast<unsigned>(s.kind) | (s.monotonic ? 0x80000000u : 0u));
}

}  // namespace heddle::omp
