// Thread-local storage without preemption: threads that have their own (tls::own), and threads that use the storage of
// the thread that waits for them (tls::caller). own_storage_test.cpp tests such a block with the C library.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/preemption.hpp"
#include "support/waiting.hpp"

namespace own_storage_plain_test {
namespace {

using heddle::thread;
using heddle::thread_options;
using heddle_test::in;
using heddle_test::options_for;
using namespace std::chrono_literals;

// Code that may wait must not take this address twice, so it is read and written out of line.
thread_local int number = 7;
[[gnu::noinline]] int& here() {
  asm volatile("" ::: "memory");
  return number;
}
[[gnu::noinline]] int error() {
  asm volatile("" ::: "memory");
  return errno;
}
[[gnu::noinline]] void set_error(int value) { errno = value; }

std::atomic<int> witnesses{0};
struct witness {
  witness() { witnesses.fetch_add(1); }
  ~witness() { witnesses.fetch_sub(1); }
  int value = 3;
};
thread_local witness of_thread;

class plain_storage : public heddle_test::waiting {
 protected:
  void SetUp() override {
    waiting::SetUp();
    try {
      thread(kind(), [] {}).join();
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::not_supported);
      GTEST_SKIP() << e.what();
    }
  }
  void TearDown() override {
    EXPECT_EQ(wrong_.load(), 0);
    waiting::TearDown();
  }
  thread_options kind(heddle::tls storage = heddle::tls::own) {
    return in(runtime(), heddle::preemption::none, storage);
  }
  void expect(bool right) {
    if (!right) wrong_.fetch_add(1);
  }
  // Everything that may take a thread to another kernel thread, with a value that must come along.
  void go_about(int value) {
    here() = value;
    set_error(value);
    for (int i = 0; i < 10; ++i) {
      heddle::this_thread::yield();
      expect(here() == value && error() == value);
      heddle::parallel_invoke([] { heddle::this_thread::yield(); }, [] { heddle::this_thread::yield(); });
      heddle::task_group group;
      for (int k = 0; k < 4; ++k) group.run([] { heddle::this_thread::yield(); });
      group.wait();
      expect(here() == value);
      heddle::blocking([&] { expect(here() == value); });
      expect(here() == value);
      thread([] { heddle::this_thread::yield(); }).join();
      heddle::this_thread::sleep_for(1us);
      expect(here() == value);
      try {
        throw value;
      } catch (int caught) {
        heddle::this_thread::yield();
        expect(caught == value && here() == value);
      }
      set_error(value);
    }
  }
  std::atomic<int> wrong_{0};
};

TEST_P(plain_storage, goes_where_its_thread_goes) {
  std::vector<thread> all;
  for (int i = 0; i < 6; ++i) {
    all.emplace_back(kind(), [this, i] {
      expect(here() == 7 && error() == 0);
      go_about(100 + i);
    });
  }
  for (thread& t : all) t.join();
  progress();
  run([&] {
    heddle::task_group group;
    group.preempt(heddle::preemption::none, heddle::tls::own);
    for (int i = 0; i < 4; ++i) {
      group.run([this, i] {
        expect(here() == 7);
        go_about(200 + i);
      });
    }
    group.wait();
  });
}

TEST_P(plain_storage, the_end_of_a_thread_runs_on_it) {
  static std::atomic<int> destroyed{0};
  pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key, [](void*) { destroyed.fetch_add(1); }), 0);
  destroyed = 0;
  for (int i = 0; i < 5; ++i) {
    thread(kind(), [&] {
      expect(pthread_getspecific(key) == nullptr);
      pthread_setspecific(key, &destroyed);
      expect(of_thread.value == 3);
      heddle::this_thread::yield();
      expect(pthread_getspecific(key) == &destroyed);
    }).join();
    EXPECT_EQ(destroyed.load(), i + 1);
    EXPECT_EQ(witnesses.load(), 0);
  }
  pthread_key_delete(key);
}

// --- that of the caller --------------------------------------------------------------------------------------------

TEST_P(plain_storage, of_a_foreign_caller_goes_where_the_call_goes) {
  std::vector<std::thread> all;
  for (int k = 0; k < 3; ++k) {
    all.emplace_back([this, k] {
      const pthread_t self = pthread_self();
      here() = 50 + k;
      for (int i = 0; i < 5; ++i) {
        const int result = heddle::run(kind(heddle::tls::caller), [&] {
          expect(here() == 50 + k && pthread_equal(pthread_self(), self) != 0);
          go_about(300 + k);
          here() = 50 + k;
          expect(of_thread.value == 3);
          return i;
        });
        EXPECT_EQ(result, i);
        EXPECT_EQ(here(), 50 + k);
        EXPECT_EQ(heddle::this_thread::id(), 0u);
        progress();
      }
      EXPECT_GE(witnesses.load(), 1) << "what the call made is the caller's";
    });
  }
  for (std::thread& t : all) t.join();
  EXPECT_EQ(witnesses.load(), 0);
}

