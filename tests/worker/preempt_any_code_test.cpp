// Preemptive threads run code that nobody here wrote: the C and C++ libraries keep locks, caches and thread-local
// variables of their own. Whole libraries: preempt_foreign_test.cpp.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/fib.hpp"
#include "support/preemption.hpp"

namespace preempt_any_code_test {
namespace {

using namespace std::chrono_literals;
using heddle_test::fib;
using heddle_test::options_for;
using heddle_test::repeat;

class any_code : public heddle_test::by_means {};

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
      all.emplace_back(kind(rt), [i] {
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
    all.emplace_back(kind(rt), [&] {
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
    all.emplace_back(kind(rt), [i] {
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
    all.emplace_back(kind(rt), [&, i] {
      // Between waits of heddle's a preempted thread keeps its kernel
      // thread, so its thread-local variables are its own for the while.
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
        std::snprintf(expected, sizeof expected, "%d %g %s", i, 0.5 * i,
                      std::string(40, static_cast<char>('a' + i)).c_str());
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
    all.emplace_back(kind(rt), [i] {
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
  // pthread_barrier_wait sleeps in the kernel. The tick interrupts the sleep; when the thread goes on, the system call
  // is made again and finds that the barrier has opened meanwhile.
  constexpr int threads = 8, phases = 20;
  heddle::runtime rt(options_for(2));
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, threads);
  std::atomic<int> serial{0};
  std::vector<heddle::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back(kind(rt), [&] {
      for (int p = 0; p < phases; ++p) {
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) serial.fetch_add(1);
      }
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(serial.load(), phases);
  pthread_barrier_destroy(&barrier);
}

TEST_P(any_code, without_preemptive_threads_there_are_no_ticks) {
  heddle::runtime rt(options_for(2));
  rt.run([] { EXPECT_EQ(fib(22), 17711); });
  EXPECT_EQ(rt.statistics().ticks, 0u);
  // And they end: the timers stop when nobody wants them.
  heddle::thread(kind(rt), [] {
    for (volatile int i = 0; i < 3000000;) i = i + 1;
  }).join();
  std::uint64_t before;
  do {
    before = rt.statistics().ticks;
    rt.run([] { fib(25); });  // many times the interval of ticks
  } while (rt.statistics().ticks != before);
}

INSTANTIATE_TEST_SUITE_P(preempt, any_code, testing::ValuesIn(heddle_test::every_means),
                         [](const auto& info) { return heddle_test::name_of(info.param); });

}  // namespace
}  // namespace preempt_any_code_test
