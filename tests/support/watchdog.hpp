// Ends a test that hangs: aborts with a message when nothing has progressed for some time. The limit is generous,
// because it must hold under sanitizers on a busy machine. It is no assertion about speed.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace heddle_test {

class watchdog {
 public:
  explicit watchdog(std::string what, std::chrono::seconds limit = std::chrono::seconds(90));
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  // Thread context: any.
  void progress() noexcept { steps_.fetch_add(1); }

 private:
  void keep();

  const std::string what_;
  const std::chrono::seconds limit_;
  std::atomic<std::uint64_t> steps_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_{false};    // under mutex_
  std::thread keeper_;  // last: it uses all above
};

}  // namespace heddle_test