TEST_P(plain_storage, of_the_caller_can_be_passed_on) {
  here() = 1;
  heddle::run(kind(heddle::tls::caller), [&] {
    expect(here() == 1);
    here() = 2;
    heddle::run(kind(heddle::tls::caller), [&] {
      expect(here() == 2);
      go_about(3);
    });
    expect(here() == 3);
    here() = 4;
    thread(kind(), [&] { expect(here() == 7); }).join();
    heddle::blocking([&] { heddle::run(kind(heddle::tls::caller), [&] { expect(here() == 4), here() = 5; }); });
    expect(here() == 5);
  });
  EXPECT_EQ(here(), 5);
  thread(kind(), [&] {
    here() = 6;
    heddle::run(kind(heddle::tls::caller), [&] { expect(here() == 6), go_about(8); });
    expect(here() == 8);
  }).join();
  EXPECT_EQ(here(), 5);
  here() = 7;
  set_error(0);
}

TEST_P(plain_storage, of_the_caller_brings_exceptions_back) {
  try {
    throw 1;
  } catch (int) {
    EXPECT_THROW(heddle::run(kind(heddle::tls::caller),
                             [&] {
                               expect(std::current_exception() != nullptr);
                               heddle::this_thread::yield();
                               try {
                                 throw 2;
                               } catch (int inner) {
                                 heddle::this_thread::yield();
                                 expect(inner == 2);
                               }
                               throw std::runtime_error("out");
                             }),
                 std::runtime_error);
    EXPECT_NE(std::current_exception(), nullptr);
  }
  EXPECT_EQ(std::current_exception(), nullptr);
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

TEST_P(plain_storage, of_the_caller_is_refused_where_nobody_waits) {
  EXPECT_THROW(thread(kind(heddle::tls::caller), [] {}).join(), std::invalid_argument);
  heddle::runtime_options options;
  options.preempt_tls = heddle::tls::caller;
  EXPECT_THROW(heddle::runtime{options}, std::invalid_argument);
}

// A thread without storage of its own has none that it could give.
TEST_P(plain_storage, of_a_thread_that_has_none_nobody_gets) {
  run([&] {
    const int result = heddle::run(kind(heddle::tls::caller), [] { return heddle::this_thread::id() != 0; });
    expect(result == 1);
  });
}

TEST_P(plain_storage, of_the_caller_is_that_of_a_child_process) {
  if (heddle_test::sanitized) GTEST_SKIP() << "forks beside threads";
  here() = 9;
  heddle::run(kind(heddle::tls::caller), [&] {
    const pid_t child = fork();
    if (child == 0) {
      std::string text(1000, 'x');  // malloc, and a thread that the child starts
      std::thread([] {}).join();
      _exit(here() == 9 && text.size() == 1000 ? 0 : 1);
    }
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  });
  here() = 7;
}

INSTANTIATE_TEST_SUITE_P(workers, plain_storage,
                         testing::Combine(testing::ValuesIn(heddle_test::worker_counts()),
                                          testing::Values("random_ws", "work_sharing", "adws", "serial")),
                         heddle_test::runtime_name);

// Beside preemptive threads, whose ticks come to kernel threads that run such a thread.
TEST(plain_storage_and_ticks, a_tick_ends_no_slice) {
  if (heddle_test::sanitized) GTEST_SKIP() << "no storage of one's own";
  heddle_test::watchdog dog("plain_storage_and_ticks");
  heddle::runtime rt(options_for(2));
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  const auto on = [&](unsigned worker, heddle::preemption how, heddle::tls storage) {
    thread_options o = in(rt, how, storage);
    o.worker = static_cast<std::uint16_t>(worker);
    return o;
  };
  std::vector<thread> all;
  try {
    for (const unsigned worker : {0u, 1u}) {
      all.emplace_back(on(worker, heddle::preemption::signal_yield, heddle::tls::own),
                       [&] { heddle_test::wait_for(done); });
    }
  } catch (const std::system_error& e) {
    GTEST_SKIP() << e.what();
  }
  std::atomic<int> left{4};
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(on(1, heddle::preemption::none, heddle::tls::own), [&, i] {
      for (int k = 0; k < 20; ++k) {
        here() = i;
        heddle_test::wait_for_ticks(rt, 3);
        wrong.fetch_add(here() != i || rt.worker_rank() != 1);
        heddle::this_thread::yield();
        wrong.fetch_add(here() != i);
      }
      if (left.fetch_sub(1) == 1) done.store(true);
    });
  }
  for (thread& t : all) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace own_storage_plain_test
