// The levels that the holder of a mutex inherits, and when it gives them back. The holder itself sees them: it spins
// until its level has the right value. tests/sim_explore/inheritance_test.cpp checks where threads are meanwhile, and
// that all of them make progress.
#include <heddle/condition_variable.hpp>
#include <heddle/latch.hpp>
#include <heddle/mutex.hpp>
#include <heddle/runtime.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "support/preemption.hpp"
#include "worker/worker.hpp"

namespace inheritance_test {
namespace {

using namespace std::chrono_literals;
using heddle::priority;
using heddle_test::in;

int level() { return heddle::worker::worker::current().current_thread()->level.load(); }

void until_level(int wanted) {
  while (level() != wanted) {
  }
}

class inheritance : public testing::Test {
 protected:
  // Runs holder() at level -2, which calls begun() when the others may come, and the others at theirs.
  template <class Holder>
  void play(Holder holder, std::vector<std::pair<int, std::function<void()>>> others) {
    heddle::latch begun(1);
    heddle::thread low(in(home_, priority{-2}), [&] {
      EXPECT_EQ(level(), -2);
      holder([&] { begun.count_down(); });
      EXPECT_EQ(level(), -2);
    });
    begun.wait();
    std::vector<heddle::thread> all;
    for (auto& [at, run] : others) all.emplace_back(in(home_, priority{at}), run);
    low.join();
    for (heddle::thread& t : all) t.join();
  }

  heddle::runtime home_{heddle_test::options_for(4)};
  heddle::mutex lock_, other_;
};

TEST_F(inheritance, lasts_until_the_unlock) {
  play(
      [&](auto begun) {
        lock_.lock();
        begun();
        until_level(3);
        lock_.unlock();
      },
      {{1, [&] { std::lock_guard hold(lock_); }}, {3, [&] { std::lock_guard hold(lock_); }}});
}

TEST_F(inheritance, ends_when_the_waiter_gives_up) {
  play(
      [&](auto begun) {
        lock_.lock();
        begun();
        until_level(3);
        until_level(1);
        lock_.unlock();
      },
      {{1, [&] { std::lock_guard hold(lock_); }}, {3, [&] { EXPECT_FALSE(lock_.try_lock_for(20ms)); }}});
  play(
      [&](auto begun) {
        lock_.lock();
        begun();
        until_level(3);
        until_level(-2);
        lock_.unlock();
      },
      {{3, [&] { EXPECT_FALSE(lock_.try_lock_for(20ms)); }}});
}

TEST_F(inheritance, is_of_each_mutex) {
  play(
      [&](auto begun) {
        lock_.lock();
        other_.lock();
        begun();
        until_level(3);
        lock_.unlock();
        until_level(1);
        other_.unlock();
      },
      {{1, [&] { std::lock_guard hold(other_); }}, {3, [&] { std::lock_guard hold(lock_); }}});
}

TEST_F(inheritance, goes_along_a_chain) {
  heddle::latch held(1);
  play(
      [&](auto begun) {
        lock_.lock();
        begun();
        until_level(5);
        lock_.unlock();
      },
      {{-1,
        [&] {
          std::lock_guard hold(other_);
          held.count_down();
          std::lock_guard next(lock_);
          EXPECT_EQ(level(), 5);
        }},
       {5, [&] {
          held.wait();
          std::lock_guard hold(other_);
        }}});
}

TEST_F(inheritance, the_normal_level_is_inherited_from_a_kernel_thread_outside) {
  std::thread outside;
  play(
      [&](auto begun) {
        lock_.lock();
        outside = std::thread([&] { std::lock_guard hold(lock_); });
        begun();
        until_level(0);
        lock_.unlock();
      },
      {});
  outside.join();
}

TEST_F(inheritance, ends_with_the_wait_for_a_condition) {
  heddle::condition_variable changed;
  bool set = false;
  play(
      [&](auto begun) {
        std::unique_lock hold(lock_);
        begun();
        until_level(3);
        while (!set) changed.wait(hold);
      },
      {{3, [&] {
          std::lock_guard hold(lock_);
          set = true;
          changed.notify_one();
        }}});
}

// Whoever has it last has nothing left of what it inherited.
TEST_F(inheritance, leaves_every_thread_its_own_level) {
  std::array<heddle::mutex, 3> locks;
  std::array<long, 3> inside{};
  std::atomic<long> entries{0};
  std::vector<heddle::thread> all;
  for (int i = 0; i < 16; ++i) {
    const int own = i % 8 - 4;
    all.emplace_back(in(home_, priority{own}), [&, i, own] {
      std::minstd_rand random(static_cast<unsigned>(i) + 1);
      for (int round = 0; round < 3000 * heddle_test::stress(); ++round) {
        const std::size_t first = random() % 3;
        const bool limited = random() % 4 == 0;
        if (limited && !locks[first].try_lock_for(std::chrono::microseconds(random() % 50))) continue;
        if (!limited) locks[first].lock();
        const bool two = first < 2 && random() % 2 == 0;
        if (two) locks[first + 1].lock();
        ++inside[first];
        if (two) ++inside[first + 1];
        entries += two ? 2 : 1;
        if (random() % 3 == 0) heddle::this_thread::yield();
        locks[first].unlock();
        if (two) locks[first + 1].unlock();
        ASSERT_EQ(level(), own);
      }
    });
  }
  for (heddle::thread& t : all) t.join();
  EXPECT_EQ(inside[0] + inside[1] + inside[2], entries.load());
}

class inheritance_by_ticks : public heddle_test::with_ticks<heddle::preemption> {};

// Strict priorities: without it the middle ones would keep both workers for ever.
TEST_P(inheritance_by_ticks, threads_between_do_not_keep_the_holder_from_letting_go) {
  for (const int holder : {-1, 0}) {
    heddle::runtime home(heddle_test::options_for(2));
    heddle::mutex lock;
    heddle::latch held(1);
    std::atomic<bool> waits{false}, had{false};
    std::vector<heddle::thread> all;
    all.emplace_back(in(home, priority{holder}, GetParam()), [&] {
      std::lock_guard hold(lock);
      held.count_down();
      heddle_test::wait_for(waits);
    });
    held.wait();
    all.emplace_back(in(home, priority{holder + 2}, GetParam()), [&] {
      waits = true;
      std::lock_guard hold(lock);
      had = true;
    });
    for (int i = 0; i < 2; ++i)
      all.emplace_back(in(home, priority{holder + 1}, GetParam()), [&] { heddle_test::wait_for(had); });
    for (heddle::thread& t : all) t.join();
  }
}

INSTANTIATE_TEST_SUITE_P(by, inheritance_by_ticks,
                         testing::Values(heddle::preemption::signal_yield, heddle::preemption::klt_switching),
                         [](const auto& i) { return heddle_test::name_of(i.param); });

}  // namespace
}  // namespace inheritance_test
