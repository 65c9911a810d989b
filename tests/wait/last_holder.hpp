// Whoever holds a mutex last may destroy it.
#pragma once

#include <atomic>

#include "support/waiting.hpp"

namespace heddle_test {

// `together(body)` runs body(0) to body(3) at the same time, on threads of both kinds. The last holder destroys the
// mutex while the one before may still be inside unlock().
template <class Mutex, class Together>
void destroyed_by_the_last_holder(int turn, Together&& together) {
  auto* m = new Mutex;
  std::atomic<int> users{4};
  together([&](int i) {
    chance c(static_cast<std::uint64_t>(turn * 4 + i));
    c.maybe_yield();
    m->lock();
    const bool last = --users == 0;
    c.maybe_yield();
    m->unlock();
    if (last) delete m;
  });
}

}  // namespace heddle_test
