// Stacks: classes, reuse, guards, return of pages, exhaustion.
#include "fiber/stack_pool.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include <heddle/latch.hpp>
#include <heddle/runtime.hpp>
#include <heddle/thread.hpp>

#include "platform/platform.hpp"
#include "support/forked.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"
#include "worker/runtime.hpp"

namespace stack_pool_test {
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
    EXPECT_GE(t->stack_memory.bytes, 48u << 10);
    std::memset(t->stack_memory.low, 0x5a, 64);                  // the lowest usable bytes
    std::memset(reinterpret_cast<char*>(t) - 4096, 0x5a, 4096);  // the first frames
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
      : low(reinterpret_cast<std::uintptr_t>(t->stack_memory.low)),
        high((reinterpret_cast<std::uintptr_t>(t) + sizeof(thread) + page - 1) & ~(page - 1)) {}
  std::size_t resident() const {
    std::vector<unsigned char> each((high - low) / page);
    EXPECT_EQ(mincore(reinterpret_cast<void*>(low), high - low, each.data()), 0)
        << std::strerror(errno) << ' ' << low << ' ' << high;
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
    std::memset(t->stack_memory.low, 1,
                static_cast<std::size_t>(reinterpret_cast<char*>(t) - static_cast<char*>(t->stack_memory.low)));
    all.emplace_back(t);
  }
  pool.give(chain);
  std::size_t committed = 0;
  for (const pages& p : all) committed += p.resident() > 0 ? 1 : 0;
  EXPECT_EQ(committed, 2u);
}

// Takes so many stacks, uses all of their memory, and gives them back.
std::vector<pages> used_at_once(stack_pool& pool, unsigned count) {
  thread* const chain = pool.take(pool.default_class(), count);
  std::vector<pages> all;
  for (thread* t = chain; t != nullptr; t = t->next) {
    std::memset(t->stack_memory.low, 1,
                static_cast<std::size_t>(reinterpret_cast<char*>(t) - static_cast<char*>(t->stack_memory.low)));
    all.emplace_back(t);
  }
  pool.give(chain);
  return all;
}

std::size_t committed(const std::vector<pages>& all) {
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const pages& p) { return p.resident() > 0; }));
}

TEST(stack_pool, pages_that_were_needed_of_late_stay_for_two_periods) {
  stack_pool pool(64 << 10, 2, std::size_t{64} << 20);
  const std::vector<pages> all = used_at_once(pool, 40);
  EXPECT_EQ(committed(all), 40u);
  EXPECT_TRUE(pool.keeps_more());
  pool.age();
  EXPECT_EQ(committed(all), 40u);
  pool.give(pool.take(pool.default_class(), 40));  // needed again
  pool.age();
  EXPECT_EQ(committed(all), 40u);
  pool.give(pool.take(pool.default_class(), 10));
  pool.age();
  EXPECT_EQ(committed(all), 10u) << "no more than ten were needed since the last call but one";
  pool.age();
  EXPECT_EQ(committed(all), 2u);
  EXPECT_FALSE(pool.keeps_more());
  EXPECT_EQ(committed(used_at_once(pool, 40)), 40u) << "the stacks without pages are used again";
  EXPECT_EQ(pool.committed(), 40u);
}

TEST(stack_pool, what_is_kept_longer_has_a_bound) {
  stack_pool pool(64 << 10, 2, 10 * (std::size_t{48} << 10));
  EXPECT_EQ(committed(used_at_once(pool, 40)), 10u);
}

// The clock of a runtime tells its pool that time passes, also while all workers are idle.
TEST(stack_pool, a_runtime_gives_back_what_it_kept) {
  heddle::runtime_options options;
  options.workers = 2;
  options.stack_cache = 16;
  heddle::runtime home(options);
  heddle::fiber::stack_pool& pool = home.core().stacks();
  constexpr unsigned count = 3000;
  home.run([] {
    heddle::latch all(count);
    std::vector<heddle::thread> threads;
    for (unsigned i = 0; i < count; ++i) threads.emplace_back([&] { all.arrive_and_wait(); });
    for (heddle::thread& t : threads) t.join();
  });
  EXPECT_TRUE(pool.keeps_more());
  heddle_test::watchdog guard("what the pool keeps");
  while (pool.keeps_more()) std::this_thread::yield();
}

