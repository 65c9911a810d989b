// No runtime: one kernel thread that sleeps in futex(2) and is woken for each region. Only for the
// kernel rendezvous, as the floor of the machine at hand. Hot, the partner is spinning; after a
// pause longer than `spin` it is asleep.
#pragma once

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <type_traits>

#include "backend/common.hpp"

namespace heddle::bench {

struct futex_backend : backend_defaults {
  static constexpr bool tasks = false;

  explicit futex_backend(const settings&) {
    // As the runtimes that bind their workers: the two threads on the first two processors allowed
    // to us, so that the woken thread does not queue behind the spinning one.
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    int processors[2] = {-1, -1};
    for (int cpu = 0, found = 0; cpu < CPU_SETSIZE && found < 2; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) processors[found++] = cpu;
    }
    if (processors[1] >= 0) pin(processors[0]);
    partner_ = std::thread([this, cpu = processors[1]] {
      if (cpu >= 0) pin(cpu);
      serve();
    });
    current_ = this;
  }
  futex_backend(const futex_backend&) = delete;
  futex_backend& operator=(const futex_backend&) = delete;
  ~futex_backend() {
    post(nullptr, nullptr);
    partner_.join();
  }

  template <class F>
  void run_loops(F&& f) {
    f();
  }

  template <class F>
  static void pair(F&& f) {
    const unsigned done = current_->done_.load();
    current_->post([](void* body) { (*static_cast<std::remove_reference_t<F>*>(body))(1); }, &f);
    f(0);
    while (current_->done_.load() == done) relax();
  }

 private:
  static constexpr int spin = 2000;

  static void pin(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
  }
  void post(void (*call)(void*), void* body) {
    call_ = call;
    body_ = body;
    word_.fetch_add(1);
    if (asleep_.load()) syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  void serve() {
    for (unsigned seen = 0;; ++seen) {
      for (int i = 0; i < spin && word_.load() == seen; ++i) relax();
      asleep_.store(true);
      while (word_.load() == seen) syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
      asleep_.store(false);
      if (call_ == nullptr) return;
      call_(body_);
      done_.fetch_add(1);
    }
  }

  static inline futex_backend* current_ = nullptr;
  alignas(64) std::atomic<unsigned> word_ = 0;
  std::atomic<bool> asleep_ = false;
  void (*call_)(void*) = nullptr;
  void* body_ = nullptr;
  alignas(64) std::atomic<unsigned> done_ = 0;
  std::thread partner_;
};

}  // namespace heddle::bench
