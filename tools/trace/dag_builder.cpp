#include "tools/trace/dag_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "tools/trace/dag_outliers.hpp"

namespace heddle::trace {

dag_builder::dag_builder(const recording& what, const dag_options& options, dag_summary& into)
    : what_(what),
      options_(options),
      into_(into),
      event_ns_(options.event_ns),
      tasks_(options.burden_ns),
      functions_(what) {
  const auto recorded = [&](const char* name) {
    const auto known = what.attributes.find(name);
    return known == what.attributes.end() ? 0 : std::strtod(known->second.c_str(), nullptr);
  };
  if (event_ns_ < 0) {
    event_ns_ = recorded("event_ns");
    fork_extra_ns_ = recorded("fork_ns");
  }
  const auto forks = what_.attributes.find("forks");
  into_.forks_traced = forks != what_.attributes.end() && forks->second == "all";
  for (const worker_log& log : what.workers) into_.lost += log.lost;
}

void dag_builder::event(const record& r) {
  if (r.worker == foreign_worker) return;
  lane& on = lanes_[r.worker];
  charge(on, r);
  thread_state* self = on.running ? &threads_[on.thread] : nullptr;
  switch (r.event) {
    case event::omp_region:
    case event::omp_member_begin:
    case event::omp_member_end:
    case event::omp_task:
    case event::omp_depend:
    case event::omp_wait_begin:
    case event::omp_wait_end:
    case event::omp_group_begin:
    case event::omp_group_end:
      if (self != nullptr) event_of_openmp(*self, r);
      break;
    case event::thread_switch_in: {
      on.thread = r.a;
      on.running = true;
      thread_state& t = threads_[r.a];
      t.was_woken = t.woken.span > 0;
      t.at.join(t.woken);
      t.woken = {};
      break;
    }
    case event::thread_park:
    case event::blocking_begin:
      if (self != nullptr) on.left = self->at;
      on.running = false;
      break;
    case event::worker_stop:
    case event::idle_begin: on.running = false; break;
    case event::thread_wake:
      if (self != nullptr) threads_[r.a].woken.join(self->at);
      break;
    case event::thread_create: {
      ++into_.threads;
      thread_state fresh;
      if (self != nullptr) fresh.at = self->at;
      threads_[r.a] = std::move(fresh);
      break;
    }
    case event::thread_join:
      if (self != nullptr && r.a != on.thread) {
        const auto other = threads_.find(r.a);
        if (other == threads_.end()) break;
        self->at.join(other->second.at.with_burden(options_.burden_ns));
        self->work += other->second.work;
        threads_.erase(other);
      }
      break;
    case event::fork:
      ++into_.forks;
      if (self != nullptr) forks_[r.a] = {self->at, {}, 0, false, functions_.number_at(r.b), self->inside.size()};
      break;
    case event::second_half:
      if (self != nullptr) begin_half(*self, r.a);
      break;
    case event::join:
      if (self != nullptr) end_fork(*self, r.a);
      break;
    case event::steal_success: steal(r); break;
    case event::task_begin:
      if (self != nullptr) begin_task(on, *self, r);
      break;
    case event::task_end:
      if (self != nullptr) end_task(*self, r.a);
      break;
    case event::spawn:
      if (self != nullptr) spawn(*self, r);
      break;
    case event::group_begin: groups_[group_key(r.arg)] = {}; break;
    case event::group_end:
      if (self != nullptr) end_group(*self, group_key(r.arg));
      break;
    case event::region_begin:
      if (self != nullptr) {
        const std::uint32_t name =
            functions_.number(r.arg < what_.texts.size() ? what_.texts[r.arg] : fmt::format("region {}", r.arg));
        functions_[name].region = true;
        ++functions_[name].count;
        self->regions.push_back({name, self->work});
      }
      break;
    case event::region_end:
      if (self != nullptr && !self->regions.empty()) {
        const region& left = self->regions.back();
        functions_[left.name].work_ns += self->work - left.work_before;
        self->regions.pop_back();
      }
      break;
    default: break;
  }
}

void dag_builder::finish() {
  longest_path longest;
  for (const auto& [id, t] : threads_) longest.join(t.at);
  longest.join(ended_);
  into_.span_ns = longest.span;
  into_.burdened_span_ns = std::max(longest.burdened, longest.span);
  stretches_.trace_back(longest.last, !simulated(what_), functions_, into_);
  into_.functions = functions_.take_by_work();
  estimate();
}

// Charges the time since the last event on this worker to the thread that runs there.
void dag_builder::charge(lane& on, const record& r) {
  const std::uint64_t since = on.last;
  on.last = r.ns;
  if (!on.running || r.ns <= since) return;
  const bool traced_fork = r.event == event::fork || r.event == event::second_half;
  const double tracing = event_ns_ + (traced_fork && into_.forks_traced ? fork_extra_ns_ / 2 : 0);
  const double ns = std::max(0.0, static_cast<double>(r.ns - since) - tracing);
  thread_state& t = threads_[on.thread];
  if (!t.inside.empty() && t.inside.back().waits) return;
  const std::uint32_t f = t.function();
  into_.work_ns += ns;
  functions_[f].own_ns += ns;
  t.work += ns;
  t.at.span += ns;
  t.at.burdened += ns;
  t.was_woken = false;
  t.at.last = stretches_.add({t.at.last, f, r.worker, since, r.ns});
}

void dag_builder::steal(const record& r) {
  ++into_.steals;
  const lane& victim = lanes_[static_cast<std::uint16_t>(r.arg)];
  if (tasks_.knows(r.b)) return;  // a task of OpenMP's
  // A fork that is not in the recording begins about where its forker was.
  if (!forks_.contains(r.b)) stolen_[r.b] = victim.running ? threads_[victim.thread].at : victim.left;
}

void dag_builder::begin_half(thread_state& self, std::uint64_t job) {
  const auto fork = forks_.find(job);
  if (fork == forks_.end()) return;
  leave_halves(self, fork->second.depth);
  frame f;
  f.task = job;
  f.function = fork->second.function;
  f.half = true;
  f.before = self.at;
  f.work_before = self.work;
  ++functions_[f.function].count;
  self.at = fork->second.at.with_burden(options_.burden_ns);
  self.inside.push_back(std::move(f));
}

// Second halves that were dropped because the first one threw have no join, so they end with the span around them.
void dag_builder::leave_halves(thread_state& self, std::size_t depth) {
  while (self.inside.size() > depth && self.inside.back().half) {
    const frame& f = self.inside.back();
    self.at.join(f.before.with_burden(options_.burden_ns));
    functions_[f.function].work_ns += self.work - f.work_before;
    forks_.erase(f.task);
    self.inside.pop_back();
  }
}

void dag_builder::end_fork(thread_state& self, std::uint64_t job) {
  const auto fork = forks_.find(job);
  if (fork == forks_.end()) return;
  const fork_state state = fork->second;
  leave_halves(self, state.depth);  // this includes the half of this fork, if the forker ran it
  if (!state.ended) return;
  // This is the return edge. A thread that was woken by the other half has that half's path in it already.
  if (!self.was_woken) self.at = self.at.with_burden(options_.burden_ns);
  self.at.join(state.end);
  self.work += state.work;
  forks_.erase(job);
}

void dag_builder::begin_task(lane& on, thread_state& self, const record& r) {
  if (r.arg == openmp_task) return begin_openmp_task(self, r);
  frame f;
  f.task = r.a;
  f.function = functions_.number_at(r.b);
  f.work_before = self.work;
  if (r.arg == 0) {  // it is a job: it begins where it was forked, and its thread has no past
    const auto fork = forks_.find(r.a);
    if (fork != forks_.end()) {
      self.at = fork->second.at.with_burden(options_.burden_ns);
    } else {
      const auto stolen = stolen_.find(r.a);
      self.at = (stolen != stolen_.end() ? stolen->second : on.left).with_burden(options_.burden_ns);
      forks_[r.a] = {self.at, {}, 0, false, f.function, 0};
    }
    stolen_.erase(r.a);
    self.inside.clear();
    self.work = f.work_before = 0;
  }
  ++functions_[f.function].count;
  self.inside.push_back(std::move(f));
}

void dag_builder::end_task(thread_state& self, std::uint64_t task) {
  const auto inner =
      std::find_if(self.inside.rbegin(), self.inside.rend(), [&](const frame& f) { return !f.half && f.task == task; });
  if (inner == self.inside.rend()) return;
  if (inner->number != 0) return end_openmp_task(self, static_cast<std::size_t>(self.inside.rend() - inner) - 1);
  const double work = self.work - inner->work_before;
  const std::uint32_t of = inner->function;
  functions_[of].work_ns += work;
  self.inside.resize(static_cast<std::size_t>(self.inside.rend() - inner) - 1);
  if (const auto fork = forks_.find(task); fork != forks_.end()) {
    fork->second.end = self.at;
    fork->second.work = work;
    fork->second.ended = true;
    ended_.join(self.at);
  } else if (const auto g = groups_.find(self.group); g != groups_.end()) {
    g->second.ended.join(self.at.with_burden(options_.burden_ns));
    g->second.done.push_back({self.hint, self.work, of});
  }
}

void dag_builder::spawn(thread_state& self, const record& r) {
  ++into_.spawns;
  thread_state child;
  child.at = self.at;
  child.group = group_key(r.arg);
  child.hint = std::bit_cast<double>(r.b);
  self.at = self.at.with_burden(options_.burden_ns);
  threads_[r.a] = std::move(child);
}

void dag_builder::end_group(thread_state& self, std::uint64_t key) {
  const auto found = groups_.find(key);
  if (found == groups_.end()) return;
  group& g = found->second;
  self.at.join(g.ended);
  for (const child_record& c : g.done) self.work += c.work;
  functions_.compare_hints(g.done);
  groups_.erase(found);
}

}  // namespace heddle::trace
