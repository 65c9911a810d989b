// Stacks: classes, reuse, guards, return of pages, exhaustion.
#include "fiber/stack_pool.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <vector>

#include "platform/platform.hpp"
#include "support/runtimes.hpp"

namespace {

using heddle::fiber::stack_pool;
using heddle::fiber::thread;

TEST(stack_pool, classes_hold_what_they_promise) {
  EXPECT_EQ(stack_pool::class_for(1), 0u);
  EXPECT_EQ(stack_pool::class_for(stack_pool::smallest), 0u);
  EXPECT_EQ(stack_pool::class_for(stack_pool::smallest + 1), 1u);
  EXPECT_EQ(stack_pool::class_for(std::size_t{1} << 50), stack_pool::classes);
}

TEST(stack_pool, blocks_are_distinct_writable_and_reused) {
  stack_pool pool(64 << 10, 100);
  std::set<thread*> seen;
  thread* chain = pool.take(pool.default_class(), 50);
  unsigned count = 0;
  for (thread* t = chain; t != nullptr; t = t->next, ++count) {
    EXPECT_TRUE(seen.insert(t).second);
    EXPECT_GE(t->stack_bytes, 48u << 10);
    std::memset(t->stack_low, 0x5a, 64);                                          // the lowest usable bytes
    std::memset(reinterpret_cast<char*>(t) - 4096, 0x5a, 4096);                   // the first frames
  }
  EXPECT_EQ(count, 50u);
  EXPECT_EQ(pool.live(), 50u);
  pool.give(chain);
  EXPECT_EQ(pool.live(), 0u);
  chain = pool.take(pool.default_class(), 50);
  for (thread* t = chain; t != nullptr; t = t->next) EXPECT_EQ(seen.count(t), 1u);
  pool.give(chain);
}

struct pages {
  explicit pages(const thread* t)
      : low(reinterpret_cast<std::uintptr_t>(t->stack_low)), high((reinterpret_cast<std::uintptr_t>(t) + sizeof(thread) + page - 1) & ~(page - 1)) {}
  std::size_t resident() const {
    std::vector<unsigned char> each((high - low) / page);
    EXPECT_EQ(mincore(reinterpret_cast<void*>(low), high - low, each.data()), 0) << std::strerror(errno) << ' ' << low << ' ' << high;
    std::size_t count = 0;
    for (unsigned char p : each) count += p & 1;
    return count;
  }
  std::size_t page = heddle::platform::page_size();
  std::uintptr_t low, high;
};

TEST(stack_pool, pages_beyond_the_limit_go_back) {
  stack_pool pool(64 << 10, 2);
  thread* chain = pool.take(pool.default_class(), 6);
  std::vector<pages> all;
  for (thread* t = chain; t != nullptr; t = t->next) {
    std::memset(t->stack_low, 1, static_cast<std::size_t>(reinterpret_cast<char*>(t) - static_cast<char*>(t->stack_low)));
    all.emplace_back(t);
  }
  pool.give(chain);
  std::size_t committed = 0;
  for (const pages& p : all) committed += p.resident() > 0 ? 1 : 0;
  EXPECT_EQ(committed, 2u);
}

TEST(stack_pool_death, the_guard_faults) {
  stack_pool pool(64 << 10, 2);
  thread* t = pool.take(pool.default_class(), 1);
  EXPECT_DEATH(static_cast<volatile char*>(t->stack_low)[-1] = 1, "");
  pool.give(t);
}

TEST(stack_pool, no_memory_is_an_answer) {
  if (heddle_test::sanitized) GTEST_SKIP() << "sanitizers reserve more than any limit";
  const pid_t child = fork();
  if (child == 0) {
    rlimit limit{std::size_t{256} << 20, std::size_t{256} << 20};
    setrlimit(RLIMIT_AS, &limit);
    stack_pool pool(1 << 20, 100);
    thread* chain = pool.take(pool.default_class(), 1000);
    unsigned count = 0;
    for (thread* t = chain; t != nullptr; t = t->next) ++count;
    const bool again = pool.take(pool.default_class(), 1) == nullptr;
    pool.give(chain);
    const bool recovered = pool.take(pool.default_class(), 1) != nullptr;
    _exit(count > 0 && count < 1000 && again && recovered ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
