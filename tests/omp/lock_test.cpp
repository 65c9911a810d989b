// Locks: exclusion among members of teams that are larger than the workers and among kernel threads, nesting, tasks as
// owners, and memory that is gone right after a lock was let go.
#include "omp/core/locks/lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "omp/api/api.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

namespace lock_test {
namespace {

using namespace heddle::omp;

template <class Body>
void region(int threads, Body body) {
  region_options how;
  how.threads = threads;
  run_region(heddle::omp::thread::current(), how,
             {[](void* data, heddle::omp::thread& self) { (*static_cast<Body*>(data))(self); }, &body});
}

TEST(Lock, ExcludesMembersOfATeam) {
  for (const int threads : {2, 4, 16}) {
    word_lock lock;
    long count = 0;
    region(threads, [&](heddle::omp::thread&) {
      for (int i = 0; i < 2000; ++i) {
        lock.lock();
        const long seen = count;
        count = seen + 1;
        lock.unlock();
      }
    });
    EXPECT_EQ(count, threads * 2000L);
  }
}

TEST(Lock, WaitersSleepWhileItIsHeldForLong) {
  word_lock lock;
  std::vector<int> order;
  region(8, [&](heddle::omp::thread& self) {
    for (int i = 0; i < 20; ++i) {
      lock.lock();
      order.push_back(static_cast<int>(self.number));
      for (int spin = 0; spin < 200; ++spin) heddle_pause();
      lock.unlock();
    }
  });
  EXPECT_EQ(order.size(), 160u);
}

TEST(Lock, ExcludesKernelThreads) {
  word_lock lock;
  long count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        lock.lock();
        ++count;
        lock.unlock();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(count, 20000);
}

TEST(Lock, ManyLocksInOneRowOfTheTable) {
  constexpr int locks = 200;
  auto all = std::make_unique<word_lock[]>(locks);
  std::vector<long> counts(locks);
  region(6, [&](heddle::omp::thread& self) {
    for (int i = 0; i < 4000; ++i) {
      const auto which = static_cast<std::size_t>((i * 7 + static_cast<int>(self.number) * 3) % locks);
      all[which].lock();
      ++counts[which];
      all[which].unlock();
    }
  });
  long sum = 0;
  for (const long c : counts) sum += c;
  EXPECT_EQ(sum, 24000);
}

TEST(Lock, TestingDoesNotWait) {
  word_lock lock;
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  std::atomic<int> got{0};
  region(4, [&](heddle::omp::thread&) { got += lock.try_lock() ? 1 : 0; });
  EXPECT_EQ(got, 0);
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

// The last thread that takes the lock may free its memory, so threads that released it before must not touch it any
// more.
TEST(Lock, MayBeDestroyedByWhoHasItNext) {
  for (int round = 0; round < 200; ++round) {
    auto* lock = new word_lock;
    std::atomic<int> left{4};
    region(4, [&](heddle::omp::thread&) {
      lock->lock();
      const bool last = left.fetch_sub(1) == 1;
      lock->unlock();
      if (last) {
        std::memset(static_cast<void*>(lock), 0xff, sizeof *lock);
        delete lock;
      }
    });
  }
}

TEST(NestLock, CountsForItsOwner) {
  void* memory = nullptr;
  omp_init_nest_lock(&memory);
  EXPECT_EQ(omp_test_nest_lock(&memory), 1);
  omp_set_nest_lock(&memory);
  EXPECT_EQ(omp_test_nest_lock(&memory), 3);
  std::atomic<int> others{0};
  region(3, [&](heddle::omp::thread&) { others += omp_test_nest_lock(&memory); });  // other tasks, the caller's too
  EXPECT_EQ(others, 0);
  for (int i = 0; i < 3; ++i) omp_unset_nest_lock(&memory);
  EXPECT_EQ(omp_test_nest_lock(&memory), 1);
  omp_unset_nest_lock(&memory);
  omp_destroy_nest_lock(&memory);
}

TEST(NestLock, ExcludesMembersOfATeam) {
  void* memory = nullptr;
  omp_init_nest_lock(&memory);
  long count = 0;
  region(5, [&](heddle::omp::thread&) {
    for (int i = 0; i < 1000; ++i) {
      omp_set_nest_lock(&memory);
      omp_set_nest_lock(&memory);
      ++count;
      omp_unset_nest_lock(&memory);
      ++count;
      omp_unset_nest_lock(&memory);
    }
  });
  EXPECT_EQ(count, 10000);
  omp_destroy_nest_lock(&memory);
}

// gcc's omp_lock_t has four bytes, gfortran's nestable lock eight.
TEST(Lock, KeepsToTheMemoryThatHeadersReserve) {
  struct {
    std::uint32_t before{0x11111111u};
    std::uint32_t lock{0xffffffffu};
    std::uint32_t after{0x22222222u};
  } small;
  omp_init_lock(&small.lock);
  region(4, [&](heddle::omp::thread&) {
    for (int i = 0; i < 500; ++i) {
      omp_set_lock(&small.lock);
      omp_unset_lock(&small.lock);
    }
  });
  omp_destroy_lock(&small.lock);
  EXPECT_EQ(small.before, 0x11111111u);
  EXPECT_EQ(small.after, 0x22222222u);
}

}  // namespace
}  // namespace lock_test
