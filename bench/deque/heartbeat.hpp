// Prototype 4: the split deque filled by a heartbeat. Nobody asks: a timer signal per worker, every
// `period`, makes the owner publish.
//   InHandler = false: the handler only poisons guard and limit; the owner's next push or pop
//   publishes. A long leaf hides its work. InHandler = true: the handler itself publishes the
//   oldest private entry (unless it interrupted a slow path), so a long leaf does not.
// Publishing from the handler is sound: it runs in the owner, between two of its instructions. It
// publishes slots below bottom and raises guard first. Interrupted push: bottom is stored or not,
// the slot before it. Interrupted pop of b: either bottom = b is not stored yet (then b may be
// published, guard is above b, and the pop reads that guard) or it is (then only slots below b
// are).
#pragma once

#include "split_request.hpp"

#include <csignal>
#include <ctime>

namespace deque_bench {

template <bool InHandler, unsigned PeriodMicroseconds = 100>
class heartbeat_deque : public split_request_deque<false, false> {
  using base = split_request_deque<false, false>;

 public:
  static constexpr bool serves_long_leaves = InHandler;
  static constexpr const char* name = InHandler                   ? "heartbeat_handler"
                                      : PeriodMicroseconds < 1000 ? "heartbeat"
                                                                  : "heartbeat_1ms";

  // Thief: only what is public.
  job* steal(steal_counters& n, victim_memory&, std::uint64_t) noexcept {
    return count_of(public_.load(std::memory_order_relaxed)) ? take(n) : nullptr;  // a hint; take reads it again
  }

  void worker_started() {
    static const bool installed = [] {
      struct sigaction action = {};
      action.sa_sigaction = [](int, siginfo_t* info, void*) {
        static_cast<heartbeat_deque*>(info->si_value.sival_ptr)->beat();
      };
      action.sa_flags = SA_SIGINFO | SA_RESTART;
      return sigaction(signal_number(), &action, nullptr) == 0;
    }();
    if (!installed) std::abort();
    if (!made_) {
      struct sigevent event = {};
      event.sigev_notify = SIGEV_THREAD_ID;
      event.sigev_signo = signal_number();
      event.sigev_value.sival_ptr = this;
      event._sigev_un._tid = static_cast<int>(syscall(SYS_gettid));
      if (timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) std::abort();
      made_ = true;
    }
    set_timer(PeriodMicroseconds * 1000);
  }
  void worker_stopped() { set_timer(0); }
  ~heartbeat_deque() {
    if (made_) timer_delete(timer_);
  }

 private:
  // Each instantiation has its own handler, hence its own signal.
  static int signal_number() { return SIGRTMIN + (InHandler ? 1 : 0) + (PeriodMicroseconds < 1000 ? 0 : 2); }
  void set_timer(long nanoseconds) {
    const struct itimerspec when = {{0, nanoseconds}, {0, nanoseconds}};
    timer_settime(timer_, 0, &when, nullptr);
  }
  // In the signal handler, on the owner's thread.
  void beat() noexcept {
    if (count_of(public_.load(std::memory_order_relaxed)) != 0) return;  // a hint: thieves have work
    request_.store(true, std::memory_order_seq_cst);
    if constexpr (InHandler) {
      if (!in_slow_path_) {
        settle(static_cast<std::uint32_t>(bottom_.load(std::memory_order_relaxed) - base_));  // own thread
        return;
      }
    }
    guard_.store(nowhere(), std::memory_order_seq_cst);
    limit_.store(base_, std::memory_order_seq_cst);
  }

  timer_t timer_{};
  bool made_ = false;
};

}  // namespace deque_bench
