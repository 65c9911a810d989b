// The pass over a recording that adds up where its time went.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tools/trace/summary.hpp"
#include "trace/replay.hpp"

namespace heddle::trace {

class summary_observer : public replay_visitor {
 public:
  summary_observer(const recording& what, summary& into);

  void event(const record& r) override;
  void opened(std::uint16_t worker, const open_span& s, std::uint64_t ns) override;
  void closed(std::uint16_t worker, const open_span& s, std::uint64_t ns, activity counts_as) override;
  void stray(const record& r) override;

  // After the last event.
  void finish();

 private:
  struct account {
    std::size_t to = 0;                    // its index in summary::workers
    std::uint64_t last = 0;                // its time is charged up to here
    std::vector<activity> inside;          // of the open spans
    std::optional<std::uint64_t> attempt;  // the time of the steal attempt under way
  };

  void charge(account& of, std::uint64_t ns, activity as) {
    into_.workers[of.to].seen.ns[static_cast<std::size_t>(as)] += ns - of.last;
    of.last = ns;
  }

  summary& into_;
  bool begun_ = false;
  std::map<std::uint16_t, account> accounts_;
  std::map<std::uint16_t, std::uint64_t> sent_;  // the wake-ups under way, by target
  std::vector<std::uint64_t> task_slice_, idle_spell_, steal_latency_, wake_latency_;
};

}  // namespace heddle::trace
