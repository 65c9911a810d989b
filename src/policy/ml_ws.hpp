// Multi-level work stealing; see ml_ws.cpp for its source.
#pragma once

#include "policy/ml_adws.hpp"

namespace heddle::policy {

class ml_ws final : public ml_adws {
 public:
  ml_ws() noexcept : ml_adws(aggregation::group, true, layout::by_steals) {}
  static std::unique_ptr<policy> make(parameters& given);
};

}  // namespace heddle::policy
