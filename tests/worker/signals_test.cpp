// Signals of the program's own beside ticks: blocked signals, handlers that are preempted, and other users of the
// ticks' signal. Alternate stacks: alternate_stacks_test.cpp.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <thread>
#include <vector>

#include "support/preemption.hpp"
#include "support/signals.hpp"
#include "worker/caller.hpp"
#include "worker/runtime.hpp"

namespace signals_test {
namespace {

using namespace std::chrono_literals;
using heddle::preemption;
using heddle_test::compute;
using heddle_test::handled_by;
using heddle_test::in;
using heddle_test::is_blocked;
using heddle_test::kernel_thread;
using heddle_test::nothing_interrupts;
using heddle_test::options_for;
using heddle_test::repeat;
using heddle_test::spin_barrier;

class signal_techniques : public heddle_test::with_ticks<preemption> {};

// Kernel threads of the runtime, as its threads see them.
class seen_kernel_threads {
 public:
  void note(int id) {
    for (auto& place : ids_) {
      int free = 0;
      if (place.load() == id || place.compare_exchange_strong(free, id)) return;
    }
  }
  template <class F>
  void for_each(F&& f) const {
    for (const auto& place : ids_) {
      if (place.load() != 0) f(place.load());
    }
  }

 private:
  std::array<std::atomic<int>, 64> ids_{};
};

// Ticks come while a handler is at work on the alternate stack, where a context cannot be left; and they go on coming.
TEST_P(signal_techniques, handlers_on_the_alternate_stack_are_safe_from_ticks) {
  const handled_by user(SIGUSR1, [](int) { compute(100000); }, SA_RESTART | SA_ONSTACK);
  heddle::runtime rt(options_for(2));
  seen_kernel_threads seen;
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0}, handled{0};
  std::vector<heddle::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(in(rt, GetParam()), [&] {
      while (!stop) {
        seen.note(kernel_thread());
        std::uint64_t a = 1, b = 0;
        double x = 1, y = 0;
        for (int k = 0; k < 10000; ++k) {
          a += ++b;
          x += 0.5, y += x;
          asm volatile("" : "+r"(a), "+r"(b), "+x"(x), "+x"(y));
        }
        if (a != 50005001 || b != 10000 || x != 5001 || y != 25012500) wrong.fetch_add(1);
        handled.fetch_add(1);
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    const int before = handled.load();
    seen.for_each([](int id) { syscall(SYS_tgkill, getpid(), id, SIGUSR1); });
    while (handled.load() < before + 2) std::this_thread::yield();
  }
  stop = true;
  for (auto& t : all) t.join();
  EXPECT_EQ(wrong.load(), 0);
  const std::uint64_t until_now = rt.statistics().preemptions;
  spin_barrier(in(rt, GetParam()), 8, 10);  // ends by ticks only
  EXPECT_GT(rt.statistics().preemptions, until_now);
}

// The C library runs what changes a process's user on all kernel threads, by a signal.
TEST_P(signal_techniques, the_user_is_changed_beside_them) {
  heddle::runtime rt(options_for(2));
  std::atomic<bool> stop{false};
  std::vector<heddle::thread> all;
  for (int i = 0; i < 4; ++i)
    all.emplace_back(in(rt, GetParam()), [&] {
      while (!stop) compute(100);
    });
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(seteuid(geteuid()), 0);
    if (i % 10 == 0) heddle_test::wait_for_ticks(rt, 2);
  }
  stop = true;
  for (auto& t : all) t.join();
  spin_barrier(in(rt, GetParam()), 8, 10);
}

TEST_P(signal_techniques, ticks_come_though_the_maker_of_the_runtime_blocks_all_signals) {
  const nothing_interrupts here;
  heddle::runtime rt(options_for(2));
  spin_barrier(in(rt, GetParam()), 8, 10);
  EXPECT_GT(rt.statistics().preemptions, 0u);
  // All other signals stay blocked, because a thread of the program's own may wait for them.
  std::atomic<bool> blocked{false};
  heddle::thread(in(rt, GetParam()), [&] { blocked = is_blocked(SIGUSR1) && is_blocked(SIGTERM); }).join();
  EXPECT_TRUE(blocked.load());
}

// A handler that is preempted keeps the signals that it blocks, and
// the next thread on its kernel thread does not have them.
std::atomic<int> handler_waits{0};
std::atomic<bool> handler_lost_its_mask{false};

TEST_P(signal_techniques, a_preempted_handler_leaves_its_blocked_signals_to_nobody) {
  const handled_by user(SIGUSR1, [](int) {
    while (handler_waits.load() != 0) {
      if (!is_blocked(SIGUSR1)) handler_lost_its_mask = true;
    }
  });
  for (const unsigned workers : {1u, 2u}) {
    heddle::runtime rt(options_for(workers));
    handler_waits = 3;
    handler_lost_its_mask = false;
    std::atomic<int> found_blocked{0};
    std::vector<heddle::thread> all;
    all.emplace_back(in(rt, GetParam()), [&] {
      syscall(SYS_tgkill, getpid(), kernel_thread(), SIGUSR1);
      while (is_blocked(SIGUSR1)) {
      }
    });
    const auto look = [&] {
      for (int i = 0; i < 1000; ++i) {
        if (is_blocked(SIGUSR1)) found_blocked.fetch_add(1);
        compute(1000);
        if (i % 8 == 0) heddle::this_thread::yield();
      }
      handler_waits.fetch_sub(1);
    };
    all.emplace_back(in(rt, GetParam()), look);
    all.emplace_back(in(rt, preemption::none), look);
    all.emplace_back(in(rt, preemption::none), look);
    for (auto& t : all) t.join();
    EXPECT_EQ(found_blocked.load(), 0);
    EXPECT_FALSE(handler_lost_its_mask.load());
  }
}

// One handler's frame at a time on a stack, however fast ticks come: a small stack holds it.
TEST_P(signal_techniques, the_shortest_interval_fits_on_a_small_stack) {
  heddle::runtime_options o = options_for(2);
  o.preempt_interval = 10us;
  o.stack_size = 64 << 10;
  heddle::runtime rt(o);
  std::vector<heddle::thread> all;
  std::atomic<long> turns{0};
  for (int i = 0; i < 6; ++i) {
    all.emplace_back(in(rt, GetParam()), [&] {
      repeat(300ms, [&] {
        compute(50);
        turns.fetch_add(1);
      });
    });
  }
  for (auto& t : all) t.join();
  EXPECT_GT(turns.load(), 0);
  spin_barrier(in(rt, GetParam()), 6, 10);
}

// Another library takes the signal of the ticks for its own handler, as Go's runtime does, which interrupts its kernel
// threads by SIGURG: each gets what is meant for it.
std::atomic<int> others{0};

TEST_P(signal_techniques, another_library_takes_the_signal_of_the_ticks) {
  heddle::runtime rt(options_for(2));
  seen_kernel_threads seen;
  std::atomic<bool> stop{false};
  std::atomic<int> rounds{0};
  const auto body = [&] {
    while (!stop) {
      seen.note(kernel_thread());
      compute(1000);
      rounds.fetch_add(1);
    }
  };
  std::vector<heddle::thread> all;
  for (int i = 0; i < 4; ++i) all.emplace_back(in(rt, GetParam()), body);
  heddle_test::wait_for_ticks(rt, 2);  // timers go on
  const handled_by library(SIGURG, [](int) { others.fetch_add(1); }, SA_RESTART | SA_ONSTACK);
  all.emplace_back(in(rt, GetParam()), body);  // whoever makes a preemptive thread looks whether ticks arrive
  // A kernel thread that had no processor meanwhile has yet to make its timer anew. Each does in the end, and then the
  // library is called for its own signal alone.
  do {
    others = 0;
    pthread_kill(pthread_self(), SIGURG);
    heddle_test::wait_for_ticks(rt, 20);
  } while (others.load() != 1);
  for (int i = 0; i < 100; ++i) {
    const int until_now = rounds.load();
    seen.for_each([](int id) { syscall(SYS_tgkill, getpid(), id, SIGURG); });
    while (rounds.load() < until_now + 10) std::this_thread::yield();
  }
  EXPECT_GT(others.load(), 10);
  stop = true;
  for (auto& t : all) t.join();
  const std::uint64_t until_now = rt.statistics().preemptions;
  spin_barrier(in(rt, GetParam()), 8, 10);
  EXPECT_GT(rt.statistics().preemptions, until_now);
}

// A call that returns early with EINTR, and is made again with the time
// that was left, ends though ticks come faster than the timer slack.
TEST_P(signal_techniques, sleeps_in_the_kernel_end_at_short_intervals) {
  heddle::runtime_options o = options_for(1);
  o.preempt_interval = 20us;
  heddle::runtime rt(o);
  std::atomic<bool> stop{false};
  std::atomic<int> cut{0};
  heddle::thread spinner(in(rt, GetParam()), [&] {
    while (!stop) {
    }
  });
  std::vector<heddle::thread> all;
  for (int i = 0; i < 3; ++i) {
    all.emplace_back(in(rt, GetParam()), [&] {
      for (int k = 0; k < 5; ++k) {
        // By system call: errno is the kernel thread's.
        timespec rest{0, 3'000'000};
        while (syscall(SYS_nanosleep, &rest, &rest) != 0) cut.fetch_add(1);
      }
    });
  }
  for (auto& t : all) t.join();
  stop = true;
  spinner.join();
  EXPECT_GT(cut.load(), 0);
  EXPECT_LT(cut.load(), 15 * 40);  // a time slice doubles up to 1 ms: eight or so, then three
}

// However short the interval that is asked for: the interval is at least ten times what a tick was found to cost
// ([slice:5]), and the timer of the only worker's carrier ticks once an interval. A few more
// ticks are sent to new threads.
TEST_P(signal_techniques, ticks_leave_most_of_the_time_to_the_program) {
  heddle::runtime_options o = options_for(1);
  o.preempt_interval = 10us;
  heddle::runtime rt(o);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<heddle::thread> all;
  for (int i = 0; i < 2; ++i) all.emplace_back(in(rt, GetParam()), [] { repeat(100ms, [] { compute(1000); }); });
  for (auto& t : all) t.join();
  const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - begin;
  const std::uint64_t interval = rt.run([] { return heddle::worker::caller::now().on().home.ticks().interval(); });
  const std::uint64_t ticks = rt.statistics().ticks;
  EXPECT_GE(interval, 10'000u);
  EXPECT_GT(ticks, 0u);
  EXPECT_LE(ticks, static_cast<std::uint64_t>(elapsed.count()) / interval + 10) << interval << " ns each";
}

INSTANTIATE_TEST_SUITE_P(signals, signal_techniques,
                         testing::Values(preemption::signal_yield, preemption::klt_switching),
                         [](const auto& info) { return heddle_test::name_of(info.param); });

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these handle such signals themselves
// Of signals that stand for faults the first one sent must end the process, as it does without heddle.
TEST(signals_DeathTest, a_fault_signal_that_somebody_sends_ends_the_process) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto send = [](int signal) {
    heddle::runtime rt({.workers = 1});
    rt.run([] {});
    raise(signal);
    _exit(0);
  };
  EXPECT_EXIT(send(SIGSEGV), ::testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(send(SIGBUS), ::testing::KilledBySignal(SIGBUS), "");
}
#endif

}  // namespace
}  // namespace signals_test
