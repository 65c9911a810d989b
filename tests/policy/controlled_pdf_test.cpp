// The properties that controlled-pdf alone has: supernodes of the shared cache one after the other, and those of a
// worker's own cache on one worker.
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace controlled_pdf_test {
namespace {

// Four workers under one cache.
heddle::runtime_options four(const std::string& policy) {
  heddle::runtime_options options;
  options.policy = policy;
  options.machine = "synthetic:pack:1 l3:1(size=1048576) l2:4(size=65536) core:1 pu:1";
  return options;
}

constexpr std::size_t shared = 1 << 20, own = 1 << 16;

TEST(controlled_pdf, supernodes_of_the_shared_cache_run_one_after_the_other) {
  heddle_test::watchdog guard("controlled_pdf");
  heddle::runtime rt(four("controlled-pdf"));
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> node{-1}, ran{0};
    std::atomic<bool> mixed{false};
    std::vector<int> order;
    rt.run([&] {
      heddle::task_group all(4, 4 * shared);
      for (int i = 0; i < 4; ++i) {
        all.run(
            [&, i] {
              order.push_back(i);  // no two at a time
              node.store(i);
              heddle::task_group parts(16, shared);
              for (int k = 0; k < 16; ++k) {
                parts.run(
                    [&, i] {
                      ran.fetch_add(1);
                      for (int turn = 0; turn < 100; ++turn) {
                        if (node.load() != i) mixed.store(true);
                      }
                    },
                    1);
              }
              parts.wait();
            },
            1);
      }
      all.wait();
    });
    EXPECT_FALSE(mixed.load());
    EXPECT_EQ(ran.load(), 64);
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
    guard.progress();
  }
}

// Halves of halves: what fits into the shared cache meets on all four workers, what is larger never does.
void cut(std::size_t bytes, int& upper, std::atomic<int>& arrived) {
  if (bytes > shared) {
    ++upper;  // a race, if two of them ran at the same time
    heddle::parallel_invoke(
        heddle::work_hint{1, 1, bytes}, [&] { cut(bytes / 2, upper, arrived); },
        [&] { cut(bytes / 2, upper, arrived); });
    return;
  }
  std::atomic<int> here{0};
  const auto meet = [&] {
    here.fetch_add(1);
    while (here.load() < 4) std::this_thread::yield();
    arrived.fetch_add(1);
  };
  heddle::parallel_invoke(
      heddle::work_hint{1, 1, shared},
      [&] { heddle::parallel_invoke(heddle::work_hint{1, 1, shared / 2}, meet, meet); },
      [&] { heddle::parallel_invoke(heddle::work_hint{1, 1, shared / 2}, meet, meet); });
}

TEST(controlled_pdf, what_fits_into_the_shared_cache_runs_in_parallel) {
  heddle_test::watchdog guard("controlled_pdf");
  heddle::runtime rt(four("controlled-pdf"));
  int upper = 0;
  std::atomic<int> arrived{0};
  rt.run([&] { cut(8 * shared, upper, arrived); });
  EXPECT_EQ(upper, 7);
  EXPECT_EQ(arrived.load(), 8 * 4);
}

TEST(controlled_pdf, what_fits_into_an_own_cache_stays_on_its_worker) {
  heddle_test::watchdog guard("controlled_pdf");
  for (const char* policy : {"controlled-pdf", "controlled-pdf:own=65536,shared=1e6"}) {
    heddle::runtime rt(four(policy));
    std::atomic<int> moved{0}, ran{0};
    rt.run([&] {
      heddle::task_group parts(32, shared / 2);
      for (int k = 0; k < 32; ++k) {
        parts.run(
            [&] {
              const int worker = rt.worker_rank();
              const auto look = [&, worker] {
                ran.fetch_add(1);
                if (rt.worker_rank() != worker) moved.fetch_add(1);
              };
              heddle::parallel_invoke(heddle::work_hint{1, 1, own / 4}, look, look);
              heddle::task_group inner(2, own / 4);
              for (int i = 0; i < 4; ++i) inner.run(look);
              inner.wait();
              heddle::parallel_invoke(look, look);  // by the bytes of its task
            },
            1);
      }
      parts.wait();
    });
    EXPECT_EQ(moved.load(), 0) << policy;
    EXPECT_EQ(ran.load(), 32 * 8) << policy;
    guard.progress();
  }
}

TEST(controlled_pdf, without_bytes_everything_runs_in_parallel) {
  heddle_test::watchdog guard("controlled_pdf");
  heddle::runtime rt(four("controlled-pdf"));
  std::atomic<int> here{0};
  rt.run([&] {
    heddle::task_group group;
    for (int i = 0; i < 4; ++i) {
      group.run([&] {
        here.fetch_add(1);
        while (here.load() < 4) std::this_thread::yield();
      });
    }
    group.wait();
  });
  EXPECT_EQ(here.load(), 4);
}

TEST(controlled_pdf, bad_parameters_are_named) {
  for (const char* text : {"controlled-pdf:shared=-1", "controlled-pdf:sigma=1"})
    EXPECT_THROW(heddle::runtime({.workers = 1, .policy = text}), std::invalid_argument) << text;
}

}  // namespace
}  // namespace controlled_pdf_test
