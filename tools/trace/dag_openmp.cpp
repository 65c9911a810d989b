// OpenMP's events in the pass over a recording: [dag:6] to [dag:9] of dag.md.
#include <utility>

#include "tools/trace/dag_builder.hpp"

namespace heddle::trace {

namespace {

// Flags of omp_task, and kinds of waits: events.def.
constexpr std::uint32_t awaited = 1, only_waits = 8;
enum : std::uint32_t { for_children, for_group, at_barrier, at_end_of_region, for_predecessors, for_led_region };

}  // namespace

void dag_builder::event_of_openmp(thread_state& self, const record& r) {
  switch (r.event) {
    case event::omp_region:
      if (self.task() == 0) self.at.join(led_from_);
      tasks_.begin_region(r.a, self.at);
      break;
    case event::omp_member_begin: {
      if (!self.inside.empty() && self.inside.back().between_regions) self.inside.pop_back();
      frame f;
      f.task = r.a;
      f.function = functions_.number_at(r.b);
      f.number = tasks_.begin_member(r.a, f.function);
      f.before = self.at;
      f.work_before = self.work;
      // The leader goes on; all others begin where the region does.
      longest_path start = tasks_.start_of(f.number);
      f.leads = r.arg == 0;
      if (f.leads) start = self.at;
      else start = start.with_burden(options_.burden_ns);
      self.at = start;
      self.work = 0;
      ++functions_[f.function].count;
      self.inside.push_back(std::move(f));
      break;
    }
    case event::omp_member_end:
      for (std::size_t depth = self.inside.size(); depth-- > 0;) {
        const frame& f = self.inside[depth];
        if (f.number == 0 || f.task != r.a) continue;
        const bool leads = f.leads;
        // The code behind the region follows all of the region, so the path stays.
        functions_[f.function].work_ns += self.work + tasks_.work_of(f.number);
        self.work += f.work_before + tasks_.work_of(f.number);
        self.inside.resize(depth);
        led_to_.join(self.at);
        if (!leads) {
          self.inside.emplace_back();
          self.inside.back().waits = self.inside.back().between_regions = true;
        }
        break;
      }
      break;
    case event::omp_task: {
      const bool is_task = (r.arg & only_waits) == 0;
      if (is_task) ++into_.spawns;
      tasks_.make(self.task(), r.a, self.at, functions_.number_at(r.b), (r.arg & awaited) != 0);
      break;
    }
    case event::omp_depend: tasks_.depend(r.a, r.arg, r.b); break;
    case event::omp_wait_begin: {
      if (r.arg == at_barrier || r.arg == at_end_of_region) tasks_.arrive(self.task(), self.at);
      if (r.arg == for_led_region) led_from_ = self.at;
      frame f;
      f.waits = true;
      f.function = self.function();
      self.inside.push_back(std::move(f));
      break;
    }
    case event::omp_wait_end: end_wait(self, r); break;
    case event::omp_group_begin: tasks_.begin_group(self.task()); break;
    case event::omp_group_end: tasks_.end_group(self.task()); break;
    default: break;
  }
}

void dag_builder::begin_openmp_task(thread_state& self, const record& r) {
  frame f;
  f.task = r.a;
  f.before = self.at;
  f.work_before = self.work;
  const longest_path start = tasks_.begin(r.a, f.number);
  if (f.number == 0) f.number = tasks_.begin_member(0, functions_.number_at(r.b));  // made before the recording begins
  else self.at = start;
  f.function = tasks_.function_of(f.number);
  self.work = 0;
  ++functions_[f.function].count;
  self.inside.push_back(std::move(f));
}

void dag_builder::end_openmp_task(thread_state& self, std::size_t depth) {
  const frame f = std::move(self.inside[depth]);
  self.inside.resize(depth);
  const longest_path end = std::exchange(self.at, f.before);
  tasks_.end(f.task, f.number, end, self.work, self.at);
  functions_[f.function].work_ns += tasks_.work_of(f.number);
  self.work = f.work_before;
  ended_.join(end);
}

void dag_builder::end_wait(thread_state& self, const record& r) {
  std::size_t depth = self.inside.size();
  while (depth > 0 && !self.inside[depth - 1].waits) --depth;
  if (depth == 0) return;  // the recording begins in the wait
  self.inside.resize(depth - 1);
  const task_graph::number task = self.task();
  switch (r.arg) {
    case for_children: self.at = tasks_.children(task, self.at); break;
    case for_group: self.at = tasks_.group(task, self.at); break;
    case for_predecessors: self.at = tasks_.predecessors(r.a, self.at); break;
    case for_led_region: self.at.join(led_to_); break;
    default: self.at = tasks_.leave(task, self.at); break;
  }
}

}  // namespace heddle::trace
