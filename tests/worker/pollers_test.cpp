// Pollers beside preemptive threads, which may hold malloc's lock when their time slices end.
#include <heddle/poller.hpp>

#include <heddle/event_count.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "support/preemption.hpp"

namespace pollers_test {
namespace {

using namespace std::chrono_literals;

class pollers : public heddle_test::by_means {};

void use_malloc() {
  void* volatile p = std::malloc(100'000);
  std::free(p);
}

// Threads that use malloc and then spin for an ask, more than there are workers.
void spin_for(heddle::poller& p, const heddle::thread_options& kind) {
  std::vector<heddle::thread> all;
  for (int i = 0; i < 6; ++i) {
    all.emplace_back(kind, [&] {
      for (int k = 0; k < 20; ++k) {
        const heddle::poller::interest waits(p);
        const std::uint64_t before = p.asks();
        while (p.asks() == before) use_malloc();
      }
    });
  }
  for (heddle::thread& t : all) t.join();
}

TEST_P(pollers, are_asked_where_all_threads_are_preemptive) {
  for (const unsigned workers : {1u, 2u}) {
    heddle::runtime_options o = heddle_test::options_for(workers);
    o.preempt = GetParam().how;
    o.preempt_tls = GetParam().storage;
    heddle::runtime rt(o);
    heddle::poller p(rt, {.bound = 50us, .gap = 0ns}, [] {
      use_malloc();
      return false;
    });
    spin_for(p, kind(rt));
    // by workers, too: the kernel thread will not do it
    heddle::poller other(rt, {.bound = 1h, .gap = 0ns}, [] {
      use_malloc();
      return false;
    });
    spin_for(other, kind(rt));
  }
}

TEST_P(pollers, are_asked_by_the_kernel_thread_alone_where_tasks_are_not) {
  for (const unsigned workers : {1u, 2u}) {
    heddle::runtime rt(heddle_test::options_for(workers));
    heddle::thread(kind(rt), [] {}).join();  // from here on somebody may hold malloc's lock
    std::atomic<int> by_worker{0};
    heddle::poller p(rt, {.bound = 50us, .gap = 0ns}, [&] {
      use_malloc();
      if (rt.worker_rank() >= 0) ++by_worker;
      return false;
    });
    spin_for(p, kind(rt));
    EXPECT_EQ(by_worker.load(), 0);
  }
}

TEST_P(pollers, preemptive_threads_wait_for_what_is_found) {
  heddle::runtime_options o = heddle_test::options_for(2);
  o.preempt = GetParam().how;
  o.preempt_tls = GetParam().storage;
  heddle::runtime rt(o);
  std::atomic<int> posted{0}, completed{0};
  heddle::event_count changed;
  heddle::poller p(rt, {}, [&] {
    const int all = posted.load();
    const int found = all - completed.exchange(all);
    if (found != 0) changed.notify_all();
    return found;
  });
  std::vector<heddle::thread> all;
  for (int i = 0; i < 6; ++i) {
    all.emplace_back(kind(rt), [&] {
      for (int k = 0; k < 50; ++k) {
        const heddle::poller::interest waits(p);
        const int mine = ++posted;
        changed.await([&] { return completed.load() >= mine; });
      }
    });
  }
  for (heddle::thread& t : all) t.join();
  while (p.found() != 300) std::this_thread::yield();  // the last ask returns
}

INSTANTIATE_TEST_SUITE_P(means, pollers, testing::ValuesIn(heddle_test::every_means),
                         [](const auto& of) { return heddle_test::name_of(of.param); });

}  // namespace
}  // namespace pollers_test
