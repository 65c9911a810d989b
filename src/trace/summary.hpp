// The summary of a traced run: where its time went.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/recording.hpp"

namespace heddle::trace {

struct counters {
  std::array<std::uint64_t, activity_count> ns{};       // by activity
  std::array<std::uint64_t, event_count + 1> events{};  // records kept, by event

  [[nodiscard]] std::uint64_t time(activity a) const { return ns[static_cast<std::size_t>(a)]; }
  [[nodiscard]] std::uint64_t count(event e) const { return events[static_cast<std::size_t>(e)]; }
  [[nodiscard]] std::uint64_t lifetime() const;  // the sum of all activities
  counters& operator+=(const counters& other);
};

struct worker_summary {
  std::uint16_t worker = 0;  // or foreign_worker, which has counts but no time
  std::string place;
  std::uint64_t written = 0;
  std::uint64_t lost = 0;
  counters seen;
};

// The figures of a set of durations, in nanoseconds.
struct distribution {
  std::uint64_t count = 0;
  std::uint64_t median = 0;
  std::uint64_t max = 0;
};

// A choice of a policy, and the number that decided (policy_note).
struct remark {
  std::string text;
  std::uint64_t times = 0;
  std::uint64_t first = 0, last = 0;  // values
};

struct summary {
  std::string program, machine, policy;
  std::uint64_t begin_ns = 0;  // the first and last moment of any worker
  std::uint64_t end_ns = 0;
  std::vector<worker_summary> workers;
  counters total;
  std::uint64_t written = 0;
  std::uint64_t lost = 0;
  std::uint64_t strays = 0;  // events whose span begins before the recording
  std::map<std::string, std::uint64_t> unknown;
  std::vector<remark> remarks;  // one for each text, in the order in which they were first made

  distribution task_slice;     // a task's time on a worker, uninterrupted
  distribution idle_spell;     // idle_begin to idle_end
  distribution steal_latency;  // steal_attempt to steal_success
  distribution wake_latency;   // wake_sent to the target's park_end
  std::map<std::uint64_t, std::uint64_t> steals_by_level;

  [[nodiscard]] std::uint64_t wall_ns() const { return end_ns - begin_ns; }
  // Returns the average number of busy workers.
  [[nodiscard]] double parallelism() const;
  // Returns the busy time of the busiest worker divided by the mean; 1 means even.
  [[nodiscard]] double imbalance() const;
};

[[nodiscard]] summary summarise(const recording& what);

}  // namespace heddle::trace
