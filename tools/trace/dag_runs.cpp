// Makes one typical run out of several runs of the same serial program. An interruption by the system that fell between
// two given events in one run hardly fell there in most of the others.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tools/trace/dag.hpp"
#include "trace/events.hpp"

namespace heddle::trace {

namespace {

// The events of a worker that has nothing to run depend on the length of that time, and on other workers.
bool of_the_program(const record& r) {
  switch (r.event) {
    case event::idle_begin:
    case event::idle_end:
    case event::park_begin:
    case event::park_end:
    case event::steal_attempt:
    case event::steal_fail:
    case event::request_post:
    case event::request_answer:
    case event::wake_sent:
    case event::cpu_time: return false;
    default: return true;
  }
}

std::vector<record> events_of_the_program(const worker_log& log) {
  std::vector<record> kept;
  std::copy_if(log.records.begin(), log.records.end(), std::back_inserter(kept), of_the_program);
  return kept;
}

// Returns whether anything ran on that worker.
bool has_run(const worker_log& log) {
  return std::any_of(log.records.begin(), log.records.end(),
                     [](const record& r) { return r.event == event::thread_switch_in; });
}

// Returns the log of the only worker that ran anything, or of the only kernel thread beside the workers. Returns null
// if there are several or none.
worker_log* only_worker(recording& of) {
  worker_log* found = nullptr;
  for (worker_log& log : of.workers) {
    if (log.worker == foreign_worker || !has_run(log)) continue;
    if (found != nullptr) return nullptr;
    found = &log;
  }
  return found;
}

// Returns the middle value; of two the smaller.
template <class T>
T median(std::vector<T>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

bool take_typical(std::vector<recording>& runs) {
  std::vector<std::vector<record>> events;
  for (recording& run : runs) {
    const worker_log* const log = only_worker(run);
    if (log == nullptr || log->lost != 0) return false;
    events.push_back(events_of_the_program(*log));
    const auto alike = [](const record& a, const record& b) { return a.event == b.event; };
    if (events.back().empty() ||
        !std::equal(events[0].begin(), events[0].end(), events.back().begin(), events.back().end(), alike))
      return false;
  }
  recording& into = runs.front();
  for (const char* cost : {"event_ns", "fork_ns"}) {
    std::vector<double> values;
    for (const recording& run : runs) {
      if (const auto known = run.attributes.find(cost); known != run.attributes.end())
        values.push_back(std::strtod(known->second.c_str(), nullptr));
    }
    if (values.size() == runs.size()) into.attributes[cost] = std::to_string(median(values));
  }
  std::vector<record> result = events.front();
  std::vector<std::uint64_t> lengths(runs.size());
  for (std::size_t k = 1; k < result.size(); ++k) {
    for (std::size_t i = 0; i < runs.size(); ++i) lengths[i] = events[i][k].ns - events[i][k - 1].ns;
    result[k].ns = result[k - 1].ns + median(lengths);
  }
  into.end_ns = result.back().ns;
  only_worker(into)->records = std::move(result);
  return true;
}

}  // namespace heddle::trace
