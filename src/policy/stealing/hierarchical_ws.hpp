// Hierarchical work stealing, nearest victims first; see hierarchical_ws.cpp for its source.
#pragma once

#include <memory>

#include <heddle/policy_victims.hpp>

namespace heddle::policy {

class hierarchical_ws final : public policy {
 public:
  hierarchical_ws(unsigned attempts, victim_memory::rule victim) noexcept : attempts_(attempts), memory_(victim) {}
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;

 private:
  struct alignas(64) thief {
    rings victims;
    unsigned ring{0};      // the ring that is tried now, with those inside it
    unsigned failures{0};  // in this ring
  };

  const unsigned attempts_;
  victim_memory memory_;  // by place: in the order of the rings
  std::unique_ptr<thief[]> thieves_;
};

}  // namespace heddle::policy
