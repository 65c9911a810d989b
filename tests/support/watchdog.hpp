// Ends a test that hangs: aborts with a message when nothing has progressed for some time. The limit is generous, for it
// must hold under sanitizers on a busy machine; it is no assertion about speed.
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
  void keep() {
    std::unique_lock hold(mutex_);
    std::uint64_t seen = steps_.load();
    while (!changed_.wait_for(hold, limit_, [this] { return over_; })) {
      const std::uint64_t now = steps_.load();
      if (now == seen) {
        std::fprintf(stderr, "watchdog: %s: no progress for %lld s after %llu steps\n", what_.c_str(),
                     static_cast<long long>(limit_.count()), static_cast<unsigned long long>(now));
        std::abort();
      }
      seen = now;
    }
  }

  const std::string what_;
  const std::chrono::seconds limit_;
  std::atomic<std::uint64_t> steps_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_{false};     // under mutex_
  std::thread keeper_;   // last: it uses all above
};

}  // namespace heddle_test
