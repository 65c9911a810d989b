// A fixture for everything that waits: runtimes of several sizes, a watchdog, and threads of both kinds.
#pragma once

#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace heddle_test {

// Fewer threads at a time under ThreadSanitizer, which makes each in a millisecond and ends at 8,128 of them.
inline constexpr int fewer = thread_sanitized ? 10 : 1;

class waiting : public over_runtimes {
 protected:
  waiting();
  ~waiting() override;
  void SetUp() override;
  void progress() { dog_->progress(); }

  // body(i) on `user` user-level threads and `kernel` foreign kernel threads at a time; i counts all of them.
  void together(int user, int kernel, const std::function<void(int)>& body);

 private:
  std::unique_ptr<watchdog> dog_;
};

// Yields now and then, by a seed.
class chance {
 public:
  explicit chance(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::uint32_t below(std::uint32_t bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::uint32_t>(state_ >> 32) % bound;
  }
  void maybe_yield() {
    if (below(4) == 0) heddle::this_thread::yield();
  }

 private:
  std::uint64_t state_;
};

}  // namespace heddle_test
