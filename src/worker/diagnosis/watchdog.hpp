// A kernel thread that prints all user-level threads when the runtime makes no progress, or when a signal asks for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "platform/platform.hpp"

namespace heddle::worker {

class runtime;

class watchdog {
 public:
  // `seconds` without progress while threads exist (0 means never); `signal` is the name of the signal that asks ("off"
  // means none). Without either, or when no kernel thread can be had, does nothing.
  watchdog(runtime& home, unsigned seconds, const std::string& signal) noexcept;
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  // The number of times it has compared the progress so far. Any thread may call.
  std::uint64_t looks() const noexcept { return looks_.load(); }

 private:
  static void watch(void* argument);
  static void asked(int signal);

  runtime& home_;
  const unsigned seconds_;
  platform::kernel_thread kernel_;
  std::uint32_t seen_{0};  // calls and questions before its kernel thread began
  std::uint32_t answered_{0};
  std::atomic<bool> ending_{false};      // set by the destructor
  std::atomic<std::uint64_t> looks_{0};  // written by the watchdog's kernel thread
};

}  // namespace heddle::worker
