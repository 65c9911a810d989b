// To the C library threads with thread-local storage of their own are like kernel threads. They begin with nothing of
// the thread before, their end runs what the end of a kernel thread runs, and fork(), setuid(), dlopen() and dlclose()
// find them. An operation that does not work says so.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "arch/arch.hpp"
#include "platform/platform.hpp"
#include "support/preemption.hpp"

namespace own_storage_test {
namespace {

using heddle_test::in;
using heddle_test::options_for;
using heddle_test::repeat;
using namespace std::chrono_literals;

class own_storage : public testing::Test {
 protected:
  void SetUp() override {
    if (heddle_test::thread_sanitized) GTEST_SKIP() << "no preemption under ThreadSanitizer";
    try {
      run([] {});
    } catch (const std::system_error& e) {
      GTEST_SKIP() << e.what();
    }
  }
  static heddle::thread_options kind(heddle::runtime& where) {
    return in(where, heddle::preemption::signal_yield, heddle::tls::own);
  }
  // One thread after the other, so that the second has the block of the first.
  template <class F>
  void run(F f) {
    heddle::thread(kind(rt_), f).join();
  }
  template <class F>
  static int status_of(pid_t child, F&& what) {
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    EXPECT_TRUE(WIFEXITED(status)) << what << ": signal " << (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  heddle::runtime rt_{options_for(2)};
};

// --- the end of a thread -------------------------------------------------------------------------------------------

constexpr int many_keys = 70;  // the C library keeps the first 32 apart
pthread_key_t keys[many_keys];
std::atomic<int> destroyed{0};
std::atomic<long> wrong{0};

void destroy(void* value) {
  auto* number = static_cast<int*>(value);
  destroyed.fetch_add(1);
  if (*number > 0) {  // a destructor that sets its key again, and one before it
    --*number;
    pthread_setspecific(keys[0], value);
    return;
  }
  delete number;
}

TEST_F(own_storage, values_of_keys_are_destroyed_and_do_not_pass_on) {
  for (auto& k : keys) ASSERT_EQ(pthread_key_create(&k, destroy), 0);
  destroyed = 0;
  constexpr int threads = 6;
  for (int i = 0; i < threads; ++i) {
    run([] {
      for (auto k : keys) {
        if (pthread_getspecific(k) != nullptr) wrong.fetch_add(1);
      }
      for (auto k : keys) pthread_setspecific(k, new int(0));
    });
    EXPECT_EQ(destroyed.exchange(0), many_keys);
    run([] { pthread_setspecific(keys[many_keys - 1], new int(2)); });
    EXPECT_EQ(destroyed.exchange(0), 3);
  }
  EXPECT_EQ(wrong.load(), 0);
  // A key that was deleted has no destructor; nor has one that is made anew in its place seen the value.
  run([] {
    auto* value = new int(0);
    pthread_setspecific(keys[0], value);
    pthread_key_delete(keys[0]);
    pthread_key_create(&keys[0], destroy);
    delete value;
  });
  EXPECT_EQ(destroyed.load(), 0);
  for (auto k : keys) pthread_key_delete(k);
}

// Its destructor wants a thread_local object again, which therefore is made a second time after the first has gone.
std::atomic<int> witnesses{0};
struct witness {
  witness() { witnesses.fetch_add(1); }
  ~witness() { witnesses.fetch_sub(1); }
  int value = 3;
};
thread_local witness of_thread;
pthread_key_t late_key;

TEST_F(own_storage, a_destructor_may_use_thread_local_objects) {
  ASSERT_EQ(pthread_key_create(&late_key,
                               [](void*) {
                                 if (of_thread.value != 3) wrong.fetch_add(1);
                               }),
            0);
  for (int i = 0; i < 5; ++i) {
    run([] { pthread_setspecific(late_key, &wrong); });
    EXPECT_EQ(witnesses.load(), 0);
  }
  EXPECT_EQ(wrong.load(), 0);
  pthread_key_delete(late_key);
}

TEST_F(own_storage, nothing_of_the_thread_before) {
  locale_t other = newlocale(LC_ALL_MASK, "C", nullptr);
  ASSERT_NE(other, nullptr);
  const auto leave_traces = [other] {
    uselocale(other);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
    static_cast<void>(dlopen("there is no such library", RTLD_NOW));
    errno = 77;
  };
  for (int i = 0; i < 4; ++i) {
    run([] {
      EXPECT_EQ(errno, 0);
      EXPECT_EQ(uselocale(nullptr), LC_GLOBAL_LOCALE);
      EXPECT_EQ(dlerror(), nullptr);
      int before = -1;
      pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
      EXPECT_EQ(before, PTHREAD_CANCEL_ENABLE);
      pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before);
      EXPECT_EQ(before, PTHREAD_CANCEL_DEFERRED);
    });
    run(leave_traces);
  }
  freelocale(other);
}

// --- modules that come and go --------------------------------------------------------------------------------------

struct module {
  explicit module(const char* path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) throw std::runtime_error(dlerror());
    get = reinterpret_cast<long (*)()>(dlsym(handle, "initial_exec_get"));
    set = reinterpret_cast<void (*)(long)>(dlsym(handle, "initial_exec_set"));
  }
  ~module() { dlclose(handle); }
  void* handle;
  long (*get)();
  void (*set)(long);
};

TEST_F(own_storage, initial_exec_variables_of_modules_loaded_later) {
  for (int round = 0; round < 3; ++round) {
    // A thread that runs when the module comes, by itself and by another thread.
    std::atomic<const module*> there{nullptr};
    std::atomic<bool> seen{false};
    heddle::thread before(kind(rt_), [&] {
      while (there.load() == nullptr) {
      }
      EXPECT_EQ(there.load()->get(), 11);
      there.load()->set(1);
      seen.store(true);
    });
    run([&] {
      const module eleven(HEDDLE_INITIAL_EXEC_11);
      EXPECT_EQ(eleven.get(), 11);
      eleven.set(2);
      there.store(&eleven);
      heddle_test::wait_for(seen);
      EXPECT_EQ(eleven.get(), 2);
      // Threads that begin now.
      for (int i = 0; i < 3; ++i) {
        run([&] {
          EXPECT_EQ(eleven.get(), 11);
          eleven.set(3);
        });
      }
    });
    before.join();
    const module twenty_two(HEDDLE_INITIAL_EXEC_22);  // in the other's place
    for (int i = 0; i < 3; ++i) {
      run([&] {
        EXPECT_EQ(twenty_two.get(), 22);
        twenty_two.set(4);
      });
    }
  }
}

// --- the current queue, which lies among the variables that are made new --------------------------------------------

// A tick that found none there took the thread for no thread, and stopped a timer that all workers shared.
TEST_F(own_storage, the_end_of_a_thread_keeps_the_current_queue) {
  using namespace heddle;
  ASSERT_EQ(platform::why_no_own_tls(), nullptr);
  platform::own_tls* const block = platform::make_own_tls(1);
  ASSERT_NE(block, nullptr);
  void* const mine = arch::thread_pointer();
  auto* const mark = reinterpret_cast<detail::fork_queue*>(&wrong);
  sigset_t all, usual;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &usual);
  arch::set_thread_pointer(block->thread_pointer);
  heddle_current_queue = mark;
  platform::begin_own_tls(*block);
  const bool reusable = platform::end_own_tls(*block);
  const bool kept = heddle_current_queue == mark;
  heddle_current_queue = nullptr;
  arch::set_thread_pointer(mine);
  pthread_sigmask(SIG_SETMASK, &usual, nullptr);
  EXPECT_TRUE(reusable);
  EXPECT_TRUE(kept);
}

TEST_F(own_storage, a_shared_timer_goes_on) {
  heddle::runtime_options o = options_for(1);
  o.preempt_timer = "chain";
  o.preempt_interval = 50us;
  heddle::runtime rt(o);
  std::atomic<bool> end{false};
  std::vector<heddle::thread> spinners;
  for (int i = 0; i < 2; ++i)
    spinners.emplace_back(in(rt, heddle::preemption::signal_yield), [&] { heddle_test::wait_for(end); });
  heddle::thread(kind(rt), [&] {
    repeat(1s, [&] { heddle::thread(kind(rt), [] {}).join(); });  // ends only if the spinners' time slices do
    end.store(true);
  }).join();
  for (auto& t : spinners) t.join();
}

// --- other calls that look at all kernel threads ---------------------------------------------------------------------

TEST_F(own_storage, fork) {
  std::vector<heddle::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(kind(rt_), [i] {
      repeat(200ms, [i] {
        const pid_t child = fork();
        if (child == 0) {
          // It is the main thread of its process, and may do what such a thread may.
          std::string text(1000, 'x');
          try {
            throw std::runtime_error(text);
          } catch (const std::exception& e) {
            if (text != e.what()) _exit(1);
          }
          if (pthread_kill(pthread_self(), 0) != 0) _exit(2);
          cpu_set_t set;
          if (pthread_getaffinity_np(pthread_self(), sizeof set, &set) != 0) _exit(3);
          int done = 0;
          std::thread([&done] { done = 1; }).join();
          if (done != 1) _exit(4);
          if (setgid(getgid()) != 0) _exit(5);
          if (sched_getcpu() < 0) _exit(6);
          _exit(10 + i);
        }
        ASSERT_GT(child, 0);
        EXPECT_EQ(status_of(child, "child of a thread"), 10 + i);
      });
    });
  }
  for (auto& t : all) t.join();
}