TEST(stack_pool, light_threads_are_handed_out_in_chains) {
  stack_pool pool(64 << 10, 100);
  std::set<thread*> seen;
  std::set<std::uint64_t> ids;
  std::vector<std::pair<thread*, unsigned>> chains;
  for (int i = 0; i < 40; ++i) {
    thread* const first = pool.take_light_chain();
    const unsigned length = heddle::fiber::light_threads::length(*first);
    unsigned count = 0;
    for (thread* t = first; t != nullptr; t = t->next, ++count) {
      EXPECT_TRUE(seen.insert(t).second);
      EXPECT_TRUE(ids.insert(t->id).second);
      EXPECT_TRUE(heddle::fiber::is_light(*t));
      std::memset(reinterpret_cast<char*>(t) - heddle::fiber::light_threads::room, 0x5a,
                  heddle::fiber::light_threads::room);
    }
    EXPECT_EQ(count, length);
    chains.emplace_back(first, length);
  }
  const std::size_t made = pool.light_made();
  EXPECT_EQ(made, seen.size());
  EXPECT_EQ(pool.live(), 0u);  // no stack was taken
  EXPECT_EQ(pool.committed(), 0u);
  thread* const one = pool.take_light();
  EXPECT_TRUE(seen.insert(one).second);
  pool.give_light(*one);
  for (const auto& [first, length] : chains) pool.give_light_chain(first, length);
  const std::size_t all = pool.light_made();
  for (std::size_t i = 0; i < all; ++i) {
    thread* const t = pool.take_light();
    EXPECT_EQ(seen.count(t), all == made ? 1u : seen.count(t));
    t->next = nullptr;
    chains[0].first = t;
    if (i % 2 == 0) pool.give_light(*t), pool.give_light(*pool.take_light());
  }
  EXPECT_EQ(pool.light_made(), all);
}

// The maker of a light thread is told at once if the thread's stack could not be had later.
TEST(stack_pool, light_threads_find_their_stacks) {
  if (heddle_test::sanitized) GTEST_SKIP() << "sanitizers reserve more than any limit";
  const int status = heddle_test::in_child([] {
    rlimit limit{std::size_t{512} << 20, std::size_t{512} << 20};
    setrlimit(RLIMIT_AS, &limit);
    stack_pool pool(1 << 20, 100);
    std::size_t light = 0;
    while (thread* first = pool.take_light_chain()) light += heddle::fiber::light_threads::length(*first);
    unsigned stacks = 0;
    while (stacks < light && pool.take(pool.default_class(), 1) != nullptr) ++stacks;
    _exit(light > 100 && light < 512 && stacks == light ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
}

TEST(stack_pool_death, the_guard_faults) {
  stack_pool pool(64 << 10, 2);
  thread* t = pool.take(pool.default_class(), 1);
  EXPECT_DEATH(static_cast<volatile char*>(t->stack_memory.low)[-1] = 1, "");
  pool.give(t);
}

TEST(stack_pool, no_memory_is_an_answer) {
  if (heddle_test::sanitized) GTEST_SKIP() << "sanitizers reserve more than any limit";
  const int status = heddle_test::in_child([] {
    std::size_t pages = 0;  // of this process so far
    std::ifstream("/proc/self/statm") >> pages;
    const std::size_t most = pages * static_cast<std::size_t>(getpagesize()) + (std::size_t{256} << 20);
    const rlimit limit{most, most};
    setrlimit(RLIMIT_AS, &limit);
    stack_pool pool(1 << 20, 100);
    thread* chain = pool.take(pool.default_class(), 1000);
    unsigned count = 0;
    for (thread* t = chain; t != nullptr; t = t->next) ++count;
    const bool again = pool.take(pool.default_class(), 1) == nullptr;
    pool.give(chain);
    const bool recovered = pool.take(pool.default_class(), 1) != nullptr;
    _exit(count > 0 && count < 1000 && again && recovered ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace stack_pool_test
