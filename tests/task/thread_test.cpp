// thread: creation, join, detach, yield; sizes, names, ids; foreign use.
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/runtimes.hpp"
#include "worker/runtime.hpp"

namespace thread_test {
namespace {

class threads : public heddle_test::over_runtimes {};

TEST_P(threads, join_sees_the_effects) {
  run([] {
    int value = 0;
    for (int i = 1; i <= 1000; ++i) {
      heddle::thread t([&] { value = i; });
      t.join();
      ASSERT_EQ(value, i);
      ASSERT_FALSE(t.joinable());
    }
  });
}

TEST_P(threads, arguments_are_copied_and_handed_over) {
  run([] {
    int by_reference = 0;
    std::string text = "abc";
    heddle::thread t(
        [](std::string own, int& out, std::unique_ptr<int> moved) { out = static_cast<int>(own.size()) + *moved; },
        text, std::ref(by_reference), std::make_unique<int>(4));
    text = "changed";
    t.join();
    EXPECT_EQ(by_reference, 7);
    heddle::thread named(
        heddle::thread_options{.name = "named"}, [](int& out, int in) { out = in; }, std::ref(by_reference), 5);
    named.join();
    EXPECT_EQ(by_reference, 5);
  });
}

TEST_P(threads, a_jthread_is_asked_to_stop_when_it_goes) {
  run([] {
    int rounds = 0;
    {
      heddle::jthread t(
          [&](std::stop_token stop, int step) {
            do {
              rounds += step;
              heddle::this_thread::yield();
            } while (!stop.stop_requested());
          },
          2);
      EXPECT_TRUE(t.get_stop_source().stop_possible());
    }
    EXPECT_GE(rounds, 2);
    heddle::jthread first([](std::stop_token stop) {
      while (!stop.stop_requested()) heddle::this_thread::yield();
    });
    first = heddle::jthread([] {});  // asks the first one to stop, and joins it
    EXPECT_TRUE(first.request_stop());
    first.join();
    EXPECT_FALSE(first.joinable());
    EXPECT_FALSE(heddle::jthread().get_stop_source().stop_possible());
  });
}

TEST_P(threads, many_at_a_time) {
  run([] {
    std::atomic<int> sum{0};
    std::vector<heddle::thread> all;
    for (int i = 0; i < 1000; ++i) all.emplace_back([&] { ++sum; });
    for (auto& t : all) t.join();
    EXPECT_EQ(sum.load(), 1000);
  });
}

TEST_P(threads, yield_lets_others_run) {
  run([] {
    std::array<int, 4> progress{};
    std::vector<heddle::thread> all;
    std::atomic<bool> stop{false};
    all.emplace_back([&] {
      while (!stop.load()) heddle::this_thread::yield();
    });
    all.emplace_back([&] {
      for (int i = 0; i < 100; ++i) heddle::this_thread::yield();
      stop = true;
    });
    for (auto& t : all) t.join();
    EXPECT_TRUE(stop.load());
    static_cast<void>(progress);
  });
}

TEST_P(threads, detached_threads_end_before_the_runtime) {
  static std::atomic<int> done{0};
  done = 0;
  {
    heddle::runtime own({.workers = std::get<0>(GetParam())});
    own.run([] {
      for (int i = 0; i < 100; ++i) {
        heddle::thread t([] {
          heddle::this_thread::yield();
          ++done;
        });
        t.detach();
      }
    });
  }
  EXPECT_EQ(done.load(), 100);
}

TEST_P(threads, ids_are_unique_among_the_living) {
  run([] {
    std::vector<heddle::thread> all;
    std::set<std::uint64_t> ids;
    std::atomic<bool> go{false};
    for (int i = 0; i < 50; ++i) {
      all.emplace_back([&] {
        while (!go.load()) heddle::this_thread::yield();
      });
      ids.insert(all.back().id());
    }
    EXPECT_EQ(ids.size(), 50u);
    EXPECT_EQ(ids.count(0), 0u);
    go = true;
    for (auto& t : all) t.join();
  });
}

TEST_P(threads, stacks_of_any_size) {
  run([] {
    for (std::size_t size : {std::size_t{1}, std::size_t{16384}, std::size_t{100000}, std::size_t{64} << 20}) {
      std::size_t touched = 0;
      heddle::thread t({.stack_size = size}, [&] {
        volatile char here[2000];
        here[0] = 1;
        touched = sizeof here;
      });
      t.join();
      EXPECT_EQ(touched, 2000u);
    }
    EXPECT_THROW(heddle::thread({.stack_size = std::size_t{1} << 50}, [] {}), std::system_error);
  });
}

TEST_P(threads, foreign_threads_make_and_join) {
  std::atomic<int> done{0};
  std::vector<std::thread> foreign;
  for (int i = 0; i < 4; ++i) {
    foreign.emplace_back([&] {
      for (int k = 0; k < 100; ++k) {
        heddle::thread t({.where = &runtime()}, [&] { ++done; });
        t.join();
      }
    });
  }
  for (auto& t : foreign) t.join();
  EXPECT_EQ(done.load(), 400);
}

// A join runs a thread that has not begun on the joiner's worker; these take it away again in the middle.
TEST_P(threads, a_joined_thread_may_wait_and_end_elsewhere) {
  run([] {
    heddle::counting_semaphore<1000> go(0);
    std::atomic<int> ends{0};
    heddle::thread helper([&] {
      for (int i = 0; i < 500; ++i) {
        go.release();
        heddle::this_thread::yield();
      }
    });
    const std::uint64_t me = heddle::this_thread::id();
    for (int i = 0; i < 500; ++i) {
      std::uint64_t its = 0;
      heddle::thread t([&] {
        its = heddle::this_thread::id();
        go.acquire();
        heddle::this_thread::yield();
        ASSERT_EQ(heddle::this_thread::id(), its);
        ++ends;
      });
      t.join();
      ASSERT_EQ(ends.load(), i + 1);
      ASSERT_EQ(heddle::this_thread::id(), me);
      ASSERT_NE(its, me);
    }
    helper.join();
  });
}

TEST_P(threads, joins_nest) {
  run([] {
    struct chain {
      static int length(int n) {
        if (n == 0) return 0;
        int rest = 0;
        heddle::thread t([&rest, n] { rest = length(n - 1); });
        if (n % 3 == 0) heddle::this_thread::yield();
        t.join();
        return rest + 1;
      }
    };
    EXPECT_EQ(chain::length(1000), 1000);
  });
}

// Joins that never go through the run loop still let in what comes from outside.
TEST_P(threads, joins_in_a_loop_starve_nobody) {
  std::atomic<bool> stop{false};
  std::thread outside([&] { runtime().run([&] { stop = true; }); });
  run([&] {
    while (!stop.load()) heddle::thread([] {}).join();
  });
  outside.join();
  EXPECT_TRUE(stop.load());
}

// Closures that fit into a light thread's block, just fit, do not, and want more alignment than it has.
template <std::size_t Bytes, std::size_t Alignment>
struct alignas(Alignment) payload {
  explicit payload(std::atomic<int>* to) : out(to) {}
  void operator()() {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(this) % Alignment, 0u);
    for (unsigned char& c : rest) c = 0x5a;
    heddle::this_thread::yield();
    ++*out;
  }
  std::atomic<int>* out;
  std::array<unsigned char, Bytes - sizeof(void*)> rest{};
};

TEST_P(threads, closures_of_any_size_and_alignment) {
  run([] {
    std::atomic<int> done{0};
    for (int i = 0; i < 50; ++i) {
      std::vector<heddle::thread> all;
      all.emplace_back(payload<16, 16>(&done));
      all.emplace_back(payload<64, 16>(&done));
      all.emplace_back(payload<64, 64>(&done));
      all.emplace_back(payload<80, 16>(&done));
      all.emplace_back(payload<128, 128>(&done));
      all.emplace_back(payload<1024, 16>(&done));
      all.emplace_back(payload<2048, 16>(&done));
      for (auto& t : all) t.join();
    }
    EXPECT_EQ(done.load(), 350);
  });
}

// Joined from among the others: first to last, last to first, from
// the middle, or not at all before the others have ended.
TEST_P(threads, joins_in_any_order) {
  run([] {
    constexpr int count = 60;
    for (int stride : {1, count - 1, 7, 31, 59}) {
      std::vector<int> ran(count, 0);
      std::vector<heddle::thread> all;
      for (int i = 0; i < count; ++i) all.emplace_back([&ran, i] { ++ran[static_cast<std::size_t>(i)]; });
      for (int k = 0; k < count; ++k) {
        const auto which = static_cast<std::size_t>(k * stride % count);
        if (all[which].joinable()) all[which].join();
        ASSERT_EQ(ran[which], 1);
        if (k % 5 == 0) heddle::this_thread::yield();
      }
      for (auto& t : all) {
        if (t.joinable()) t.join();
      }
      for (const int times : ran) ASSERT_EQ(times, 1);
    }
  });
}

HEDDLE_OVER_RUNTIMES(threads);

// A thread needs a stack from its beginning to its end. These threads use the same stack one after the other.
TEST(light_threads, take_a_stack_when_they_begin) {
  for (const unsigned workers : {1u, 2u}) {
    heddle::runtime home({.workers = workers});
    home.run([] {
      std::vector<heddle::thread> all;
      std::atomic<int> done{0};
      for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 20'000; ++i) all.emplace_back([&done] { ++done; });
        for (auto& t : all) t.join();
        all.clear();
      }
      EXPECT_EQ(done.load(), 40'000);
    });
    EXPECT_LE(home.core().stacks().committed(), 100u * workers);
  }
}

// A joiner goes down into the thread that it joins, wherever that
// stands: a tree takes as many stacks as it is deep, not as it is wide.
TEST(light_threads, trees_go_depth_first) {
  heddle::runtime home({.workers = 1});
  struct tree {
    static int leaves(int depth) {
      if (depth == 0) return 1;
      int left = 0, right = 0;
      heddle::thread a([&left, depth] { left = leaves(depth - 1); });
      heddle::thread b([&right, depth] { right = leaves(depth - 1); });
      a.join();
      b.join();
      return left + right;
    }
  };
  if (heddle_test::sanitized)
    GTEST_SKIP() << "sanitizers want to see each change of stacks: a join waits there, and is no call";
  home.run([] { EXPECT_EQ(tree::leaves(13), 8192); });
  EXPECT_LE(home.core().stacks().committed(), 600u);
}

// More blocks than a worker keeps go from the one that joins to the one that makes.
TEST(light_threads, are_used_again_on_other_workers) {
  heddle::runtime home({.workers = 2});
  std::vector<heddle::thread> all;
  for (int round = 0; round < 20; ++round) {
    home.run([&] {
      for (int i = 0; i < 500; ++i) all.emplace_back([] {});
    });
    if (round % 2 == 0) {
      for (auto& t : all) t.join();  // by no worker
    } else {
      home.run([&] {
        for (auto& t : all) t.join();
      });
    }
    all.clear();
  }
  EXPECT_LE(home.core().stacks().light_made(), 1500u);
}

// The thread that ran a stolen half goes straight to one that has not
// begun: which must not be given the stack that is being left.
TEST(light_threads, begin_where_a_stolen_half_has_ended) {
  heddle::runtime_options o;
  o.workers = 2;
  heddle::runtime rt(o);
  rt.run([] {
    for (int i = 0; i < 100; ++i) {
      std::atomic<bool> stolen{false};
      std::atomic<int> sum{0};
      std::vector<heddle::thread> made;
      heddle::parallel_invoke(
          [&] {
            while (!stolen.load()) {
            }
          },
          [&] {
            stolen.store(true);
            for (int k = 1; k <= 3; ++k) made.emplace_back([&sum, k] { sum += k; });
          });
      for (auto& t : made) t.join();
      ASSERT_EQ(sum.load(), 6);
    }
  });
}

TEST(threads_misuse, join_twice_is_an_error) {
  heddle::thread t([] {});
  t.join();
  EXPECT_THROW(t.join(), std::system_error);
  EXPECT_THROW(t.detach(), std::system_error);
}

// There is no thread then.
TEST(threads, a_closure_whose_copy_throws_leaves_nothing) {
  struct throws {
    throws() = default;
    throws(const throws&) { throw std::runtime_error("copy"); }
    void operator()() const {}
  };
  struct throws_when_moved {
    throws_when_moved() = default;
    throws_when_moved(throws_when_moved&&) { throw std::runtime_error("move"); }
    void operator()() const {}
  };
  heddle::runtime rt({.workers = 1});
  rt.run([&] {
    const std::size_t before = rt.statistics().live_threads;
    const throws f;
    for (int i = 0; i < 1000; ++i) {
      EXPECT_THROW(heddle::thread t(f), std::runtime_error);
      EXPECT_THROW(heddle::thread t(throws_when_moved{}), std::runtime_error);
    }
    EXPECT_LE(rt.statistics().live_threads, before + 1000);  // stacks in the worker's cache count, too
  });
}

}  // namespace
}  // namespace thread_test
