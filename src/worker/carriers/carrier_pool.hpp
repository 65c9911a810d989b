// A worker's own pool of carriers that are bound to its processing unit, have no worker, and sleep. The worker's alone.
// It owns none of the carriers; `carriers` does.
#pragma once

#include "worker/carriers/carrier.hpp"

namespace heddle::worker {

class carrier_pool {
 public:
  // Takes a carrier of the pool; null if it is empty.
  [[nodiscard]] carrier* take() noexcept {
    carrier* c = first_;
    if (c == nullptr) return nullptr;
    first_ = c->next_spare;
    --count_;
    return c;
  }
  bool has_room() const noexcept { return count_ < most; }
  void put(carrier& c) noexcept {
    c.passing = false;
    c.next_spare = first_;
    first_ = &c;
    ++count_;
  }

 private:
  static constexpr unsigned most = 8;  // further ones go to the pool of all
  carrier* first_{nullptr};
  unsigned count_{0};
};

}  // namespace heddle::worker
