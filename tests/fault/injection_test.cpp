// Each allocation and each system call that can fail does so once: the n-th fails, for n = 1, 2, .. until a program
// runs without a failure. A program may do without, or throw; nothing crashes, hangs, or is kept.
//
// This program's own operator new, mmap, mprotect, madvise and pthread_create stand before those of the libraries. Each
// n is a process of its own, forked while there is one kernel thread.
#include <heddle/blocking.hpp>
#include <heddle/future.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/parallel_sort.hpp>
#include <heddle/runtime.hpp>
#include <heddle/sleep.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "platform/platform.hpp"
#include "support/forked.hpp"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define HEDDLE_NO_INJECTION
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HEDDLE_NO_INJECTION
#endif
#endif

#ifdef HEDDLE_NO_INJECTION
TEST(injection, needs_the_system_calls_that_sanitizers_take) { GTEST_SKIP(); }
#else

namespace injection_test {
namespace {

enum class kind { allocation, mapping, protection, advice, kernel_thread, kinds };
constexpr const char* kind_names[] = {"allocation", "mapping", "protection", "advice", "kernel_thread"};

std::atomic<kind> failing{kind::kinds};  // none
std::atomic<long> left{0};               // until the one that fails; it is past when negative
std::atomic<long> blocks{0};             // alive
std::atomic<long> mapped{0};             // bytes

bool fails(kind what) noexcept { return failing.load() == what && left.fetch_sub(1) == 1; }

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (fails(kind::allocation)) return nullptr;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment < sizeof(void*) ? sizeof(void*) : alignment, bytes == 0 ? 1 : bytes) != 0)
    return nullptr;
  blocks.fetch_add(1);
  return memory;
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* memory = allocate(bytes, alignment); memory != nullptr) return memory;
  throw std::bad_alloc();
}

void give_back(void* memory) noexcept {
  if (memory == nullptr) return;
  blocks.fetch_sub(1);
  std::free(memory);
}

constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace
}  // namespace injection_test

using namespace injection_test;  // the C library's functions stand outside

