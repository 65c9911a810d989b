// The pass over a recording that charges the time of idle workers to the causes that kept them from working:
// diagnosis.md.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tools/trace/dag.hpp"
#include "tools/trace/diagnosis.hpp"
#include "tools/trace/outside_parts.hpp"
#include "trace/replay.hpp"

namespace heddle::trace {

// A place in the program: a function, or a part that the program named itself (address 0).
struct code {
  std::string name;
  std::uint64_t address = 0;
  friend auto operator<=>(const code&, const code&) = default;
};

// The time that was charged to one cause.
struct account {
  double lost = 0;                                 // in ns: the idle workers' time, or the time off the processor
  double ns = 0;                                   // its duration
  std::uint64_t begin_ns = 0, end_ns = 0;          // the longest stretch
  std::uint64_t run_begin_ns = 0, run_end_ns = 0;  // the stretch that goes on
  std::uint16_t worker = 0;
  code beside;                    // for an imbalance: the code of which the workers that wait had a part
  std::map<code, double> inside;  // of a region: the lost time by the function that ran in it
};

struct lock_account {
  double lost = 0;
  double waited_ns = 0;
  std::uint64_t waits = 0;
  std::set<std::uint64_t> threads;         // that waited
  std::uint64_t begin_ns = 0, end_ns = 0;  // the longest wait
  std::uint16_t worker = 0;
  // The waited time, by the code that waited and by the code that held the lock.
  std::map<code, double> asked, held;
};

class diagnosis_observer : public replay_visitor {
 public:
  explicit diagnosis_observer(const recording& what);

  void event(const record& r) override;
  void opened(std::uint16_t worker, const open_span& s, std::uint64_t ns) override;
  void closed(std::uint16_t worker, const open_span& s, std::uint64_t ns, activity counts_as) override;
  void finish();

  [[nodiscard]] double workers_time() const {
    return static_cast<double>(lanes_.size()) * static_cast<double>(wall_ns());
  }
  [[nodiscard]] std::uint64_t begin_ns() const { return begin_; }
  [[nodiscard]] std::uint64_t wall_ns() const { return end_ - begin_; }
  [[nodiscard]] std::size_t workers() const { return lanes_.size(); }

  using accounts = std::map<code, account>;
  accounts serial, outside, imbalance, asleep, waiting, off_cpu, crowded;
  std::map<std::uint64_t, lock_account> locks;
  std::map<code, std::vector<std::uint64_t>> tasks;  // the lengths of their slices
  double busy_ns = 0;                                // the busy time where processor time was sampled
  double cpu_ns = 0;

 private:
  // A stretch of code is charged to the region that it runs in, and to its function if it runs in none. A region holds
  // the threads, children and stolen halves that begin in it, too.
  struct where {
    code function;
    std::string region;
    friend auto operator<=>(const where&, const where&) = default;
    [[nodiscard]] code charged() const { return region.empty() ? function : code{region, 0}; }
  };
  struct frame {
    span kind;
    activity as;
    where at;
  };
  struct lane {
    std::vector<frame> open;
    std::string left;  // the region of the thread that left last
    std::uint64_t thread = 0;
    bool running = false;
    std::uint64_t since = 0;  // its last event of scheduling
    // Since the last sample of processor time.
    std::optional<record> sample;
    std::map<where, double> busy;
    std::uint32_t parks = 0;
  };
  struct wait {
    std::string what;
    std::uint64_t object, place, since;
    std::uint16_t worker;
  };
  // The idle time beside one stretch of code, until that stretch ends. Then it is charged if it was long enough.
  struct stretch {
    std::uint16_t worker = 0;
    std::uint64_t since = 0;
    bool parallel = false;
    where at;
    code beside;
    double lost = 0;
    std::uint64_t begin_ns = 0, end_ns = 0;
    bool open = false;
  };

  void advance(std::uint64_t ns);
  void charge_idle(double ns, unsigned idle, unsigned busy, std::uint64_t until);
  void end_stretch();
  static account& add(accounts& to, const code& at, double lost, double ns, std::uint16_t worker, std::uint64_t begin,
                      std::uint64_t end);
  [[nodiscard]] where where_is(const open_span& s, const lane& on) const;
  // The region in which the worker is, or was before it left its thread.
  [[nodiscard]] static const std::string& region_on(const lane& on);
  [[nodiscard]] code function_at(std::uint64_t address) const;
  [[nodiscard]] std::string text(std::uint32_t number) const;
  void take_sample(lane& on, const record& r);
  static bool is_busy(const lane& on) { return !on.open.empty() && on.open.back().as == activity::busy; }
  // A worker that asks a victim for work has none.
  static bool is_idle(const lane& on) {
    return !on.open.empty() && (on.open.back().as == activity::idle || on.open.back().kind == span::steal);
  }

  const recording& what_;
  std::uint64_t begin_ = 0, end_ = 0, now_ = 0;
  std::map<std::uint16_t, lane> lanes_;
  std::vector<outside_part> parts_;
  std::unordered_map<std::uint64_t, std::uint64_t> functions_;  // of threads
  // The regions in which threads, groups' children and forked halves were made, by their ids.
  std::unordered_map<std::uint64_t, std::string> made_in_;
  // Stolen halves whose join has not come yet.
  std::map<std::uint64_t, code> jobs_;
  std::unordered_set<std::uint64_t> children_;  // children of groups that have not ended
  std::map<std::uint64_t, wait> waits_;         // by thread
  unsigned blocking_ = 0;
  stretch now_beside_;
};

// What `diagnose` returns, from a finished pass. `dag` is of the same recording.
[[nodiscard]] std::vector<finding> findings_of(const recording& what, const diagnosis_observer& seen,
                                               const dag_summary& dag, const line_finder& line_of);

}  // namespace heddle::trace