TEST_F(own_storage, runtimes_in_a_child) {
  run([] {});
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> ran{0};
    {
      heddle::runtime rt(options_for(2));
      for (int i = 0; i < 3; ++i) heddle::thread(kind(rt), [&] { ran.fetch_add(1); }).join();
    }
    _exit(ran.load());
  }
  EXPECT_EQ(status_of(child, "child of the main thread"), 3);
}

TEST_F(own_storage, set_ids_in_a_thread) {
  std::vector<heddle::thread> all;
  std::atomic<int> left{3};
  for (int i = 0; i < 3; ++i) {
    all.emplace_back(kind(rt_), [&] {
      for (int k = 0; k < 20; ++k) EXPECT_EQ(setegid(getegid()), 0);
      left.fetch_sub(1);
      while (left.load() != 0) {
      }
    });
  }
  for (auto& t : all) t.join();
}

// The kernel would look for the owner of such a mutex by its number. Whichever comes later is refused.
TEST_F(own_storage, and_mutexes_that_inherit_priorities_exclude_each_other) {
  run([] {});
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  EXPECT_EQ(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT), ENOTSUP);
  EXPECT_EQ(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_NONE), 0);
  pthread_mutexattr_destroy(&attributes);
}

TEST(own_storage_DeathTest, is_refused_after_mutexes_that_inherit_priorities) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        bool refused = pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0;
        heddle::runtime rt(options_for(1));
        try {
          heddle::thread(heddle_test::in(rt, heddle::preemption::none, heddle::tls::own), [] {}).join();
          refused = false;
        } catch (const std::system_error&) {
        }
        _exit(refused ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

// thread_identity_test.cpp has the questions of a thread about itself.
TEST_F(own_storage, what_the_kernel_would_have_to_know_is_refused) {
  std::atomic<pthread_t> other{0};
  std::atomic<bool> end{false};
  heddle::thread second(kind(rt_), [&] {
    other.store(pthread_self());
    heddle_test::wait_for(end);
  });
  run([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT_EQ(pthread_setaffinity_np(pthread_self(), sizeof set, &set), ESRCH);
    EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);  // of the kernel thread
    timespec now;
    EXPECT_EQ(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
    while (other.load() == 0) {
    }
    EXPECT_EQ(pthread_kill(other.load(), 0), ESRCH);
    EXPECT_EQ(pthread_getaffinity_np(other.load(), sizeof set, &set), ESRCH);
    EXPECT_EQ(pthread_kill(pthread_self(), 0), 0);
  });
  end.store(true);
  second.join();
}

}  // namespace
}  // namespace own_storage_test
