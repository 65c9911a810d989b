// Arenas: no more than max_concurrency workers do an arena's work at once, however deep it nests; nothing waits below
// the limit while a worker is idle; results, exceptions and cancellation reach the caller; bad options are refused.
#include <heddle/arena.hpp>
#include <heddle/blocking.hpp>
#include <heddle/latch.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/sleep.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/fib.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"
#include "worker/arenas/arena.hpp"
#include "worker/worker.hpp"

namespace arena_test {
namespace {

using namespace std::chrono_literals;
using heddle::arena;
using heddle::arena_options;

// How many are inside at the moment, and were at most. No thread waits while it is inside.
class gauge {
 public:
  void enter() {
    const int now = inside_.fetch_add(1) + 1;
    int most = most_.load();
    while (most < now && !most_.compare_exchange_weak(most, now)) {
    }
  }
  void leave() { inside_.fetch_sub(1); }
  int most() const { return most_.load(); }

 private:
  std::atomic<int> inside_{0};
  std::atomic<int> most_{0};
};

void work(gauge& g) {
  g.enter();
  for (int i = 0; i < 2000; ++i) asm volatile("" : : : "memory");
  g.leave();
}

// A tree of forks, children and loops, whose leaves are counted.
void tree(gauge& g, std::atomic<int>& leaves, int depth) {
  if (depth == 0) {
    work(g);
    leaves.fetch_add(1);
    return;
  }
  if (depth % 2 == 0) {
    heddle::parallel_invoke([&] { tree(g, leaves, depth - 1); }, [&] { tree(g, leaves, depth - 1); });
    return;
  }
  heddle::task_group both;
  both.run([&] { tree(g, leaves, depth - 1); });
  both.run([&] { tree(g, leaves, depth - 1); });
  both.wait();
}

class arenas : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    dog_ = std::make_unique<heddle_test::watchdog>(std::string(test->test_suite_name()) + "." + test->name());
    runtime_ = std::make_unique<heddle::runtime>(heddle::runtime_options{.workers = GetParam()});
  }
  void TearDown() override { runtime_.reset(); }
  heddle::runtime& runtime() { return *runtime_; }
  arena_options here(std::optional<unsigned> most = {}) {
    arena_options o;
    o.max_concurrency = most;
    o.where = &runtime();
    return o;
  }

 private:
  std::unique_ptr<heddle_test::watchdog> dog_;
  std::unique_ptr<heddle::runtime> runtime_;
};

TEST_P(arenas, run_the_callers_function_and_return_its_value) {
  arena a(here());
  EXPECT_EQ(a.max_concurrency(), GetParam());
  EXPECT_EQ(a.execute([] { return 42; }), 42);
  EXPECT_EQ(runtime().run([&] { return a.execute([&] { return a.is_current() ? 43 : 0; }); }), 43);
  EXPECT_FALSE(a.is_current());
  a.execute([&] {
    EXPECT_EQ(heddle::runtime::current().workers(), GetParam());
    EXPECT_LT(heddle::runtime::current().worker_rank(), static_cast<int>(GetParam()));
    EXPECT_GE(heddle::runtime::current().worker_rank(), 0);
    EXPECT_EQ(a.execute([] { return 1; }), 1) << "inside already";
  });
}

TEST_P(arenas, keep_forks_children_and_loops_within_the_limit) {
  for (unsigned most = 1; most <= std::min(GetParam(), 4u); ++most) {
    arena a(here(most));
    gauge g;
    std::atomic<int> leaves{0};
    runtime().run([&] { a.execute([&] { tree(g, leaves, 8); }); });
    a.execute([&] { heddle::parallel_for(0, 256, [&](int) { work(g); }); });
    EXPECT_EQ(leaves.load(), 256);
    EXPECT_GE(g.most(), 1);
    EXPECT_LE(g.most(), static_cast<int>(most));
  }
}

// Each meets the others: the limit is reached, or this does not end.
TEST_P(arenas, give_work_to_as_many_workers_as_the_limit_allows) {
  const unsigned most = std::min(GetParam(), 8u);
  arena a(here(most));
  for (int round = 0; round < 10; ++round) {
    std::atomic<unsigned> inside{0};
    for (unsigned i = 0; i < most; ++i) {
      a.enqueue([&] {
        inside.fetch_add(1);
        while (inside.load() < most) std::this_thread::yield();  // it keeps its worker
      });
    }
    a.wait();
    EXPECT_EQ(inside.load(), most);
  }
}

TEST_P(arenas, from_several_kernel_threads_and_workers_at_once) {
  const unsigned most = std::max(1u, GetParam() / 2);
  arena a(here(most)), b(here());
  gauge g;
  std::atomic<int> calls{0};
  std::vector<std::thread> outside;
  for (int t = 0; t < 3; ++t) {
    outside.emplace_back([&] {
      for (int i = 0; i < 30; ++i) {
        a.execute([&] { heddle::parallel_invoke([&] { work(g); }, [&] { work(g); }); });
        b.enqueue([&] { calls.fetch_add(1); });
        calls.fetch_add(1);
      }
    });
  }
  runtime().run([&] {
    heddle::parallel_for(0, 60, [&](int) {
      a.execute([&] { work(g); });
      calls.fetch_add(1);
    });
  });
  for (auto& t : outside) t.join();
  b.wait();
  EXPECT_EQ(calls.load(), 90 + 90 + 60);
  EXPECT_LE(g.most(), static_cast<int>(most));
}

