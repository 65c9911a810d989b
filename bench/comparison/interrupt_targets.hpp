// The kernel threads that get ticks by user interrupts, and when: the table between kernel threads that set their
// timers, also in signal handlers, and the one kernel thread that sends. Protocol: README.md, [uintr:1] to [uintr:3].
// The table knows no clock and no system call, so it can be tested where there are no user interrupts.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/platform.hpp"

namespace heddle::platform {

class interrupt_targets {
 public:
  static constexpr unsigned most = 1024;
  // The number of interrupts that may stay unanswered before a signal is sent. An interrupt waits until a system call
  // ends.
  static constexpr unsigned most_unanswered = 2;

  struct target {
    // 0 means free, -1 being filled. add writes it last; every reader reads it first.
    std::atomic<int> kernel_thread{0};
    void* owner{nullptr};
    int descriptor{-1};  // what the sender registers
    // The number of times that the place has been taken. The sender's knowledge of an earlier life is void.
    std::atomic<std::uint32_t> life{0};
    std::atomic<nanoseconds> next{0};      // 0 if no tick is wanted
    std::atomic<nanoseconds> interval{0};  // 0 for a single tick
    std::atomic<unsigned> unanswered{0};   // interrupts sent since the last one came
    // Used by the sender alone.
    std::uint32_t registered_life{0};
    int index{-1};
  };

  // Returns a place for the calling kernel thread; negative if there is none left. Async-signal-safe, as all functions
  // below.
  int add(void* owner, int kernel_thread, int descriptor) noexcept {
    for (unsigned i = 0; i < most; ++i) {
      target& t = all_[i];
      int nobody = 0;
      if (t.kernel_thread.load() != 0 || !t.kernel_thread.compare_exchange_strong(nobody, -1)) continue;
      t.owner = owner;
      t.descriptor = descriptor;
      t.next.store(0);
      t.unanswered.store(0);
      t.life.fetch_add(1);
      for (unsigned used = used_.load(); used <= i && !used_.compare_exchange_weak(used, i + 1);) {
      }
      t.kernel_thread.store(kernel_thread);
      return static_cast<int>(i);
    }
    return -1;
  }
  void remove(int place) noexcept {
    all_[place].next.store(0);
    all_[place].kernel_thread.store(0);
  }

  // Sets the first tick at `first` (0: no more ticks), then one every `interval` (0: a single tick). Returns true if
  // the sender has to look again before `sleeps_until`.
  bool arm(int place, nanoseconds first, nanoseconds interval) noexcept {
    target& t = all_[place];
    t.next.store(0);  // [uintr:1]: the sender never sees the old time with the new interval
    t.interval.store(interval);
    t.next.store(first);
    if (first == 0) return false;
    t.unanswered.store(0);
    const nanoseconds until = sleeps_until_.load();
    return until == 0 || first < until;
  }

  // Called when the tick of the calling kernel thread has come. Returns the place's owner; null if the kernel thread
  // has no place.
  void* came(int kernel_thread) noexcept {
    const unsigned used = used_.load();
    for (unsigned i = 0; i < used; ++i) {
      target& t = all_[i];
      if (t.kernel_thread.load() != kernel_thread) continue;
      t.unanswered.store(0);
      return t.owner;
    }
    return nullptr;
  }

  // Called by the sender: calls send(target, by_signal) for each target whose time has come. Returns the time of the
  // next one, 0 if there is none.
  template <class Send>
  nanoseconds send_due(nanoseconds now, Send&& send) noexcept {
    nanoseconds earliest = 0;
    const unsigned used = used_.load();
    for (unsigned i = 0; i < used; ++i) {
      target& t = all_[i];
      if (t.kernel_thread.load() <= 0) continue;
      nanoseconds next = t.next.load();
      if (next != 0 && next <= now) {
        const nanoseconds interval = t.interval.load();
        // Missed ticks are not made up for. [uintr:2]: the swap fails if the timer was set meanwhile, and the next look
        // sees that.
        const nanoseconds then = interval == 0 ? 0 : next + ((now - next) / interval + 1) * interval;
        if (t.next.compare_exchange_strong(next, then)) {
          send(t, t.unanswered.fetch_add(1) >= most_unanswered);
          next = then;
        } else {
          next = now;
        }
      }
      if (next != 0 && (earliest == 0 || next < earliest)) earliest = next;
    }
    sleeps_until_.store(earliest);
    return earliest;
  }

  const target& at(int place) const noexcept { return all_[place]; }

 private:
  target all_[most];
  std::atomic<unsigned> used_{0};             // places from this number on were never taken
  std::atomic<nanoseconds> sleeps_until_{0};  // the sender's
};

}  // namespace heddle::platform
