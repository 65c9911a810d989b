// Hierarchical work stealing, nearest victims first; see hierarchical_ws.cpp for its source.
#pragma once

#include <memory>

#include <heddle/policy_victims.hpp>

namespace heddle::policy {

class hierarchical_ws final : public policy {
 public:
  explicit hierarchical_ws(unsigned attempts) noexcept : attempts_(attempts) {}
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;

 private:
  struct alignas(64) thief {
    rings victims;
    unsigned ring{0};      // tried now, with those inside it
    unsigned failures{0};  // in this ring
  };

  const unsigned attempts_;
  std::unique_ptr<thief[]> thieves_;
};

}  // namespace heddle::policy
