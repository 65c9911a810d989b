// Carriers against the real kernel: whatever preempted threads hold of the C library's locks, workers go on. Each test
// hangs where a carrier waits for such a lock while it has the worker that the holder waits for.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/preemption.hpp"

namespace carriers_test {
namespace {

using namespace std::chrono_literals;
using heddle_test::in;
using heddle_test::options_for;
using heddle_test::repeat;

// Sizes beyond malloc's cache of a thread, so that each call takes an arena's lock.
void allocate(unsigned seed) {
  void* blocks[64];
  for (void*& b : blocks) {
    seed = seed * 1664525u + 1013904223u;
    b = std::malloc(1100 + (seed >> 16) % 20000);
  }
  for (void* b : blocks) std::free(b);
}

class carriers : public heddle_test::with_ticks<const char*> {
 protected:
  heddle::runtime_options options(unsigned workers) const {
    heddle::runtime_options o = options_for(workers);
    o.preempt_klt = GetParam();
    return o;
  }
};

// Each round is a fresh runtime: its carriers are made while the locks of malloc are with preempted threads.
TEST_P(carriers, are_made_while_malloc_is_in_use) {
  const int rounds = 5;
  for (int round = 0; round < rounds; ++round) {
    heddle::runtime rt(options(2));
    std::vector<heddle::thread> all;
    for (unsigned i = 0; i < 24; ++i) {
      all.emplace_back(in(rt, heddle::preemption::klt_switching), [i] { repeat(20ms, [i] { allocate(i); }); });
    }
    for (auto& t : all) t.join();
  }
}

// A thread that is not preemptive, and allocates nothing, makes blocking calls beside them.
TEST_P(carriers, come_for_blocking_calls_while_malloc_is_in_use) {
  heddle::runtime rt(options(1));
  std::atomic<bool> end{false};
  std::vector<heddle::thread> all;
  for (unsigned i = 0; i < 8; ++i) {
    all.emplace_back(in(rt, heddle::preemption::klt_switching), [i, &end] {
      while (!end.load()) allocate(i);
    });
  }
  int calls = 0;
  heddle::thread caller(in(rt, heddle::preemption::none), [&] {
    for (; calls < 50; ++calls) heddle::blocking([] {});
    end.store(true);
  });
  for (auto& t : all) t.join();
  caller.join();
  EXPECT_EQ(calls, 50);
}

// fork() holds all locks of malloc for as long as it takes.
TEST_P(carriers, are_made_while_threads_fork) {
  heddle::runtime rt(options(2));
  std::atomic<int> right{0}, made{0};
  std::vector<heddle::thread> all;
  for (int i = 0; i < 8; ++i) {
    all.emplace_back(in(rt, heddle::preemption::klt_switching), [&] {
      for (int k = 0; k < 5; ++k) {
        const pid_t child = fork();
        if (child == 0) {
          std::free(std::malloc(100000));
          _exit(7);
        }
        if (child < 0) continue;
        made.fetch_add(1);
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) == 7) right.fetch_add(1);
      }
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(right.load(), made.load());
}

INSTANTIATE_TEST_SUITE_P(klt, carriers, testing::Values("direct", "local", "futex", "naive"),
                         [](const auto& i) { return std::string(i.param); });

}  // namespace
}  // namespace carriers_test