// A thread inside that waits frees its place: with one place these would hang otherwise.
TEST_P(arenas, may_wait_inside) {
  arena a(here(1));
  gauge g;
  a.execute([&] {
    heddle::latch both(2), done(1);
    heddle::thread first([&] { both.arrive_and_wait(), work(g); });
    heddle::thread second([&] { both.arrive_and_wait(), work(g); });
    heddle::thread sleeper([&] { heddle::this_thread::sleep_for(1ms), work(g), done.count_down(); });
    done.wait();
    first.join();
    second.join();
    sleeper.join();
    for (int i = 0; i < 200; ++i) heddle::this_thread::yield();
  });
  EXPECT_EQ(g.most(), 1);
}

TEST_P(arenas, nest) {
  arena outer(here());
  gauge g;
  std::atomic<int> leaves{0};
  runtime().run([&] {
    outer.execute([&] {
      arena inner(arena_options{.max_concurrency = 1});  // of the arena that it is made in
      EXPECT_EQ(inner.execute([] { return heddle::runtime::current().workers(); }), 1u);
      heddle::parallel_for(0, 8, [&](int) { inner.execute([&] { tree(g, leaves, 3); }); });
      arena beside(here(1));  // of the runtime
      EXPECT_EQ(beside.execute([&] { return outer.execute([] { return 5; }); }), 5);
      EXPECT_THROW(arena(arena_options{.max_concurrency = GetParam() + 1}), std::invalid_argument);
    });
  });
  EXPECT_EQ(leaves.load(), 64);
  EXPECT_EQ(g.most(), 1);
}

TEST_P(arenas, pass_exceptions_on) {
  arena a(here());
  EXPECT_THROW(a.execute([] { throw std::runtime_error("inside"); }), std::runtime_error);
  EXPECT_THROW(runtime().run([&] {
    a.execute([] { heddle::parallel_invoke([] {}, [] { throw std::logic_error("in a fork"); }); });
  }),
               std::logic_error);
  std::atomic<int> ran{0};
  for (int i = 0; i < 20; ++i) {
    a.enqueue([&, i] {
      ran.fetch_add(1);
      if (i % 5 == 0) throw std::out_of_range("of a job");
    });
  }
  EXPECT_THROW(a.wait(), std::out_of_range);
  EXPECT_EQ(ran.load(), 20);
  EXPECT_NO_THROW(a.wait()) << "it was thrown once";
  EXPECT_THROW(a.execute([&] { a.wait(); }), std::logic_error);
}

TEST_P(arenas, cancel_what_is_cancelled_inside) {
  arena a(here());
  std::atomic<int> ran{0};
  a.execute([&] {
    heddle::task_group g;
    g.cancel();
    for (int i = 0; i < 100; ++i) g.run([&] { ran.fetch_add(1); });
    g.wait();
  });
  EXPECT_EQ(ran.load(), 0);
  EXPECT_EQ(a.execute([&] {
    heddle::task_group g;
    for (int i = 0; i < 100; ++i) {
      g.run([&] {
        if (ran.fetch_add(1) == 3) throw std::runtime_error("cancels the others");
      });
    }
    try {
      g.wait();
    } catch (const std::runtime_error&) {
      return true;
    }
    return false;
  }),
            true);
}

TEST_P(arenas, wait_for_outstanding_work_when_they_end) {
  std::atomic<int> ran{0};
  struct counts : heddle::job {
    explicit counts(std::atomic<int>& to) noexcept
        : job([](heddle::job& self) noexcept { static_cast<counts&>(self).ran.fetch_add(1); }), ran(to) {}
    std::atomic<int>& ran;
  };
  std::vector<std::unique_ptr<counts>> jobs;
  for (int i = 0; i < 50; ++i) jobs.push_back(std::make_unique<counts>(ran));
  for (int round = 0; round < 10; ++round) {
    ran = 0;
    {
      arena a(here());
      for (const auto& j : jobs) a.submit(*j);
      for (int i = 0; i < 50; ++i) {
        a.enqueue([&] {
          for (int k = 0; k < 3; ++k) heddle::this_thread::yield();
          ran.fetch_add(1);
        });
      }
    }
    EXPECT_EQ(ran.load(), 100);
    runtime().run([&] {  // ended by a thread of the runtime
      arena a(here(1));
      a.enqueue([&] { ran.fetch_add(1); });
    });
    EXPECT_EQ(ran.load(), 101);
  }
}

