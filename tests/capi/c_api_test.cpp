// heddle.h seen from C++: errors, exceptions of callbacks, ownership; and that the header is C11. The C program that
// uses all of it is examples/c_program.c.
#include <heddle/heddle.h>
#include <heddle/pause.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace c_api_test {
namespace {

void throws(void*) { throw std::invalid_argument("a callback's own"); }
void nothing(void*) {}

class c_api : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(heddle_runtime_create(&runtime_, nullptr), HEDDLE_OK); }
  void TearDown() override { EXPECT_EQ(heddle_runtime_destroy(runtime_), HEDDLE_OK); }
  template <class F>
  heddle_status run(F f) {
    return heddle_runtime_run(runtime_, [](void* data) { (*static_cast<F*>(data))(); }, &f);
  }
  heddle_runtime* runtime_ = nullptr;
  heddle_test::watchdog dog_{"c_api"};
};

TEST_F(c_api, null_is_refused_everywhere) {
  EXPECT_EQ(heddle_runtime_create(nullptr, nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_runtime_destroy(nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_runtime_run(runtime_, nullptr, nullptr), HEDDLE_INVALID);
  heddle_thread* t = nullptr;
  EXPECT_EQ(heddle_thread_create(nullptr, nullptr, [](void*) -> void* { return nullptr; }, nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_thread_create(&t, nullptr, nullptr, nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_thread_join(nullptr, nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_thread_detach(nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_blocking(nullptr, nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_group_create(nullptr, 0, 0), HEDDLE_INVALID);
  EXPECT_EQ(heddle_group_run(nullptr, nothing, nullptr, 0), HEDDLE_INVALID);
  EXPECT_EQ(heddle_group_wait(nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_group_cancel(nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_group_set_preemption(nullptr, HEDDLE_PREEMPTION_NONE, HEDDLE_TLS_DEFAULT), HEDDLE_INVALID);
  EXPECT_EQ(heddle_group_set_priority(nullptr, 0), HEDDLE_INVALID);
  EXPECT_EQ(heddle_group_destroy(nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_invoke(nothing, nullptr, nullptr, nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_for(0, 1, 0, nullptr, nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_mutex_create(nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_mutex_unlock(nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_condition_wait(nullptr, nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_condition_notify_all(nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_semaphore_release(nullptr, 1), HEDDLE_INVALID);
  EXPECT_EQ(heddle_barrier_wait(nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_latch_wait(nullptr), HEDDLE_INVALID);
}

TEST_F(c_api, numbers_out_of_range_are_refused) {
  heddle_semaphore* s = nullptr;
  heddle_barrier* b = nullptr;
  heddle_latch* l = nullptr;
  EXPECT_EQ(heddle_semaphore_create(&s, ~std::size_t{0}), HEDDLE_INVALID);
  EXPECT_EQ(heddle_barrier_create(&b, 0), HEDDLE_INVALID);
  EXPECT_EQ(heddle_barrier_create(&b, std::size_t{1} << 40), HEDDLE_INVALID);
  EXPECT_EQ(heddle_latch_create(&l, ~std::size_t{0}), HEDDLE_INVALID);
  ASSERT_EQ(heddle_latch_create(&l, 2), HEDDLE_OK);
  EXPECT_EQ(heddle_latch_count_down(l, 1), HEDDLE_OK);
  EXPECT_EQ(heddle_latch_try_wait(l), HEDDLE_BUSY);
  EXPECT_EQ(heddle_latch_count_down(l, 2), HEDDLE_INVALID);
  EXPECT_EQ(heddle_latch_wait(l), HEDDLE_OK) << "the count ended at zero";
  EXPECT_EQ(heddle_latch_count_down(l, 1), HEDDLE_INVALID);
  EXPECT_EQ(heddle_latch_destroy(l), HEDDLE_OK);
  heddle_thread* t = nullptr;
  heddle_thread_options huge{};
  huge.stack_size = std::size_t{1} << 60;
  EXPECT_EQ(heddle_thread_create(&t, &huge, [](void*) -> void* { return nullptr; }, nullptr), HEDDLE_NO_THREAD);
}

TEST_F(c_api, an_exception_of_a_callback_is_a_status) {
  EXPECT_EQ(heddle_runtime_run(runtime_, throws, nullptr), HEDDLE_FAILED);
  EXPECT_EQ(
      run([] {
        EXPECT_EQ(heddle_blocking(throws, nullptr), HEDDLE_FAILED);
        EXPECT_EQ(heddle_invoke(throws, nullptr, nothing, nullptr), HEDDLE_FAILED);
        EXPECT_EQ(heddle_invoke(nothing, nullptr, throws, nullptr), HEDDLE_FAILED);
        EXPECT_EQ(heddle_for(0, 100, 1, [](std::int64_t, std::int64_t, void*) { throw 1; }, nullptr), HEDDLE_FAILED);
        heddle_thread* t = nullptr;
        ASSERT_EQ(
            heddle_thread_create(&t, nullptr, [](void*) -> void* { throw std::bad_alloc(); }, nullptr), HEDDLE_OK);
        EXPECT_EQ(heddle_thread_join(t, nullptr), HEDDLE_FAILED);
        heddle_group* g = nullptr;
        ASSERT_EQ(heddle_group_create(&g, 0, 0), HEDDLE_OK);
        EXPECT_EQ(heddle_group_run(g, throws, nullptr, 0), HEDDLE_OK);
        EXPECT_EQ(heddle_group_wait(g), HEDDLE_FAILED);
        EXPECT_EQ(heddle_group_wait(g), HEDDLE_OK);
        EXPECT_EQ(heddle_group_destroy(g), HEDDLE_OK);
      }),
      HEDDLE_OK);
}

TEST_F(c_api, a_thread_of_a_runtime_does_not_destroy_it) {
  EXPECT_EQ(run([this] { EXPECT_EQ(heddle_runtime_destroy(runtime_), HEDDLE_NOT_OWNER); }), HEDDLE_OK);
}

TEST_F(c_api, any_thread_waits_for_a_group_and_destroys_it) {
  EXPECT_EQ(run([] {
              heddle_group* g = nullptr;
              ASSERT_EQ(heddle_group_create(&g, 0, 0), HEDDLE_OK);
              heddle_thread* t = nullptr;
              heddle_thread_create(
                  &t, nullptr,
                  [](void* group) -> void* {
                    EXPECT_EQ(heddle_group_wait(static_cast<heddle_group*>(group)), HEDDLE_OK);
                    EXPECT_EQ(heddle_group_destroy(static_cast<heddle_group*>(group)), HEDDLE_OK);
                    return nullptr;
                  },
                  g);
              EXPECT_EQ(heddle_thread_join(t, nullptr), HEDDLE_OK);
            }),
            HEDDLE_OK);
}

TEST_F(c_api, detached_and_joined_threads_free_their_handles) {
  std::atomic<int> done{0};
  auto count = [](void* data) -> void* {
    ++*static_cast<std::atomic<int>*>(data);
    return data;
  };
  heddle_thread_options options{};
  options.runtime = runtime_;
  for (int i = 0; i < 500; ++i) {
    heddle_thread* t = nullptr;
    ASSERT_EQ(heddle_thread_create(&t, &options, count, &done), HEDDLE_OK);
    if (i % 2 == 0) {
      EXPECT_EQ(heddle_thread_detach(t), HEDDLE_OK);
    } else {
      void* result = nullptr;
      EXPECT_EQ(heddle_thread_join(t, &result), HEDDLE_OK);
      EXPECT_EQ(result, &done);
    }
  }
  while (done.load() < 500) std::this_thread::yield();
}

TEST_F(c_api, a_cancelled_group_drops_what_has_not_begun) {
  EXPECT_EQ(run([] {
              heddle_group* g = nullptr;
              ASSERT_EQ(heddle_group_create(&g, 0, 0), HEDDLE_OK);
              std::atomic<int> calls{0};
              EXPECT_EQ(heddle_group_cancel(g), HEDDLE_OK);
              for (int i = 0; i < 10; ++i)
                heddle_group_run(g, [](void* data) { ++*static_cast<std::atomic<int>*>(data); }, &calls, 0);
              EXPECT_EQ(heddle_group_wait(g), HEDDLE_OK);
              EXPECT_EQ(calls.load(), 0);
              EXPECT_EQ(heddle_group_destroy(g), HEDDLE_OK);
            }),
            HEDDLE_OK);
}

void* returns_null(void*) { return nullptr; }

TEST_F(c_api, kinds_that_there_are_not_are_refused) {
  heddle_thread* t = nullptr;
  heddle_thread_options o{};
  o.runtime = runtime_;
  o.priority = HEDDLE_PRIORITY_HIGHEST + 1;
  EXPECT_EQ(heddle_thread_create(&t, &o, returns_null, nullptr), HEDDLE_INVALID);
  o.priority = HEDDLE_PRIORITY_LOWEST - 1;
  EXPECT_EQ(heddle_thread_create(&t, &o, returns_null, nullptr), HEDDLE_INVALID);
  o.priority = 1 << 30;
  EXPECT_EQ(heddle_thread_create(&t, &o, returns_null, nullptr), HEDDLE_INVALID);
  o.priority = 0;
  o.preemption = static_cast<heddle_preemption>(4);
  EXPECT_EQ(heddle_thread_create(&t, &o, returns_null, nullptr), HEDDLE_INVALID);
  o.preemption = HEDDLE_PREEMPTION_DEFAULT;
  o.tls = static_cast<heddle_tls>(3);
  EXPECT_EQ(heddle_thread_create(&t, &o, returns_null, nullptr), HEDDLE_INVALID);
  EXPECT_EQ(t, nullptr);
  heddle_runtime* r = nullptr;
  heddle_runtime_options options{};
  options.tls = static_cast<heddle_tls>(3);
  EXPECT_EQ(heddle_runtime_create(&r, &options), HEDDLE_INVALID);
  options = {};
  options.preempt_timer = "sundial";
  EXPECT_EQ(heddle_runtime_create(&r, &options), HEDDLE_INVALID);
  options = {};
  options.packing = "tightly";
  EXPECT_EQ(heddle_runtime_create(&r, &options), HEDDLE_INVALID);
  EXPECT_EQ(heddle_runtime_set_active_workers(runtime_, 0), HEDDLE_INVALID);
  EXPECT_EQ(heddle_runtime_set_active_workers(runtime_, heddle_runtime_workers(runtime_) + 1), HEDDLE_INVALID);
  EXPECT_EQ(heddle_runtime_active_workers(runtime_), heddle_runtime_workers(runtime_));
}

TEST_F(c_api, a_thread_is_pinned_to_the_worker_that_is_named) {
  struct seen {
    heddle_runtime* home;
    int rank;
  } s{runtime_, -1};
  heddle_thread_options options{};
  options.runtime = runtime_;
  options.pinned = 1;
  const auto look = [](void* data) {
    auto& at = *static_cast<seen*>(data);
    heddle_yield();
    at.rank = heddle_runtime_worker_rank(at.home);
  };
  for (options.worker = 0; options.worker < heddle_runtime_workers(runtime_); ++options.worker) {
    EXPECT_EQ(heddle_run(&options, look, &s), HEDDLE_OK);
    EXPECT_EQ(s.rank, static_cast<int>(options.worker));
  }
  EXPECT_EQ(heddle_run(&options, look, &s), HEDDLE_INVALID);
  options.worker = ~0u;
  EXPECT_EQ(heddle_run(&options, look, &s), HEDDLE_INVALID);
  EXPECT_EQ(heddle_run(nullptr, throws, nullptr), HEDDLE_FAILED);
  EXPECT_EQ(heddle_run(nullptr, nullptr, nullptr), HEDDLE_INVALID);
}

TEST_F(c_api, a_call_may_have_the_storage_of_its_caller) {
  static thread_local int number = 0;
  number = 1;
  heddle_thread_options options{};
  options.runtime = runtime_;
  options.tls = HEDDLE_TLS_CALLER;
  const heddle_status status = heddle_run(&options, [](void*) { number += 1; }, nullptr);
  if (status == HEDDLE_UNSUPPORTED) GTEST_SKIP() << "no storage of one's own here";
  EXPECT_EQ(status, HEDDLE_OK);
  EXPECT_EQ(number, 2);
  heddle_thread* t = nullptr;
  EXPECT_EQ(heddle_thread_create(&t, &options, [](void*) -> void* { return nullptr; }, nullptr), HEDDLE_INVALID);
}

TEST_F(c_api, what_cannot_be_had_here_is_unsupported) {
  if (!heddle_test::sanitized) GTEST_SKIP() << "everything can be had";
  heddle_thread* t = nullptr;
  heddle_thread_options o{};
  o.preemption = HEDDLE_PREEMPTION_SIGNAL_YIELD;
  o.tls = HEDDLE_TLS_OWN;
  EXPECT_EQ(heddle_thread_create(&t, &o, returns_null, nullptr), HEDDLE_UNSUPPORTED);
}

// One worker whose threads are preemptive as a rule: who spins lets the one come that it spins for.
TEST(c_api_kinds, threads_are_preempted_as_their_runtime_says) {
  if (heddle_test::thread_sanitized) GTEST_SKIP() << "no preemption under ThreadSanitizer";
  heddle_test::watchdog dog{"c_api_kinds"};
  for (const heddle_preemption how : {HEDDLE_PREEMPTION_SIGNAL_YIELD, HEDDLE_PREEMPTION_KLT_SWITCHING}) {
    heddle_runtime* one = nullptr;
    heddle_runtime_options options{};
    options.workers = 1;
    options.preemption = how;
    options.preempt_interval = 200'000;
    options.preempt_timer = "chain";
    ASSERT_EQ(heddle_runtime_create(&one, &options), HEDDLE_OK);
    heddle_thread_options o{};
    o.runtime = one;
    std::atomic<int> turn{0};
    heddle_thread *first = nullptr, *second = nullptr;
    ASSERT_EQ(heddle_thread_create(
                  &first, &o,
                  [](void* t) -> void* {
                    auto& turn = *static_cast<std::atomic<int>*>(t);
                    while (turn.load() != 1) {
                    }
                    turn.store(2);
                    return nullptr;
                  },
                  &turn),
              HEDDLE_OK);
    ASSERT_EQ(heddle_thread_create(
                  &second, &o,
                  [](void* t) -> void* {
                    auto& turn = *static_cast<std::atomic<int>*>(t);
                    turn.store(1);
                    while (turn.load() != 2) {
                    }
                    return nullptr;
                  },
                  &turn),
              HEDDLE_OK);
    EXPECT_EQ(heddle_thread_join(first, nullptr), HEDDLE_OK);
    EXPECT_EQ(heddle_thread_join(second, nullptr), HEDDLE_OK);
    EXPECT_EQ(heddle_runtime_destroy(one), HEDDLE_OK);
  }
}

// Made ready in one order while their only worker is busy, run in that of their priorities.
TEST(c_api_kinds, higher_priorities_run_first) {
  heddle_test::watchdog dog{"c_api_kinds"};
  heddle_runtime* one = nullptr;
  heddle_runtime_options options{};
  options.workers = 1;
  ASSERT_EQ(heddle_runtime_create(&one, &options), HEDDLE_OK);
  struct place {
    std::vector<int>* order;
    int level;
  };
  std::vector<int> order;
  const auto body = [&] {
    place places[] = {{&order, -7}, {&order, 1}, {&order, 0}, {&order, 7}, {&order, -1}};
    heddle_thread* threads[5];
    for (int i = 0; i < 5; ++i) {
      heddle_thread_options o{};
      o.priority = places[i].level;
      ASSERT_EQ(heddle_thread_create(
                    &threads[i], &o,
                    [](void* p) -> void* {
                      static_cast<place*>(p)->order->push_back(static_cast<place*>(p)->level);
                      return nullptr;
                    },
                    &places[i]),
                HEDDLE_OK);
    }
    for (heddle_thread* t : threads) EXPECT_EQ(heddle_thread_join(t, nullptr), HEDDLE_OK);
  };
  EXPECT_EQ(heddle_runtime_run(
                one, [](void* f) { (*static_cast<decltype(body)*>(f))(); },
                const_cast<void*>(static_cast<const void*>(&body))),
            HEDDLE_OK);
  EXPECT_EQ(order, (std::vector<int>{7, 1, 0, -1, -7}));
  EXPECT_EQ(heddle_runtime_destroy(one), HEDDLE_OK);
}

TEST(c_header, is_c11) {
  const char* compiler = std::getenv("CC") != nullptr ? std::getenv("CC") : "cc";
  if (std::system((std::string(compiler) + " --version > /dev/null 2>&1").c_str()) != 0)
    GTEST_SKIP() << "no C compiler";
  const std::string root = HEDDLE_SOURCE_DIR;
  EXPECT_EQ(std::system((std::string(compiler) + " -std=c11 -pedantic -Wall -Wextra -Werror -fsyntax-only -I'" + root +
                         "/include' '" + root + "/examples/c_program.c'")
                            .c_str()),
            0);
}

// As many teams at a time as there are workers, each as large as the runtime, whose threads spin for each other. They
// end because each is a gang.
struct spinning_team {
  std::atomic<unsigned> here{0};
  std::atomic<unsigned> sum{0};

  static void part(heddle_team_member* self, void* data) {
    auto& mine = *static_cast<spinning_team*>(data);
    mine.here.fetch_add(1);
    while (mine.here.load() < heddle_team_size(self)) heddle::this_thread::pause();
    mine.sum.fetch_add(heddle_team_number(self));
    if (heddle_team_barrier(self) != HEDDLE_OK) mine.sum.fetch_add(1000);
    if (mine.sum.load() != heddle_team_size(self) * (heddle_team_size(self) - 1) / 2) mine.sum.fetch_add(1000);
  }
};

TEST_F(c_api, teams_whose_threads_spin_for_each_other) {
  struct all {
    heddle_runtime* where;
    std::atomic<unsigned> right{0};
  } them{runtime_};
  const auto one = [](int64_t low, int64_t high, void* data) {
    auto& of = *static_cast<all*>(data);
    for (; low < high; ++low) {
      spinning_team mine;
      heddle_team_options options = {};
      options.runtime = of.where;
      const heddle_status status = heddle_team_run(&options, spinning_team::part, &mine);
      const unsigned n = heddle_runtime_workers(of.where);
      of.right.fetch_add(status == HEDDLE_OK && mine.sum.load() == n * (n - 1) / 2 ? 1 : 0);
    }
  };
  ASSERT_EQ(run([&] { heddle_for(0, 8, 1, one, &them); }), HEDDLE_OK);
  EXPECT_EQ(them.right.load(), 8u);
}

TEST_F(c_api, teams_report_mistakes_and_exceptions) {
  heddle_team_options options = {};
  options.mode = static_cast<heddle_team_mode>(7);
  EXPECT_EQ(heddle_team_run(&options, [](heddle_team_member*, void*) {}, nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_team_run(nullptr, nullptr, nullptr), HEDDLE_INVALID);
  EXPECT_EQ(heddle_team_barrier(nullptr), HEDDLE_INVALID);
  options = {};
  options.threads = 3;
  const auto throws_there = [](heddle_team_member* self, void*) {
    if (heddle_team_number(self) == 1) throw std::runtime_error("a callback's own");
  };
  for (const heddle_team_mode mode : {HEDDLE_TEAM_DEFAULT, HEDDLE_TEAM_GANG, HEDDLE_TEAM_STEALING}) {
    heddle_reset_gang_sched();
    options.mode = mode;
    EXPECT_EQ(heddle_team_run(&options, throws_there, nullptr), HEDDLE_FAILED);
    heddle_set_gang_sched();
  }
}

}  // namespace
}  // namespace c_api_test
