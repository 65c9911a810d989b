// The parts that tests of preemption share: runtimes with short time slices, kinds of threads, threads that spin for
// each other.
#pragma once

#include <heddle/preemption.hpp>
#include <heddle/priority.hpp>
#include <heddle/runtime.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include "support/runtimes.hpp"

namespace heddle_test {

// Threads are preemptive only where a test says so.
inline heddle::runtime_options options_for(unsigned workers, const std::string& policy = "random_ws") {
  heddle::runtime_options o;
  o.workers = workers;
  o.policy = policy;
  o.preempt = heddle::preemption::none;
  o.preempt_interval = std::chrono::microseconds(100);
  o.priority_mode = heddle::priority_mode::strict;  // orders that are exact, however long a test is held up
  return o;
}

inline heddle::thread_options in(heddle::runtime& where, heddle::preemption how,
                                 heddle::tls storage = heddle::tls::as_runtime) {
  heddle::thread_options o;
  o.where = &where;
  o.preemption = how;
  o.tls = storage;
  return o;
}
inline heddle::thread_options in(heddle::runtime& where, heddle::priority level,
                                 heddle::preemption how = heddle::preemption::none,
                                 heddle::tls storage = heddle::tls::as_runtime) {
  heddle::thread_options o = in(where, how, storage);
  o.priority = level;
  return o;
}

// Threads of a kind that spin until all have come, so many times.
inline void spin_barrier(const heddle::thread_options& kind, int threads, int phases) {
  std::atomic<int> arrived{0}, phase{0};
  std::vector<heddle::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back(kind, [&] {
      for (int p = 0; p < phases; ++p) {
        if (arrived.fetch_add(1) == threads - 1) {
          arrived.store(0);
          phase.fetch_add(1);
        }
        while (phase.load() <= p) {
        }
      }
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(phase.load(), phases);
}

// These spin, so that a worker is kept: only a tick ends the time slice.
inline void wait_for(const std::atomic<bool>& flag) {
  while (!flag.load()) {
  }
}
// Until so many more ticks have come.
inline void wait_for_ticks(heddle::runtime& rt, std::uint64_t count) {
  const std::uint64_t end = rt.statistics().ticks + count;
  while (rt.statistics().ticks < end) {
  }
}

// For at least `span`, and once.
template <class F>
void repeat(std::chrono::milliseconds span, F&& f) {
  const auto end = std::chrono::steady_clock::now() + span;
  do f();
  while (std::chrono::steady_clock::now() < end);
}

inline std::string name_of(heddle::preemption how) {
  return how == heddle::preemption::signal_yield    ? "signal_yield"
         : how == heddle::preemption::klt_switching ? "klt_switching"
                                                    : "none";
}

template <class Param>
class with_ticks : public testing::TestWithParam<Param> {
 protected:
  void SetUp() override {
    if (thread_sanitized) GTEST_SKIP() << "no preemption under ThreadSanitizer";
  }
};

// The means by which a thread may run any code: it keeps its kernel
// thread between two waits, or has thread-local variables of its own.
struct means {
  heddle::preemption how;
  heddle::tls storage;
};

inline const means every_means[] = {{heddle::preemption::klt_switching, heddle::tls::carrier},
                                    {heddle::preemption::signal_yield, heddle::tls::own},
                                    {heddle::preemption::klt_switching, heddle::tls::own}};

inline std::string name_of(const means& m) {
  return name_of(m.how) + (m.storage == heddle::tls::own ? "_own" : "_carrier");
}

class by_means : public with_ticks<means> {
 protected:
  void SetUp() override {
    with_ticks::SetUp();
    if (IsSkipped() || GetParam().storage != heddle::tls::own) return;
    heddle::runtime rt(options_for(1));
    try {
      heddle::thread(kind(rt), [] {}).join();
    } catch (const std::system_error& e) {
      GTEST_SKIP() << e.what();
    }
  }
  static heddle::thread_options kind(heddle::runtime& where) { return in(where, GetParam().how, GetParam().storage); }
};

}  // namespace heddle_test
