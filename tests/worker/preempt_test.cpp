// Preemptive threads: turns end by ticks, everything of heddle's works in them, and code that knows nothing of it, too.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cfenv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <numeric>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "worker/runtime.hpp"

#if defined(__SANITIZE_THREAD__)
#define HEDDLE_NO_TICKS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEDDLE_NO_TICKS 1
#endif
#endif

namespace {

using namespace std::chrono_literals;
using heddle::preemption;

struct way {
  preemption how;
  const char* timer;
  const char* klt;
};

std::string name_of(const way& w) {
  std::string name = w.how == preemption::signal_yield ? "signal_yield_" : "klt_";
  for (const char* c = w.timer; *c != 0; ++c) name += *c == '-' || *c == ':' ? '_' : *c;
  if (w.how == preemption::klt_switching) name += std::string("_") + w.klt;
  return name;
}

heddle::runtime_options options_for(unsigned workers, const way& w = {preemption::none, "aligned", "direct"}) {
  heddle::runtime_options o;
  o.workers = workers;
  o.preempt = preemption::none;
  o.preempt_interval = 100us;
  o.preempt_timer = w.timer;
  o.preempt_klt = w.klt;
  return o;
}

heddle::thread_options in(heddle::runtime& where, preemption how) {
  heddle::thread_options o;
  o.where = &where;
  o.preemption = how;
  return o;
}

// Threads that spin until all have come, so many times.
void spin_barrier(heddle::runtime& where, preemption how, int threads, int phases) {
  std::atomic<int> arrived{0}, phase{0};
  std::vector<heddle::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back(in(where, how), [&] {
      for (int p = 0; p < phases; ++p) {
        if (arrived.fetch_add(1) == threads - 1) {
          arrived.store(0);
          phase.fetch_add(1);
        }
        while (phase.load() <= p) {}
      }
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(phase.load(), phases);
}

class ways : public testing::TestWithParam<way> {
 protected:
  void SetUp() override {
#if defined(HEDDLE_NO_TICKS)
    GTEST_SKIP() << "no preemption under ThreadSanitizer";
#endif
  }
};

class techniques : public ways {};

TEST_P(ways, a_spinning_barrier_of_more_threads_than_workers_ends) {
  for (const unsigned workers : {1u, 2u, 3u}) {
    heddle::runtime rt(options_for(workers, GetParam()));
    spin_barrier(rt, GetParam().how, static_cast<int>(4 * workers), 20);
    EXPECT_GT(rt.statistics().preemptions, 0u);
  }
}

TEST_P(ways, all_kinds_of_threads_live_side_by_side) {
  heddle::runtime rt(options_for(2, GetParam()));
  std::atomic<bool> stop{false};
  std::atomic<long> turns{0};
  heddle::thread spinner(in(rt, GetParam().how), [&] { while (!stop) {} });
  heddle::thread other(in(rt, preemption::signal_yield), [&] { while (!stop) {} });
  heddle::thread third(in(rt, preemption::klt_switching), [&] { while (!stop) {} });
  std::vector<heddle::thread> all;
  for (int i = 0; i < 20; ++i) {
    all.emplace_back(in(rt, preemption::none), [&] {
      for (int j = 0; j < 5; ++j) {
        turns.fetch_add(1);
        heddle::this_thread::yield();
      }
    });
  }
  for (auto& t : all) t.join();
  stop = true;
  spinner.join();
  other.join();
  third.join();
  EXPECT_EQ(turns.load(), 100);
}

long fib(long n) {
  if (n < 2) return n;
  const auto [a, b] = heddle::parallel_invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

// For at least `span`, or until `done`.
template <class F>
void repeat(std::chrono::milliseconds span, F&& f) {
  const auto end = std::chrono::steady_clock::now() + span;
  do f();
  while (std::chrono::steady_clock::now() < end);
}

TEST_P(techniques, forks_groups_loops_and_waits_work_in_preemptive_threads) {
  heddle::runtime rt(options_for(2, GetParam()));
  heddle::mutex m;
  heddle::condition_variable c;
  heddle::semaphore permits(2);
  heddle::channel<int> line(4);
  const bool any_code = GetParam().how == preemption::klt_switching;
  long under_m = 0, produced = 0;
  std::atomic<long> produced_without{0};
  std::atomic<int> running{4};
  std::vector<heddle::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(in(rt, GetParam().how), [&] {
      repeat(300ms, [&] {
        EXPECT_EQ(fib(15), 610);
        std::array<int, 1000> v{};  // no malloc: signal-yield cannot have it
        heddle::parallel_for(std::size_t{0}, v.size(), [&](std::size_t k) { v[k] = static_cast<int>(k); });
        EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 499500);
        std::atomic<int> sum{0};
        heddle::task_group g;
        for (int k = 0; k < 8; ++k) g.run([&sum, k] { sum += k; });
        g.wait();
        EXPECT_EQ(sum.load(), 28);
        {
          std::lock_guard hold(m);
          ++under_m;
          for (int k = 0; k < 200; ++k) under_m += k % 2 == 0 ? 1 : -1;
        }
        permits.acquire();
        permits.release();
        heddle::this_thread::yield();
        heddle::this_thread::sleep_for(20us);
        if (any_code) EXPECT_TRUE(line.send(1));  // allocates
        else ++produced_without;
      });
      if (running.fetch_sub(1) == 1) line.close();
    });
  }
  heddle::thread reader(in(rt, GetParam().how), [&] {
    while (line.receive().has_value()) ++produced;
  });
  for (auto& t : all) t.join();
  reader.join();
  EXPECT_EQ(produced + produced_without.load(), under_m);
  EXPECT_GT(rt.statistics().preemptions, 0u);
}

TEST_P(techniques, groups_and_runtimes_have_a_kind) {
  auto o = options_for(1, GetParam());
  {
    heddle::runtime rt(o);
    rt.run([&] {
      std::atomic<int> arrived{0};
      heddle::task_group g;
      g.preempt(GetParam().how);
      for (int i = 0; i < 4; ++i) {
        g.run([&] {
          arrived.fetch_add(1);
          while (arrived.load() < 4) {}
        });
      }
      g.wait();
    });
    EXPECT_GT(rt.statistics().preemptions, 0u);
  }
  o.preempt = GetParam().how;
  heddle::runtime rt(o);
  rt.run([&] {  // halves of forks spin for each other
    std::atomic<int> arrived{0};
    auto meet = [&] {
      arrived.fetch_add(1);
      while (arrived.load() < 4) {}
    };
    heddle::parallel_invoke(meet, meet, meet, meet);
    EXPECT_EQ(fib(18), 2584);
  });
  EXPECT_GT(rt.statistics().preemptions, 0u);
}

TEST_P(techniques, exceptions_pass_through_preempted_code) {
  heddle::runtime rt(options_for(1, GetParam()));
  const bool any_code = GetParam().how == preemption::klt_switching;
  std::vector<heddle::thread> all;
  std::atomic<int> caught{0};
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(in(rt, GetParam().how), [&, i] {
      repeat(200ms, [&] {
        try {
          if (any_code) throw std::to_string(i);  // thrown and caught under fire
          heddle::this_thread::yield();
        } catch (const std::string& text) {
          for (volatile int spin = 0; spin < 1000;) spin = spin + 1;
          EXPECT_EQ(text, std::to_string(i));
          caught.fetch_add(1);
        }
      });
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(caught.load() > 0, any_code);
}

TEST_P(techniques, blocking_calls_and_system_calls_are_right) {
  heddle::runtime rt(options_for(1, GetParam()));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::atomic<bool> stop{false};
  heddle::thread spinner(in(rt, GetParam().how), [&] { while (!stop) {} });
  std::string got;
  heddle::thread reader(in(rt, GetParam().how), [&] {
    char buffer[64];
    for (;;) {
      const ssize_t n = heddle::blocking([&] { return read(ends[0], buffer, sizeof buffer); });
      ASSERT_GE(n, 0);
      if (n == 0) break;
      got.append(buffer, static_cast<std::size_t>(n));
    }
  });
  heddle::thread writer(in(rt, GetParam().how), [&] {
    for (int i = 0; i < 20; ++i) {
      for (volatile int spin = 0; spin < 100000;) spin = spin + 1;
      ASSERT_EQ(write(ends[1], "x", 1), 1);
    }
    close(ends[1]);
  });
  writer.join();
  reader.join();
  stop = true;
  spinner.join();
  close(ends[0]);
  EXPECT_EQ(got, std::string(20, 'x'));
}

TEST_P(techniques, rounding_mode_and_signal_mask_stay_a_threads_own) {
  heddle::runtime rt(options_for(1, GetParam()));
  std::vector<heddle::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(in(rt, GetParam().how), [i] {
      const int mode = i % 2 == 0 ? FE_UPWARD : FE_DOWNWARD;
      std::fesetround(mode);
      repeat(100ms, [&] {
        for (volatile int spin = 0; spin < 10000;) spin = spin + 1;
        ASSERT_EQ(std::fegetround(), mode);
      });
      std::fesetround(FE_TONEAREST);
    });
  }
  for (auto& t : all) t.join();
  EXPECT_GT(rt.statistics().preemptions, 0u);
}

TEST_P(techniques, errno_survives) {
  heddle::runtime rt(options_for(1, GetParam()));
  std::vector<heddle::thread> all;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(in(rt, GetParam().how), [&, i] {
      // One worker and one kernel thread under signal-yield: the location stays, the value is switched.
      repeat(200ms, [&] {
        errno = 1000 + i;
        for (volatile int spin = 0; spin < 20000;) spin = spin + 1;
        if (errno != 1000 + i) wrong.fetch_add(1);
      });
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(techniques, detached_and_ending_threads_leave_nothing) {
  heddle::runtime rt(options_for(2, GetParam()));
  std::atomic<int> done{0};
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 50; ++i) {
      heddle::thread(in(rt, GetParam().how), [&] {
        for (volatile int spin = 0; spin < 50000;) spin = spin + 1;
        done.fetch_add(1);
      }).detach();
    }
  }
  while (done.load() != 250) std::this_thread::yield();
}

// Without preemption such a barrier keeps all workers for ever; the watchdog tells.
TEST(no_preemption, the_watchdog_reports_a_spinning_barrier) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int before = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  std::string said;
  {
    auto o = options_for(2);
    o.watchdog = 1;
    heddle::runtime rt(o);
    std::atomic<int> arrived{0};
    std::atomic<bool> give_up{false};
    std::vector<heddle::thread> all;
    for (int i = 0; i < 20; ++i) {
      all.emplace_back(in(rt, preemption::none), [&] {
        arrived.fetch_add(1);
        while (arrived.load() < 20 && !give_up.load()) {}
      });
    }
    char piece[256];
    for (ssize_t n; said.find("no progress") == std::string::npos && (n = read(ends[0], piece, sizeof piece)) > 0;) said.append(piece, static_cast<std::size_t>(n));
    EXPECT_EQ(arrived.load(), 2);  // one a worker
    give_up = true;
    for (auto& t : all) t.join();
    dup2(before, STDERR_FILENO);
  }
  close(before);
  close(ends[0]);
  EXPECT_NE(said.find("no progress"), std::string::npos) << said;
}

// --- code that nobody here wrote -------------------------------------------------------------------------------------

struct means {
  preemption how;
  heddle::tls storage;
};

class any_code : public testing::TestWithParam<means> {
 protected:
  void SetUp() override {
#if defined(HEDDLE_NO_TICKS)
    GTEST_SKIP() << "no preemption under ThreadSanitizer";
#endif
    if (GetParam().storage != heddle::tls::own) return;
    heddle::runtime rt(options_for(1));
    try {
      heddle::thread(options(rt), [] {}).join();
    } catch (const std::system_error& e) {
      GTEST_SKIP() << e.what();
    }
  }
  static heddle::thread_options options(heddle::runtime& where) {
    heddle::thread_options o = in(where, GetParam().how);
    o.tls = GetParam().storage;
    return o;
  }
};

thread_local long mine = 0;
thread_local std::string text_of_mine;

std::atomic<int> keepsakes{0};
struct keepsake {
  keepsake() { keepsakes.fetch_add(1); }
  ~keepsake() { keepsakes.fetch_sub(1); }
  int value = 17;
};
thread_local keepsake kept;
thread_local int untouched = 5;

TEST_P(any_code, thread_local_objects_begin_and_end_with_their_thread) {
  if (GetParam().storage != heddle::tls::own) GTEST_SKIP() << "they are the kernel threads'";
  const int before = keepsakes.load();
  heddle::runtime rt(options_for(2));
  for (int round = 0; round < 5; ++round) {
    std::vector<heddle::thread> all;
    for (int i = 0; i < 6; ++i) {
      all.emplace_back(options(rt), [i] {
        ASSERT_EQ(untouched, 5);
        ASSERT_EQ(kept.value, 17);
        untouched = i;
        kept.value = i;
        for (int k = 0; k < 5; ++k) {
          heddle::this_thread::yield();
          for (volatile int spin = 0; spin < 100000;) spin = spin + 1;
          ASSERT_EQ(untouched, i);
          ASSERT_EQ(kept.value, i);
        }
        heddle::blocking([i] { ASSERT_EQ(kept.value, i); });
        ASSERT_EQ(kept.value, i);
      });
    }
    for (auto& t : all) t.join();
    EXPECT_EQ(keepsakes.load(), before);
  }
}

TEST_P(any_code, locks_know_their_owner) {
  heddle::runtime rt(options_for(2));
  std::recursive_mutex m;
  long count = 0;
  std::vector<heddle::thread> all;
  for (int i = 0; i < 8; ++i) {
    all.emplace_back(options(rt), [&] {
      for (int k = 0; k < 2000; ++k) {
        const std::lock_guard outer(m);
        const std::lock_guard inner(m);
        const long was = count;
        for (volatile int spin = 0; spin < 20;) spin = spin + 1;
        count = was + 1;
      }
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(count, 16000);
}

TEST_P(any_code, exceptions_of_all_depths) {
  heddle::runtime rt(options_for(2));
  std::vector<heddle::thread> all;
  for (int i = 0; i < 6; ++i) {
    all.emplace_back(options(rt), [i] {
      repeat(200ms, [&] {
        try {
          try {
            throw std::runtime_error(std::to_string(i));
          } catch (...) {
            heddle::this_thread::yield();
            std::throw_with_nested(std::logic_error("outer " + std::to_string(i)));
          }
        } catch (const std::logic_error& e) {
          ASSERT_EQ(e.what(), "outer " + std::to_string(i));
          try {
            std::rethrow_if_nested(e);
          } catch (const std::runtime_error& nested) {
            ASSERT_EQ(nested.what(), std::to_string(i));
          }
        }
        ASSERT_EQ(std::uncaught_exceptions(), 0);
      });
    });
  }
  for (auto& t : all) t.join();
}

TEST_P(any_code, malloc_printf_thread_local_and_errno) {
  heddle::runtime rt(options_for(2));
  std::vector<heddle::thread> all;
  std::atomic<long> rounds{0};
  for (int i = 0; i < 8; ++i) {
    all.emplace_back(options(rt), [&, i] {
      // Between waits of heddle's a preempted thread keeps its kernel thread, so its thread-local variables are its own for the while.
      mine = i;
      text_of_mine = std::string(40, static_cast<char>('a' + i));
      repeat(500ms, [&] {
        std::vector<char*> blocks;
        for (int k = 0; k < 50; ++k) {
          char* b = static_cast<char*>(std::malloc(static_cast<std::size_t>(16 + 37 * k)));
          std::memset(b, i + k, static_cast<std::size_t>(16 + 37 * k));
          blocks.push_back(b);
        }
        char line[100];
        std::snprintf(line, sizeof line, "%d %g %s", i, 0.5 * i, text_of_mine.c_str());
        char expected[100];
        std::snprintf(expected, sizeof expected, "%d %g %s", i, 0.5 * i, std::string(40, static_cast<char>('a' + i)).c_str());
        ASSERT_STREQ(line, expected);
        errno = i;  // free keeps it
        for (int k = 0; k < 50; ++k) {
          ASSERT_EQ(blocks[static_cast<std::size_t>(k)][15], static_cast<char>(i + k));
          std::free(blocks[static_cast<std::size_t>(k)]);
        }
        ASSERT_EQ(mine, i);
        ASSERT_EQ(errno, i);
        rounds.fetch_add(1);
      });
    });
  }
  for (auto& t : all) t.join();
  EXPECT_GT(rt.statistics().preemptions, 100u);
  EXPECT_GT(rounds.load(), 0);
}

TEST_P(any_code, regular_expressions) {
  heddle::runtime rt(options_for(2));
  std::vector<heddle::thread> all;
  for (int i = 0; i < 6; ++i) {
    all.emplace_back(options(rt), [i] {
      const std::string word = "w" + std::to_string(i);
      repeat(300ms, [&] {
        const std::regex pattern("(a|b)*" + word + "[0-9]+c?");
        std::smatch found;
        const std::string text = "abab" + word + "123c";
        ASSERT_TRUE(std::regex_match(text, found, pattern));
        ASSERT_FALSE(std::regex_match("x" + text, pattern));
      });
    });
  }
  for (auto& t : all) t.join();
}

TEST_P(any_code, a_barrier_of_pthreads) {
  // pthread_barrier_wait sleeps in the kernel. The tick interrupts the sleep; when the thread goes on, the system call is made
  // again and finds that the barrier has opened meanwhile.
  constexpr int threads = 8, phases = 20;
  heddle::runtime rt(options_for(2));
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, threads);
  std::atomic<int> serial{0};
  std::vector<heddle::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back(options(rt), [&] {
      for (int p = 0; p < phases; ++p) {
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) serial.fetch_add(1);
      }
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(serial.load(), phases);
  pthread_barrier_destroy(&barrier);
}

TEST_P(techniques, workers_stand_aside_and_come_back) {
  heddle::runtime rt(options_for(3, GetParam()));
  EXPECT_THROW(rt.set_active_workers(0), std::invalid_argument);
  EXPECT_THROW(rt.set_active_workers(4), std::invalid_argument);
  std::atomic<bool> stop{false};
  std::array<std::atomic<bool>, 3> seen{};
  std::vector<heddle::thread> all;
  for (int i = 0; i < 6; ++i) {
    all.emplace_back(in(rt, GetParam().how), [&] {
      while (!stop) seen[static_cast<std::size_t>(rt.worker_rank())] = true;
    });
  }
  const auto ranks = [&] {
    int count = 0;
    for (auto& s : seen) count += s.load() ? 1 : 0;
    return count;
  };
  for (const unsigned n : {1u, 3u, 2u, 3u}) {
    rt.set_active_workers(n);
    EXPECT_EQ(rt.active_workers(), n);
    int found;
    do {  // who ran still may be seen once more: until a look finds no more than n
      for (auto& s : seen) s = false;
      std::this_thread::sleep_for(10ms);
      found = ranks();
    } while (found != static_cast<int>(n) || (n < 3 && seen[2].load()));
  }
  rt.set_active_workers(1);
  stop = true;
  for (auto& t : all) t.join();
  rt.run([] { EXPECT_EQ(fib(15), 610); });
}

TEST(preempt, options_that_cannot_be_are_refused) {
  heddle::runtime_options o;
  o.workers = 1;
  o.preempt_timer = "hybrid:x";
  EXPECT_THROW(heddle::runtime{o}, std::invalid_argument);
  o.preempt_timer = "hourly";
  EXPECT_THROW(heddle::runtime{o}, std::invalid_argument);
  o.preempt_timer = "hybrid:3";
  o.preempt_interval = 1ns;
  EXPECT_THROW(heddle::runtime{o}, std::invalid_argument);
  o.preempt_interval = 1ms;
  o.preempt_klt = "magic";
  EXPECT_THROW(heddle::runtime{o}, std::invalid_argument);
#if defined(HEDDLE_NO_TICKS)
  o.preempt_klt = "direct";
  heddle::runtime rt(o);
  EXPECT_THROW(heddle::thread(in(rt, preemption::signal_yield), [] {}), std::system_error);
#endif
}

TEST_P(any_code, without_preemptive_threads_there_are_no_ticks) {
  heddle::runtime rt(options_for(2));
  rt.run([] { EXPECT_EQ(fib(22), 17711); });
  EXPECT_EQ(rt.statistics().ticks, 0u);
  // And they end: the timers stop when nobody wants them.
  heddle::thread(options(rt), [] { for (volatile int i = 0; i < 3000000;) i = i + 1; }).join();
  std::uint64_t before;
  do {
    before = rt.statistics().ticks;
    std::this_thread::sleep_for(5ms);
  } while (rt.statistics().ticks != before);
}

INSTANTIATE_TEST_SUITE_P(preempt, any_code,
                         testing::Values(means{preemption::klt_switching, heddle::tls::carrier}, means{preemption::signal_yield, heddle::tls::own},
                                         means{preemption::klt_switching, heddle::tls::own}),
                         [](const auto& info) {
                           return std::string(info.param.how == preemption::signal_yield ? "signal_yield" : "klt_switching") +
                                  (info.param.storage == heddle::tls::own ? "_own" : "_carrier");
                         });

INSTANTIATE_TEST_SUITE_P(preempt, ways,
                         testing::Values(way{preemption::signal_yield, "creation", "direct"}, way{preemption::signal_yield, "aligned", "direct"},
                                         way{preemption::signal_yield, "one-to-all", "direct"}, way{preemption::signal_yield, "chain", "direct"},
                                         way{preemption::signal_yield, "hybrid:2", "direct"}, way{preemption::klt_switching, "aligned", "naive"},
                                         way{preemption::klt_switching, "aligned", "futex"}, way{preemption::klt_switching, "aligned", "local"},
                                         way{preemption::klt_switching, "aligned", "direct"}, way{preemption::klt_switching, "creation", "direct"},
                                         way{preemption::klt_switching, "one-to-all", "local"}, way{preemption::klt_switching, "chain", "direct"},
                                         way{preemption::klt_switching, "hybrid:2", "naive"}),
                         [](const auto& info) { return name_of(info.param); });

INSTANTIATE_TEST_SUITE_P(preempt, techniques,
                         testing::Values(way{preemption::signal_yield, "aligned", "direct"}, way{preemption::signal_yield, "chain", "direct"},
                                         way{preemption::klt_switching, "aligned", "direct"}, way{preemption::klt_switching, "chain", "futex"},
                                         way{preemption::klt_switching, "aligned", "local"}, way{preemption::klt_switching, "aligned", "naive"}),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
