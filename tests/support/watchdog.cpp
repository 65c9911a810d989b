#include "support/watchdog.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace heddle_test {

watchdog::watchdog(std::string what, std::chrono::seconds limit)
    : what_(std::move(what)), limit_(limit), keeper_([this] { keep(); }) {}

watchdog::~watchdog() {
  {
    std::lock_guard hold(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  keeper_.join();
}

// Counts seconds in which it ran itself: a process that was stopped, or had no processor, has not hung.
void watchdog::keep() {
  std::unique_lock hold(mutex_);
  std::uint64_t seen = steps_.load();
  for (std::chrono::seconds idle{0}; !changed_.wait_for(hold, std::chrono::seconds(1), [this] { return over_; });) {
    const std::uint64_t now = steps_.load();
    idle = now == seen ? idle + std::chrono::seconds(1) : std::chrono::seconds(0);
    seen = now;
    if (idle < limit_) continue;
    std::fprintf(stderr, "watchdog: %s: no progress for %lld s after %llu steps\n", what_.c_str(),
                 static_cast<long long>(limit_.count()), static_cast<unsigned long long>(now));
    std::abort();
  }
}

}  // namespace heddle_test