// Jobs that submit jobs for ever do not keep the runtime's own work waiting, nor the other way round.
TEST_P(arenas, share_the_workers_with_the_runtime_and_each_other) {
  arena a(here()), b(here());
  std::atomic<bool> stop{false};
  const std::function<void()> again = [&] {
    if (stop.load()) return;
    a.enqueue(again);
  };
  for (unsigned i = 0; i < 2 * GetParam(); ++i) a.enqueue(again);
  EXPECT_EQ(b.execute([] { return heddle_test::fib(10); }), 55);
  EXPECT_EQ(runtime().run([] { return heddle_test::fib(10); }), 55);
  heddle::thread t(heddle::thread_options{.where = &runtime()}, [] { heddle::this_thread::yield(); });
  t.join();
  stop = true;
  a.wait();
}

INSTANTIATE_TEST_SUITE_P(workers, arenas, testing::Values(1u, 2u, 3u, 4u, 8u, 64u));

// --- subsets of the workers, and options
// --------------------------------------------------------------------------------

TEST(arena_of_some_workers, stays_with_them) {
  heddle::runtime rt({.workers = 4});
  arena_options o;
  o.workers = std::vector<unsigned>{1, 3};
  o.where = &rt;
  arena some(o);
  EXPECT_EQ(some.max_concurrency(), 2u);
  std::atomic<int> wrong{0}, ran{0};
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> stop{false};
    // keeps worker 1 busy, or worker 3: the other one of them has to come
    heddle::thread_options pinned;
    pinned.where = &rt;
    pinned.worker = round % 2 == 0 ? 1 : 3;
    heddle::thread busy(pinned, [&] {
      while (!stop.load()) std::this_thread::yield();
    });
    some.execute([&] {
      heddle::parallel_for(0, 100, [&](int) {
        const unsigned rank = heddle::worker::worker::current().drives->beneath->rank;
        if (rank != 1 && rank != 3) wrong.fetch_add(1);
        ran.fetch_add(1);
      });
    });
    stop = true;
    busy.join();
  }
  EXPECT_EQ(ran.load(), 2000);
  EXPECT_EQ(wrong.load(), 0);
}

TEST(arena_of_some_workers, of_a_higher_level_comes_first) {
  heddle::runtime rt({.workers = 1});
  arena low(arena_options{.priority = heddle::priority::low, .where = &rt});
  arena normal(arena_options{.where = &rt});
  arena high(arena_options{.priority = heddle::priority::high, .where = &rt});
  std::vector<int> order;
  rt.run([&] {  // the only worker is busy here, so all three wait for it
    low.enqueue([&] { order.push_back(-1); });
    normal.enqueue([&] { order.push_back(0); });
    high.enqueue([&] { order.push_back(1); });
  });
  low.wait();
  normal.wait();
  high.wait();
  EXPECT_EQ(order, (std::vector<int>{1, 0, -1}));
}

std::string why(const arena_options& o) {
  try {
    const arena a(o);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "none";
}

TEST(arena_options_test, refuse_what_cannot_be) {
  heddle::runtime rt({.workers = 3});
  EXPECT_EQ(why({.max_concurrency = 0, .name = "a", .where = &rt}),
            "heddle: arena a: max_concurrency=0: expected 1 to 3");
  EXPECT_EQ(why({.max_concurrency = 4, .where = &rt}), "heddle: arena: max_concurrency=4: expected 1 to 3");
  EXPECT_EQ(why({.max_concurrency = 2, .workers = std::vector<unsigned>{1}, .where = &rt}),
            "heddle: arena: max_concurrency=2: expected 1 to 1");
  EXPECT_EQ(why({.workers = std::vector<unsigned>{}, .where = &rt}),
            "heddle: arena: no workers: expected at least one rank");
  EXPECT_EQ(why({.workers = std::vector<unsigned>{0, 3}, .where = &rt}), "heddle: arena: worker 3: expected 0 to 2");
  EXPECT_EQ(why({.workers = std::vector<unsigned>{1, 1}, .where = &rt}), "heddle: arena: worker 1 is named twice");
  EXPECT_EQ(why({.priority = heddle::priority{9}, .where = &rt}), "heddle: arena: priority 9 does not exist");
  arena good(arena_options{.max_concurrency = 2, .name = "good", .where = &rt});
  EXPECT_EQ(good.name(), "good");
  good.execute([&] {
    EXPECT_THROW(heddle::runtime::current().set_active_workers(1), std::invalid_argument);
    heddle::thread_options own;
    own.preemption = heddle::preemption::signal_yield;
    EXPECT_THROW(heddle::thread(own, [] {}).join(), std::system_error);
    EXPECT_EQ(heddle::blocking([] { return 7; }), 7);
  });
}

TEST(arena_options_test, the_global_runtime_is_the_usual_one) {
  arena a;
  EXPECT_EQ(a.max_concurrency(), heddle::runtime::global().workers());
  EXPECT_EQ(a.execute([] { return heddle_test::fib(12); }), 144);
}

}  // namespace
}  // namespace arena_test
