// No lock of the runtime is held by a thread that may be preempted with it.
// Programs that hung where one was; in audit builds the checks themselves.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "support/preemption.hpp"
#include "sync/mutex.hpp"
#include "sync/owner_lock.hpp"
#include "worker/diagnosis/faults.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"

namespace preempt_locks_test {
namespace {

using namespace std::chrono_literals;
using heddle_test::in;
using heddle_test::options_for;

class preempt_locks : public heddle_test::with_ticks<heddle::preemption> {
 protected:
  static heddle::runtime_options often() {
    heddle::runtime_options o = options_for(1);
    o.preempt_interval = 50us;
    return o;
  }
  // A thread that is not preemptive makes and ends many others at a time, whose stacks come from the pool of all and go
  // back there, in so many rounds; each ends with a yield.
  static heddle::thread spender(heddle::runtime& rt, int rounds, std::atomic<bool>& end) {
    return heddle::thread(in(rt, heddle::preemption::none), [rounds, &end] {
      for (int round = 0; round < rounds; ++round) {
        std::vector<heddle::thread> more;
        for (int i = 0; i < 1000; ++i) more.emplace_back([] {});
        for (auto& t : more) t.join();
        heddle::this_thread::yield();
      }
      end.store(true);
    });
  }
};

TEST_P(preempt_locks, statistics_are_taken_anywhere) {
  heddle::runtime rt(often());
  std::atomic<bool> end{false};
  std::uint64_t seen = 0;
  heddle::thread asks(in(rt, GetParam()), [&] {
    while (!end.load()) seen += rt.statistics().live_threads;
  });
  spender(rt, 50, end).join();
  asks.join();
  EXPECT_GT(seen, 0u);
}

TEST_P(preempt_locks, preemptive_threads_make_preemptive_ones_beside_blocking_calls) {
  heddle::runtime rt(often());
  std::atomic<bool> end{false};
  std::atomic<int> made{0};
  std::vector<heddle::thread> makers;
  for (int i = 0; i < 2; ++i) {
    makers.emplace_back(in(rt, GetParam()), [&] {
      do {
        heddle::thread t(in(rt, GetParam()), [&] { made.fetch_add(1); });
        t.join();
      } while (!end.load());
    });
  }
  int blocked = 0;
  heddle::thread calls(in(rt, heddle::preemption::none), [&] {
    for (int i = 0; i < 300; ++i) {
      heddle::blocking([&] { ++blocked; });
      heddle::this_thread::yield();
    }
    end.store(true);
  });
  calls.join();
  for (auto& t : makers) t.join();
  EXPECT_EQ(blocked, 300);
  EXPECT_GE(made.load(), 2);
}

// A dump reads symbols, for which it waits for the loader's lock; the
// thread that has it may wait for a worker that waits for a stack.
TEST_P(preempt_locks, a_dump_holds_nothing_that_workers_wait_for) {
  heddle::runtime_options o = often();
  o.signal_stacks = "off";
  heddle::runtime rt(o);
  std::atomic<bool> end{false};
  heddle::latch never(1);
  std::vector<heddle::thread> waiters;
  for (int i = 0; i < 20; ++i) waiters.emplace_back(in(rt, heddle::preemption::none), [&] { never.wait(); });
  heddle::thread_options kind = in(rt, heddle::preemption::klt_switching);
  std::vector<heddle::thread> looks;
  for (int i = 0; i < 2; ++i) {
    looks.emplace_back(kind, [&] {
      Dl_info info;
      while (!end.load()) dladdr(reinterpret_cast<void*>(&std::printf), &info);
    });
  }
  heddle::thread spends = spender(rt, 30, end);
  testing::internal::CaptureStderr();
  do heddle::worker::dump_threads(rt.core());
  while (!end.load());
  EXPECT_NE(testing::internal::GetCapturedStderr().find("waits for: latch"), std::string::npos);
  spends.join();
  never.count_down();
  for (auto& t : looks) t.join();
  for (auto& t : waiters) t.join();
}

INSTANTIATE_TEST_SUITE_P(techniques, preempt_locks,
                         testing::Values(heddle::preemption::signal_yield, heddle::preemption::klt_switching),
                         [](const auto& i) { return heddle_test::name_of(i.param); });

#if defined(HEDDLE_AUDIT) && !defined(__SANITIZE_THREAD__)

// Runs f in a preemptive thread's own code, where it must not do this.
template <class F>
void in_preemptive_code(F f) {
  heddle::runtime rt(options_for(1));
  heddle::thread(in(rt, heddle::preemption::klt_switching), f).join();
}

TEST(preempt_audit, aborts_where_a_lock_is_taken_outside_of_a_section) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  heddle::sync::mutex m;
  heddle::sync::owner_lock owned;
  heddle::detail::spin_word word;
  EXPECT_DEATH(in_preemptive_code([&] { m.lock(); }), "a mutex was taken by a preemptive thread outside of a section");
  EXPECT_DEATH(in_preemptive_code([&] { owned.enter(); }), "an owner_lock was taken");
  EXPECT_DEATH(in_preemptive_code([&] { word.lock(); }), "a spin_word was taken");
  in_preemptive_code([&] {
    const heddle::worker::section inside;
    m.lock();
    m.unlock();
  });
}

#if defined(HEDDLE_AUDITS_MALLOC)
TEST(preempt_audit, aborts_where_a_carrier_that_has_a_worker_allocates) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  void* const block = std::malloc(100);
  EXPECT_DEATH(in_preemptive_code([&] {
                 const heddle::worker::section inside;
                 std::free(block);
               }),
               "free\\(\\) was called by the runtime, for a preemptive thread");
  std::free(block);
}
#endif
#endif

}  // namespace
}  // namespace preempt_locks_test
