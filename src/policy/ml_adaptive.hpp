// Multi-level scheduling that does not idle; see ml_adaptive.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "policy/ml_adws.hpp"

namespace heddle::machine {
struct memory_group;
}

namespace heddle::policy {

class ml_adaptive : public ml_adws {
 public:
  static constexpr unsigned default_patience = 16, default_tolerance = 64;
  ml_adaptive(unsigned patience, unsigned tolerance, bool levels) noexcept
      : ml_adws(aggregation::range, true), patience_(patience), tolerance_(tolerance), use_levels_(levels) {}
  static std::unique_ptr<policy> make(const std::vector<parameter>& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  bool may_rob(unsigned self, unsigned victim) noexcept override { return self != victim; }

 protected:
  void survey() override { use_levels_ ? ml_adws::survey() : adws::survey(); }
  placement started(unsigned self, task& t) noexcept override;
  void descend(unsigned self, laid_out& at, double bytes) const noexcept override;
  double bytes_of_fork(double) const noexcept override { return 0; }

 private:
  struct alignas(64) searcher {
    unsigned patience{0};                  // how many it bears before it takes anything
    unsigned in_vain{0};                   // searches in a row that insisted and found nothing
    std::atomic<std::uint64_t> all_in_vain{0};  // such searches, ever; written by the worker
    std::vector<unsigned> victims;         // nearest first
    std::vector<unsigned> rings;           // where in `victims` each distance ends
  };

  // Of a memory group: how much its workers have idled since its head looked last. Written by the head, and at a run's start.
  struct idleness {
    std::atomic<std::uint64_t> seen{0};    // sum of all_in_vain over its workers
    std::atomic<unsigned> flat{0};         // groups still to be laid out without levels
  };
  std::uint64_t searches_under(const machine::memory_group& g) const noexcept;
  bool has_idled(const machine::memory_group& g) const noexcept;
  entry take_anything(unsigned self, effort how) noexcept;

  const unsigned patience_;
  const unsigned tolerance_;
  const bool use_levels_;
  std::unique_ptr<searcher[]> searchers_;  // by rank
  std::unique_ptr<idleness[]> idleness_;   // by memory group; null: no levels
};

}  // namespace heddle::policy
