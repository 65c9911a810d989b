// Signals of the program's own beside ticks: alternate stacks, blocked
// signals, handlers that are preempted, who else uses the ticks' signal.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
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
#include "worker/caller.hpp"
#include "worker/runtime.hpp"

namespace signals_test {
namespace {

using namespace std::chrono_literals;
using heddle::preemption;
using heddle_test::in;
using heddle_test::options_for;
using heddle_test::repeat;
using heddle_test::spin_barrier;

int kernel_thread() { return static_cast<int>(syscall(SYS_gettid)); }

// By system call: a signal-yield thread may ask, too.
std::uint64_t blocked_now() {
  std::uint64_t bits = 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &bits, sizeof bits);
  return bits;
}
bool is_blocked(int signal) { return (blocked_now() >> (signal - 1) & 1) != 0; }
// While it lives nothing interrupts the calling kernel thread.
struct nothing_interrupts {
  std::uint64_t before{0};
  nothing_interrupts() {
    const std::uint64_t all = ~std::uint64_t{0};
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof all);
  }
  ~nothing_interrupts() { syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before); }
};

void compute(int rounds) {
  for (volatile int i = 0; i < rounds;) i = i + 1;
}

struct handled_by {
  struct sigaction before{};
  int number;
  handled_by(int signal, void (*handler)(int), int flags = SA_RESTART) : number(signal) {
    struct sigaction action{};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    EXPECT_EQ(sigaction(signal, &action, &before), 0);
  }
  ~handled_by() { sigaction(number, &before, nullptr); }
};

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

// Which alternate stack each kernel thread of the runtime has.
class alternate_stacks {
 public:
  void look() {
    const nothing_interrupts here;
    const int me = kernel_thread();
    stack_t s{};
    syscall(SYS_sigaltstack, nullptr, &s);
    if (s.ss_sp == nullptr) without_.fetch_add(1);
    for (pair& p : seen_) {
      int nobody = 0;
      if (p.kernel_thread.load() != me && !p.kernel_thread.compare_exchange_strong(nobody, me)) {
        if (p.stack.load() == s.ss_sp) shared_.fetch_add(1);
        continue;
      }
      void* none = nullptr;
      if (!p.stack.compare_exchange_strong(none, s.ss_sp) && none != s.ss_sp) changed_.fetch_add(1);
      break;
    }
  }
  void expect_one_each() const {
    EXPECT_EQ(without_.load(), 0);
    EXPECT_EQ(shared_.load(), 0);
    EXPECT_EQ(changed_.load(), 0);
  }

 private:
  struct pair {
    std::atomic<int> kernel_thread{0};
    std::atomic<void*> stack{nullptr};
  };
  std::array<pair, 64> seen_{};
  std::atomic<int> without_{0}, shared_{0}, changed_{0};
};

TEST_P(signal_techniques, every_kernel_thread_keeps_an_alternate_stack_of_its_own) {
  heddle::runtime rt(options_for(2));
  alternate_stacks stacks;
  std::vector<heddle::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(in(rt, GetParam()), [&] {
      repeat(300ms, [&] {
        compute(2000);
        stacks.look();
      });
    });
  }
  for (auto& t : all) t.join();
  EXPECT_GT(rt.statistics().preemptions, 0u);
  stacks.expect_one_each();
}

// The return from a handler on the thread's own stack installs the alternate stack that its frame names. The thread has
// been moved meanwhile, or has asked for the alternate stack, and puts it back.
TEST_P(signal_techniques, handlers_and_programs_install_no_other_kernel_threads_alternate_stack) {
  const handled_by user(SIGUSR1, [](int) {
    const int before = kernel_thread();
    for (int i = 0; i < 40 && kernel_thread() == before; ++i) compute(10'000);
  });
  for (const bool puts_back : {false, true}) {
    heddle::runtime rt(options_for(2));
    alternate_stacks stacks;
    std::vector<heddle::thread> all;
    for (int i = 0; i < 4; ++i) {
      all.emplace_back(in(rt, GetParam()), [&] {
        repeat(300ms, [&] {
          stack_t before{};
          syscall(SYS_sigaltstack, nullptr, &before);
          syscall(SYS_tgkill, getpid(), kernel_thread(), SIGUSR1);
          if (puts_back) syscall(SYS_sigaltstack, &before, nullptr);
          stacks.look();
        });
      });
    }
    for (auto& t : all) t.join();
    EXPECT_GT(rt.statistics().preemptions, 0u);
    stacks.expect_one_each();
  }
}

TEST_P(signal_techniques, an_alternate_stack_of_a_threads_own_goes_where_it_goes) {
  heddle::runtime rt(options_for(2));
  constexpr std::size_t bytes = 65536;
  std::atomic<int> wrong{0};
  std::vector<heddle::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(in(rt, GetParam()), [&] {
      void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      stack_t mine{}, before{};
      mine.ss_sp = memory;
      mine.ss_size = bytes;
      syscall(SYS_sigaltstack, &mine, &before);
      repeat(100ms, [&] {
        compute(10000);
        stack_t now{};
        syscall(SYS_sigaltstack, nullptr, &now);
        if (now.ss_sp != memory) wrong.fetch_add(1);
      });
      syscall(SYS_sigaltstack, &before, nullptr);  // perhaps another kernel thread's by now
      munmap(memory, bytes);
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(wrong.load(), 0);
  // Nobody is left with what was one thread's, or with another kernel thread's.
  std::atomic<void*> first{nullptr};
  std::atomic<int> first_id{0};
  all.clear();
  for (int i = 0; i < 2; ++i) {
    all.emplace_back(in(rt, GetParam()), [&] {
      repeat(50ms, [&] {
        compute(10000);
        const nothing_interrupts here;
        stack_t now{};
        syscall(SYS_sigaltstack, nullptr, &now);
        int nobody = 0;
        if (first_id.compare_exchange_strong(nobody, kernel_thread())) first = now.ss_sp;
        else if (nobody != kernel_thread() && first.load() == now.ss_sp) wrong.fetch_add(1);
        if (now.ss_sp == nullptr) wrong.fetch_add(1);
      });
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

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
  heddle_test::wait_for_ticks(rt, 2);
  others = 0;
  pthread_kill(pthread_self(), SIGURG);
  EXPECT_EQ(others.load(), 1);
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
