// The core's own protocols under schedules that differ at every atomic operation: parking and waking, stealing, joins,
// cancellation, time limits, blocking calls, the fork queue.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>

#include <heddle/heddle.hpp>

#include "platform/platform.hpp"
#include "queue/fork_queue.hpp"
#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace protocols_test {
namespace {

TEST(protocols, park_and_wake) {
  expect_right([] {
    runtime home(workers(3));
    std::atomic<int> done{0};
    for (int i = 0; i < 3; ++i) on(home, [&] { done.fetch_add(1); });
    require(done.load() == 3);
  });
}

TEST(protocols, steal_and_join) {
  expect_right([] {
    runtime home(workers(3));
    long value = 0;
    on(home, [&] { value = fib(7); });
    require(value == 13);
  });
}

TEST(protocols, exceptions_reach_the_join) {
  expect_right([] {
    runtime home(workers(2));
    int caught = 0;
    on(home, [&] {
      for (int i = 0; i < 3; ++i) {
        try {
          parallel_invoke([] { fib(3); }, [] { throw std::runtime_error("second"); });
        } catch (const std::runtime_error&) {
          ++caught;
        }
      }
    });
    require(caught == 3);
  });
}

TEST(protocols, mutex_and_condition_variable) {
  expect_right([] {
    runtime home(workers(3));
    mutex lock;
    condition_variable changed;
    int turn = 0;
    thread_options where;
    where.where = &home;
    thread ping(where, [&] {
      for (int i = 0; i < 3; ++i) {
        std::unique_lock hold(lock);
        changed.wait(hold, [&] { return turn == 0; });
        turn = 1;
        changed.notify_one();
      }
    });
    thread pong(where, [&] {
      for (int i = 0; i < 3; ++i) {
        std::unique_lock hold(lock);
        changed.wait(hold, [&] { return turn == 1; });
        turn = 0;
        changed.notify_one();
      }
    });
    ping.join();
    pong.join();
    require(turn == 0);
  });
}

// Senders and receivers meet at locks of their own; who has to wait takes
// both. (Stops are tests/wait/channel_test.cpp's: std::stop_callback
// tells threads apart by kernel threads, of which a simulation has one.)
TEST(protocols, channels_lose_and_double_nothing) {
  for (const std::size_t capacity : {std::size_t{0}, std::size_t{1}, channel<int>::unbounded}) {
    expect_right(
        [capacity] {
          runtime home(workers(3));
          on(home, [capacity] {
            channel<int> c(capacity);
            std::atomic<int> sum{0};
            const auto send = [&](int from) {
              for (int i = from; i < from + 2; ++i) require(c.send(i));
            };
            const auto receive = [&] {
              while (const auto value = c.receive()) sum.fetch_add(*value);
            };
            thread first([&] { send(1); }), second([&] { send(10); });
            thread taker(receive), other(receive);
            first.join();
            second.join();
            c.close();
            taker.join();
            other.join();
            require(sum.load() == 1 + 2 + 10 + 11);
            require(!c.send(1));
          });
        },
        schedules() / 3);
  }
}

TEST(protocols, a_loop_is_divided_on_demand) {
  expect_right([] {
    runtime home(workers(3));
    std::array<std::atomic<int>, 24> times{};
    on(home, [&] {
      parallel_for(0, 24, [&](int i) {
        if (i % 7 == 0) fib(3);
        times[static_cast<std::size_t>(i)].fetch_add(1);
      });
    });
    for (const auto& t : times) require(t.load() == 1);
  });
}

// Whoever begins a range of it shows the upper half as if asked for
// it, beside thieves that ask and such that take by force.
TEST(protocols, an_uneven_loop_is_shown_unasked) {
  expect_right([] {
    struct counting {
      using result = heddle::detail::nothing_returned;
      std::array<std::atomic<int>, 24> times{};
      void operator()(result&, std::size_t low, std::size_t high) {
        for (; low < high; ++low) {
          if (low > 20) fib(3);
          times[low].fetch_add(1);
        }
      }
      static result combine(result, result) noexcept { return {}; }
      static result nothing() noexcept { return {}; }
    } counts;
    runtime home(workers(3));
    on(home, [&] {
      heddle::detail::loop_site site;
      for (int i = 0; i < 2; ++i, site.age()) site.surprise(21, 24, 24, 100'000);
      require(site.is_uneven());
      heddle::detail::run_loop(counts, counts.times.size(), site, 0, std::stop_token());
    });
    for (const auto& t : counts.times) require(t.load() == 1);
  });
}

TEST(protocols, time_limits_and_wakers_compete) {
  expect_right([] {
    runtime home(workers(2));
    on(home, [&] {
      semaphore tokens(0);
      std::atomic<int> taken{0};
      thread taker([&] {
        for (int i = 0; i < 3; ++i) {
          if (tokens.try_acquire_for(std::chrono::nanoseconds(500))) taken.fetch_add(1);
        }
      });
      tokens.release();
      fib(3);
      tokens.release();
      taker.join();
      int left = 0;
      while (tokens.try_acquire()) ++left;
      require(taken.load() + left == 2);
    });
  });
}

TEST(protocols, blocking_calls_hand_their_worker_over) {
  expect_right([] {
    runtime home(workers(2));
    on(home, [&] {
      long value = 0;
      parallel_invoke([&] { blocking([&] { value = 1; }); }, [] { fib(4); });
      require(value == 1);
    });
  });
}

// Owner and thief on the queue itself: each entry is had once.
struct contest {
  queue::fork_queue q;
  std::array<detail::slot, queue::slots_for(16)> memory{};
  std::array<std::atomic<int>, 8> had{};

  void have(detail::entry item) {
    if (item != 0) require(had[item / 8 - 1].fetch_add(1) == 0);
  }
};

void own(void* data) {
  auto& c = *static_cast<contest*>(data);
  // The inline parts of push and pop, on a queue that is no worker's.
  for (unsigned i = 0; i < c.had.size(); ++i) {
    detail::slot* position = c.q.bottom.load();
    position->store((i + 1) * 8);
    c.q.bottom.store(position + 1);
    if (position + 1 >= c.q.push_limit.load()) require(queue::push(c.q, position).done);
    if (i % 3 != 2) continue;
    bool published = false;
    c.have(queue::take_newest(c.q, published));
  }
  bool published = false;
  while (const detail::entry item = queue::take_newest(c.q, published)) c.have(item);
}

void rob(void* data) {
  auto& c = *static_cast<contest*>(data);
  for (int i = 0; i < 12; ++i) {
    bool left = false;
    queue::request(c.q);
    c.have(queue::steal(c.q, left));
    if (i % 4 == 3) c.have(queue::force_steal(c.q, platform::heavy_fence));
  }
}

// Several foreign kernel threads call: each carries a worker that slept, and some find none.
struct callers {
  runtime home;
  std::atomic<int> right{0};
};
void call_twice(void* argument) {
  auto& c = *static_cast<callers*>(argument);
  for (int i = 0; i < 2; ++i) {
    long value = 0;
    on(c.home, [&] { value = fib(4); });
    c.right.fetch_add(value == 3 ? 1 : 0);
  }
}

TEST(protocols, foreign_threads_carry_workers) {
  for (const std::size_t n : {1u, 2u, 3u}) {
    expect_right(
        [n] {
          callers c{runtime(workers(n)), {}};
          platform::kernel_thread first, second;
          require(platform::start(first, call_twice, &c, "first") == 0);
          require(platform::start(second, call_twice, &c, "second") == 0);
          call_twice(&c);
          platform::join(first);
          platform::join(second);
          require(c.right.load() == 6);
        },
        schedules() / 3);
  }
}

// Work that is published while a foreign kernel thread has a worker is found when the worker comes back, or by others:
// halves that wait for each other meet.
TEST(protocols, halves_meet_beside_foreign_calls) {
  expect_right([] {
    callers c{runtime(workers(2)), {}};
    platform::kernel_thread other;
    require(platform::start(other, call_twice, &c, "other") == 0);
    std::atomic<int> here{0};
    on(c.home, [&] {
      parallel_invoke(
          [&] {
            here.fetch_add(1);
            while (here.load() < 2) this_thread::pause();
          },
          [&] {
            here.fetch_add(1);
            while (here.load() < 2) this_thread::pause();
          });
    });
    platform::join(other);
    require(here.load() == 2 && c.right.load() == 2);
  });
}

TEST(protocols, the_fork_queue_gives_each_entry_once) {
  expect_right([] {
    contest c;
    queue::attach(c.q, c.memory.data(), 16);
    require(!queue::watch_every_fork(c.q, false));
    platform::kernel_thread owner, thief, second;
    require(platform::start(owner, own, &c, "owner") == 0);
    require(platform::start(thief, rob, &c, "thief") == 0);
    require(platform::start(second, rob, &c, "thief") == 0);
    platform::join(owner);
    platform::join(thief);
    platform::join(second);
    for (const auto& times : c.had) require(times.load() == 1);
  });
}

}  // namespace
}  // namespace protocols_test
}  // namespace heddle::sim