void* operator new(std::size_t n) { return allocate_or_throw(n, usual); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, usual); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, usual); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, usual); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { give_back(p); }
void operator delete[](void* p) noexcept { give_back(p); }
void operator delete(void* p, std::size_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { give_back(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { give_back(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { give_back(p); }

extern "C" void* mmap(void* where, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  if (fails(kind::mapping)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  const long address = syscall(SYS_mmap, where, bytes, protection, flags, file, offset);
  if (address != -1) mapped.fetch_add(static_cast<long>(bytes));
  return reinterpret_cast<void*>(address);  // NOLINT: an address from the kernel
}
extern "C" int munmap(void* where, std::size_t bytes) noexcept {
  mapped.fetch_sub(static_cast<long>(bytes));
  return static_cast<int>(syscall(SYS_munmap, where, bytes));
}
extern "C" int mprotect(void* where, std::size_t bytes, int protection) noexcept {
  if (fails(kind::protection)) return errno = ENOMEM, -1;
  return static_cast<int>(syscall(SYS_mprotect, where, bytes, protection));
}
extern "C" int madvise(void* where, std::size_t bytes, int advice) noexcept {
  if (fails(kind::advice)) return errno = ENOMEM, -1;
  return static_cast<int>(syscall(SYS_madvise, where, bytes, advice));
}
extern "C" int pthread_create(pthread_t* made, const pthread_attr_t* attributes, void* (*entry)(void*),
                              void* argument) noexcept {
  using function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_create"));
  return fails(kind::kernel_thread) ? EAGAIN : real(made, attributes, entry, argument);
}

namespace injection_test {
namespace {

long fib(long n) {
  if (n < 2) return n;
  auto [x, y] = heddle::parallel_invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return x + y;
}

struct wrong {};

void check(bool right) {
  if (!right) throw wrong();
}

void forks(const char* policy) {
  heddle::runtime rt({.workers = 2, .policy = policy});
  check(rt.run([] { return fib(12); }) == 144);
}

void groups(const char* policy) {
  heddle::runtime rt({.workers = 2, .policy = policy});
  std::atomic<int> ran{0};
  rt.run([&] {
    heddle::task_group outer;
    for (int i = 0; i < 8; ++i) {
      outer.run([&] {
        heddle::task_group inner;
        inner.run([&] { ++ran; });
        heddle::this_thread::yield();
        inner.wait();
      });
    }
    outer.wait();
  });
  check(ran == 8);
}

void threads(const char* policy) {
  heddle::runtime rt({.workers = 2, .policy = policy});
  check(rt.run([] {
    int sum = 0;
    heddle::thread t([&] { sum += 1; });
    t.join();
    heddle::future<int> f = heddle::async([] {
      heddle::this_thread::sleep_for(std::chrono::microseconds(1));  // for what a timer takes, not for the time
      return 2;
    });
    sum += f.get();
    return sum + heddle::blocking([] { return 3; });
  }) == 6);
}

void loops(const char* policy) {
  heddle::runtime rt({.workers = 2, .policy = policy});
  std::vector<int> values(3000);
  std::iota(values.rbegin(), values.rend(), 0);
  rt.run([&] {
    heddle::parallel_sort(values.begin(), values.end());
    heddle::parallel_for(std::size_t{0}, values.size(), [&](std::size_t i) { values[i] += 1; });
  });
  for (int i = 0; i < 3000; ++i) check(values[static_cast<std::size_t>(i)] == i + 1);
}

struct program {
  const char* name;
  void (*run)(const char* policy);
};
constexpr program programs[] = {{"forks", forks}, {"groups", groups}, {"threads", threads}, {"loops", loops}};

enum outcome : int {
  reached_no_failure = 0,
  went_on = 10,
  threw = 11,
  kept_memory = 12,
  kept_mappings = 13,
  computed_wrongly = 14,
  threw_something_else = 15
};

// In a process of its own, whose end after a minute is that of a hang.
int with_failure(const program& p, const char* policy, kind what, long n) {
  const long blocks_before = blocks.load(), mapped_before = mapped.load();
  int result = went_on;
  left.store(n);
  failing.store(what);
  try {
    p.run(policy);
  } catch (const wrong&) {
    result = computed_wrongly;
  } catch (const std::exception&) {
    result = threw;
  } catch (...) {
    result = threw_something_else;
  }
  failing.store(kind::kinds);
  if (result == went_on && left.load() > 0) result = reached_no_failure;
  if (result <= threw && blocks.load() != blocks_before) {
    std::fprintf(stderr, "%ld blocks kept\n", blocks.load() - blocks_before);
    result = kept_memory;
  }
  if (result <= threw && mapped.load() != mapped_before) result = kept_mappings;
  return result;
}

class injection : public testing::TestWithParam<std::tuple<program, const char*>> {};

TEST_P(injection, each_call_fails_once) {
  const auto& [p, policy] = GetParam();
  // Some objects are made once and kept: the runtime's own, and an alternate stack for each of the largest number of
  // carriers that exist at once.
  p.run(policy);
  {
    [[maybe_unused]] const heddle::platform::alternate_stack kept[8];
  }
  for (int what = 0; what < static_cast<int>(kind::kinds); ++what) {
    int thrown = 0;
    long n = 1;
    for (;; ++n) {
      ASSERT_LT(n, 5000);
      const int status =
          heddle_test::in_child([&] { std::_Exit(with_failure(p, policy, static_cast<kind>(what), n)); });
      if (WIFEXITED(status) && WEXITSTATUS(status) == reached_no_failure) break;
      const bool clean = WIFEXITED(status) && (WEXITSTATUS(status) == went_on || WEXITSTATUS(status) == threw);
      EXPECT_TRUE(clean) << kind_names[what] << " " << n << ": " << (WIFEXITED(status) ? "outcome " : "signal ")
                         << (WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
      thrown += clean && WEXITSTATUS(status) == threw;
    }
    // The test sees failures at all.
    if (static_cast<kind>(what) == kind::allocation || static_cast<kind>(what) == kind::kernel_thread) {
      EXPECT_GT(thrown, 0) << kind_names[what];
    }
    RecordProperty(kind_names[what], static_cast<int>(n - 1));
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<program, const char*>>& info) {
  const auto& [p, policy] = info.param;
  return std::string(p.name) + (std::string_view(policy) == "random_ws" ? "" : "_apart");
}

INSTANTIATE_TEST_SUITE_P(over, injection, testing::Combine(testing::ValuesIn(programs), testing::Values("random_ws")),
                         name_of);
// Children are tasks of the policy there.
INSTANTIATE_TEST_SUITE_P(over_policies, injection,
                         testing::Combine(testing::Values(programs[0], programs[1]), testing::Values("ml-adws")),
                         name_of);

}  // namespace
}  // namespace injection_test

#endif
