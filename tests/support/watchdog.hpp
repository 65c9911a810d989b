// Ends a test that hangs: aborts with a message when nothing has progressed for some time. The limit is generous, for
// it must hold under sanitizers on a busy machine; it is no assertion about speed.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace heddle_test {

class watchdog {
 public:
  explicit watchdog(std::string what, std::chrono::seconds limit = std::chrono::seconds(90))
      : what_(std::move(what)), limit_(limit), keeper_([this] { keep(); }) {}
  ~watchdog() {
    {
      std::lock_guard hold(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    keeper_.join();
  }
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  // Thread context: any.
  void progress() noexcept { steps_.fetch_add(1); }

 private:
  // Counts seconds in which it ran itself: a process that was stopped, or had no processor, has not hung.
  void keep() {
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

  const std::string what_;
  const std::chrono::seconds limit_;
  std::atomic<std::uint64_t> steps_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_{false};    // under mutex_
  std::thread keeper_;  // last: it uses all above
};

}  // namespace heddle_test
