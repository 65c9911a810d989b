#include "tools/trace/diagnosis_observer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/trace/dag.hpp"

namespace heddle::trace {

namespace {

// Shorter stretches beside idle workers come from handing work on, and say nothing about the program.
constexpr std::uint64_t long_enough = 20'000;
// Processor time is not sampled at exactly the moment of the record.
constexpr double usual_difference = 20'000;

}  // namespace

diagnosis_observer::diagnosis_observer(const recording& what) : what_(what), parts_(outside_parts(what)) {
  begin_ = what.end_ns;
  for (const worker_log& log : what.workers) {
    if (log.worker == foreign_worker || log.records.empty()) continue;
    lanes_[log.worker];
    begin_ = std::min(begin_, log.records.front().ns);
    end_ = std::max(end_, log.records.back().ns);
  }
  end_ = std::max(begin_, end_);
  now_ = begin_;
}

std::string diagnosis_observer::text(std::uint32_t number) const {
  return number < what_.texts.size() ? what_.texts[number] : fmt::format("text {}", number);
}

code diagnosis_observer::function_at(std::uint64_t address) const {
  return {address == 0 ? "code outside of tasks" : code_name(what_, address), address};
}

auto diagnosis_observer::where_is(const open_span& s, const lane& on) const -> where {
  const std::string around = on.open.empty() ? std::string() : on.open.back().at.region;
  const auto made_in = [&](const std::string& otherwise) {
    const auto known = made_in_.find(s.by->a);
    return known == made_in_.end() ? otherwise : known->second;
  };
  switch (s.kind) {
    case span::region: return {{text(s.by->arg), 0}, text(s.by->arg)};
    case span::task: return {function_at(s.by->b), made_in(around)};
    case span::thread: {
      const auto known = functions_.find(s.by->a);
      return {function_at(known == functions_.end() ? 0 : known->second), made_in({})};
    }
    default: return on.open.empty() ? where() : on.open.back().at;
  }
}

const std::string& diagnosis_observer::region_on(const lane& on) {
  return on.running && !on.open.empty() ? on.open.back().at.region : on.left;
}

void diagnosis_observer::opened(std::uint16_t worker, const open_span& s, std::uint64_t) {
  lane& on = lanes_[worker];
  on.open.push_back({s.kind, info(s.kind).counts_as, where_is(s, on)});
}

void diagnosis_observer::closed(std::uint16_t worker, const open_span& s, std::uint64_t ns, activity) {
  // A span that is open at the end of the recording has had no event of its own then.
  advance(ns);
  end_ = std::max(end_, ns);
  lane& on = lanes_[worker];
  if (s.kind == span::task && !s.resumed) tasks[on.open.back().at.function].push_back(ns - s.since);
  if (info(s.kind).owner == span_owner::thread && on.open.size() > 1) on.left = on.open.back().at.region;
  on.open.pop_back();
}

void diagnosis_observer::event(const record& r) {
  // The parts that the program names outside the workers begin and end between the workers' events, too.
  advance(r.ns);
  if (r.worker == foreign_worker) return;
  lane& on = lanes_[r.worker];
  switch (r.event) {
    case event::cpu_time: return take_sample(on, r);
    case event::region_begin:
    case event::region_end:
    case event::piece:
    case event::tree_piece:
    case event::policy_note:
    case event::hint_warning: return;
    case event::thread_create:
      functions_[r.a] = r.b;
      made_in_[r.a] = region_on(on);
      break;
    case event::fork: made_in_[r.a] = region_on(on); break;
    case event::steal_success:
      if (r.b != 0) made_in_.try_emplace(r.b, region_on(lanes_[static_cast<std::uint16_t>(r.arg)]));
      break;
    case event::thread_switch_in:
      on.thread = r.a;
      on.running = true;
      if (const auto was = waits_.find(r.a); was != waits_.end()) {
        if (was->second.object != 0) {
          lock_account& lock = locks[was->second.object];
          ++lock.waits;
          lock.threads.insert(r.a);
          const std::uint64_t ns = r.ns - was->second.since;
          lock.waited_ns += static_cast<double>(ns);
          lock.asked[function_at(was->second.place)] += static_cast<double>(ns);
          if (ns > lock.end_ns - lock.begin_ns) {
            lock.begin_ns = was->second.since;
            lock.end_ns = r.ns;
            lock.worker = was->second.worker;
          }
        }
        waits_.erase(was);
      }
      break;
    case event::wait_begin:
      if (on.running) waits_[on.thread] = {text(r.arg), r.a, r.b, r.ns, r.worker};
      break;
    case event::lock_passed: {
      double ns = 0;  // the time that all have waited for it by then
      for (const auto& [thread, w] : waits_) {
        if (w.object == r.a) ns += static_cast<double>(r.ns - w.since);
      }
      locks[r.a].held[function_at(r.b)] += ns;
      break;
    }
    case event::thread_park:
      on.running = false;
      if (r.arg == static_cast<std::uint32_t>(park_reason::ended)) waits_.erase(r.a);
      break;
    case event::blocking_begin:
      on.running = false;
      ++blocking_;
      waits_[r.a] = {"blocking call", 0, 0, r.ns, r.worker};
      break;
    case event::task_begin:
      if (r.arg == 0) jobs_[r.a] = function_at(r.b);
      break;
    case event::join: jobs_.erase(r.a); break;
    case event::spawn:
      children_.insert(r.a);
      made_in_[r.a] = region_on(on);
      break;
    case event::task_end:
      children_.erase(r.a);
      made_in_.erase(r.a);
      break;
    case event::park_begin: ++on.parks; break;
    default: break;
  }
  on.since = r.ns;
}

void diagnosis_observer::advance(std::uint64_t ns) {
  if (ns <= now_) return;
  const auto length = static_cast<double>(ns - now_);
  unsigned idle = 0, busy = 0;
  for (auto& [worker, on] : lanes_) {
    idle += is_idle(on);
    if (!is_busy(on)) continue;
    ++busy;
    on.busy[on.open.back().at] += length;
  }
  if (idle == 0) end_stretch();
  else charge_idle(length, idle, busy, ns);
  now_ = ns;
}

void diagnosis_observer::charge_idle(double ns, unsigned idle, unsigned busy, std::uint64_t until) {
  // [diagnosis:1], [diagnosis:2] Each thread that waits for a lock, or for a time, would be work for one worker.
  unsigned lockers = 0, sleepers = 0, others = 0;
  std::string other;
  for (const auto& [thread, w] : waits_) {
    if (w.object != 0) ++lockers;
    else if (w.what == "time") ++sleepers;
    else if (w.what != "thread" && w.what != "task group" && w.what != "join") ++others, other = w.what;
  }
  if (lockers != 0) {
    const unsigned to_locks = std::min(idle, lockers);
    for (const auto& [thread, w] : waits_) {
      if (w.object != 0) locks[w.object].lost += ns * to_locks / lockers;
    }
    idle -= to_locks;
  }
  if (const unsigned to_time = busy + lockers == 0 && sleepers != 0 ? idle : std::min(idle, sleepers); to_time != 0) {
    add(asleep, {"", 0}, ns * to_time, ns, 0, now_, until);
    idle -= to_time;
  }
  if (idle == 0) return end_stretch();
  if (busy == 0) {
    end_stretch();
    if (lockers + sleepers != 0) return;
    if (others != 0) return static_cast<void>(add(waiting, {other, 0}, ns * idle, ns, 0, now_, until));
    if (!jobs_.empty() || !children_.empty() || !waits_.empty()) return;  // it is being woken
    const outside_part* in = nullptr;
    for (const outside_part& p : parts_) {
      if (p.begin_ns <= now_ && p.end_ns >= until && (in == nullptr || p.depth >= in->depth)) in = &p;
    }
    return static_cast<void>(add(outside, {in == nullptr ? "" : in->name, 0}, ns * idle, ns, 0, now_, until));
  }
  // [diagnosis:3] All wait for the worker that has run for the longest time without an event.
  const std::pair<const std::uint16_t, lane>* longest = nullptr;
  for (const auto& entry : lanes_) {
    if (is_busy(entry.second) && (longest == nullptr || entry.second.since < longest->second.since)) longest = &entry;
  }
  const auto& [worker, on] = *longest;
  const bool parallel = busy > 1 || !jobs_.empty() || !children_.empty();
  const where& at = on.open.back().at;
  if (!now_beside_.open || now_beside_.worker != worker || now_beside_.since != on.since ||
      now_beside_.parallel != parallel || now_beside_.at != at) {
    end_stretch();
    now_beside_ = {worker, on.since, parallel, at, jobs_.empty() ? code() : jobs_.begin()->second, 0, now_, now_, true};
  }
  now_beside_.lost += ns * idle;
  now_beside_.end_ns = until;
}

void diagnosis_observer::end_stretch() {
  if (!std::exchange(now_beside_.open, false)) return;
  const stretch& s = now_beside_;
  if (s.end_ns - s.begin_ns < long_enough) return;
  accounts& to = s.parallel ? imbalance : serial;
  account& a =
      add(to, s.at.charged(), s.lost, static_cast<double>(s.end_ns - s.begin_ns), s.worker, s.begin_ns, s.end_ns);
  if (s.at.function != s.at.charged()) a.inside[s.at.function] += s.lost;
  if (!s.beside.name.empty()) a.beside = s.beside;
}

account& diagnosis_observer::add(accounts& to, const code& at, double lost, double ns, std::uint16_t worker,
                                 std::uint64_t begin, std::uint64_t end) {
  account& a = to[at];
  a.lost += lost;
  a.ns += ns;
  if (a.run_end_ns != begin) a.run_begin_ns = begin;
  a.run_end_ns = end;
  if (end - a.run_begin_ns <= a.end_ns - a.begin_ns) return a;
  a.begin_ns = a.run_begin_ns;
  a.end_ns = end;
  a.worker = worker;
  return a;
}

// Charges the time off the processor. If a busy worker's kernel thread used less than the time since its last sample,
// it was asleep, or without a processor, for the rest.
void diagnosis_observer::take_sample(lane& on, const record& r) {
  const std::optional<record> before = std::exchange(on.sample, r);
  const std::map<where, double> busy = std::exchange(on.busy, {});
  const std::uint32_t parks = std::exchange(on.parks, 0);
  if (!before || before->b != r.b || r.a < before->a) return;
  double sum = 0;
  const std::pair<const where, double>* most = nullptr;
  for (const auto& part : busy) {
    sum += part.second;
    if (most == nullptr || part.second > most->second) most = &part;
  }
  const auto used = static_cast<double>(r.a - before->a);
  busy_ns += sum;
  cpu_ns += std::min(used, sum);
  if (most == nullptr || sum - used < usual_difference) return;
  const bool slept = r.arg - before->arg > parks;
  account& a = add(slept ? off_cpu : crowded, most->first.charged(), sum - used, sum, r.worker, before->ns, r.ns);
  if (most->first.function != most->first.charged()) a.inside[most->first.function] += sum - used;
}

void diagnosis_observer::finish() {
  advance(end_);
  end_stretch();
}

}  // namespace heddle::trace
