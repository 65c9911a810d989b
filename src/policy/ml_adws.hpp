// Multi-level almost deterministic work stealing; see ml_adws.cpp for its source.
#pragma once

#include "policy/adws.hpp"

namespace heddle::policy {

class ml_adws : public adws {
 public:
  enum class aggregation : std::uint8_t { group, range };
  ml_adws(aggregation rule, bool steals, layout how = layout::by_work) noexcept : adws(steals, how), rule_(rule) {}
  static std::unique_ptr<policy> make(parameters& given);

 protected:
  void survey() override;
  laid_out root_layout() const noexcept override;
  void descend(unsigned self, laid_out& at, double bytes) const noexcept override;

 private:
  double capacity_of(const laid_out& at, unsigned level) const noexcept;

  const aggregation rule_;
  unsigned levels_{1};
  std::vector<std::uint32_t> domain_of_;  // [memory group * levels_ + level]
};

}  // namespace heddle::policy
