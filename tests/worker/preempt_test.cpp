// Preemptive threads: time slices end by ticks, and everything of heddle's works in them.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cfenv>
#include <chrono>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/fib.hpp"
#include "support/preemption.hpp"

namespace preempt_test {
namespace {

using namespace std::chrono_literals;
using heddle::preemption;
using heddle_test::fib;
using heddle_test::in;
using heddle_test::options_for;
using heddle_test::repeat;
using heddle_test::spin_barrier;

struct way {
  preemption how;
  const char* timer;
  const char* klt;
};

std::string name_of(const way& w) {
  const std::string name = heddle_test::name_of(w.how) + "_" + w.timer;
  return heddle_test::test_name(w.how == preemption::klt_switching ? name + "_" + w.klt : name);
}

class ways : public heddle_test::with_ticks<way> {
 protected:
  static heddle::runtime_options options(unsigned workers) {
    heddle::runtime_options o = options_for(workers);
    o.preempt_timer = GetParam().timer;
    o.preempt_klt = GetParam().klt;
    return o;
  }
};

class techniques : public ways {};

TEST_P(ways, a_spinning_barrier_of_more_threads_than_workers_ends) {
  for (const unsigned workers : {1u, 2u, 3u}) {
    heddle::runtime rt(options(workers));
    spin_barrier(in(rt, GetParam().how), static_cast<int>(4 * workers), 20);
    EXPECT_GT(rt.statistics().preemptions, 0u);
  }
}

TEST_P(ways, all_kinds_of_threads_live_side_by_side) {
  heddle::runtime rt(options(2));
  std::atomic<bool> stop{false};
  std::atomic<long> turns{0};
  heddle::thread spinner(in(rt, GetParam().how), [&] {
    while (!stop) {
    }
  });
  heddle::thread other(in(rt, preemption::signal_yield), [&] {
    while (!stop) {
    }
  });
  heddle::thread third(in(rt, preemption::klt_switching), [&] {
    while (!stop) {
    }
  });
  std::vector<heddle::thread> all;
  for (int i = 0; i < 20; ++i) {
    all.emplace_back(in(rt, preemption::none), [&] {
      for (int j = 0; j < 5; ++j) {
        turns.fetch_add(1);
        heddle::this_thread::yield();
      }
    });
  }
  for (auto& t : all) t.join();
  stop = true;
  spinner.join();
  other.join();
  third.join();
  EXPECT_EQ(turns.load(), 100);
}

TEST_P(techniques, forks_groups_loops_and_waits_work_in_preemptive_threads) {
  heddle::runtime rt(options(2));
  heddle::mutex m;
  heddle::condition_variable c;
  heddle::semaphore permits(2);
  heddle::channel<int> line(4);
  const bool any_code = GetParam().how == preemption::klt_switching;
  long under_m = 0, produced = 0;
  std::atomic<long> produced_without{0};
  std::atomic<int> running{4};
  std::vector<heddle::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(in(rt, GetParam().how), [&] {
      repeat(300ms, [&] {
        EXPECT_EQ(fib(15), 610);
        std::array<int, 1000> v{};  // no malloc: signal-yield cannot have it
        heddle::parallel_for(std::size_t{0}, v.size(), [&](std::size_t k) { v[k] = static_cast<int>(k); });
        EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 499500);
        std::atomic<int> sum{0};
        heddle::task_group g;
        for (int k = 0; k < 8; ++k) g.run([&sum, k] { sum += k; });
        g.wait();
        EXPECT_EQ(sum.load(), 28);
        {
          std::lock_guard hold(m);
          ++under_m;
          for (int k = 0; k < 200; ++k) under_m += k % 2 == 0 ? 1 : -1;
        }
        permits.acquire();
        permits.release();
        heddle::this_thread::yield();
        heddle::this_thread::sleep_for(20us);
        if (any_code) EXPECT_TRUE(line.send(1));  // allocates
        else ++produced_without;
      });
      if (running.fetch_sub(1) == 1) line.close();
    });
  }
  heddle::thread reader(in(rt, GetParam().how), [&] {
    while (line.receive().has_value()) ++produced;
  });
  for (auto& t : all) t.join();
  reader.join();
  EXPECT_EQ(produced + produced_without.load(), under_m);
  EXPECT_GT(rt.statistics().preemptions, 0u);
}

TEST_P(techniques, groups_and_runtimes_have_a_kind) {
  auto o = options(1);
  {
    heddle::runtime rt(o);
    rt.run([&] {
      std::atomic<int> arrived{0};
      heddle::task_group g;
      g.preempt(GetParam().how);
      for (int i = 0; i < 4; ++i) {
        g.run([&] {
          arrived.fetch_add(1);
          while (arrived.load() < 4) {
          }
        });
      }
      g.wait();
    });
    EXPECT_GT(rt.statistics().preemptions, 0u);
  }
  o.preempt = GetParam().how;
  heddle::runtime rt(o);
  rt.run([&] {  // halves of forks spin for each other
    std::atomic<int> arrived{0};
    auto meet = [&] {
      arrived.fetch_add(1);
      while (arrived.load() < 4) {
      }
    };
    heddle::parallel_invoke(meet, meet, meet, meet);
    EXPECT_EQ(fib(18), 2584);
  });
  EXPECT_GT(rt.statistics().preemptions, 0u);
}

TEST_P(techniques, exceptions_pass_through_preempted_code) {
  heddle::runtime rt(options(1));
  const bool any_code = GetParam().how == preemption::klt_switching;
  std::vector<heddle::thread> all;
  std::atomic<int> caught{0};
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(in(rt, GetParam().how), [&, i] {
      repeat(200ms, [&] {
        try {
          if (any_code) throw std::to_string(i);  // thrown and caught under fire
          heddle::this_thread::yield();
        } catch (const std::string& text) {
          for (volatile int spin = 0; spin < 1000;) spin = spin + 1;
          EXPECT_EQ(text, std::to_string(i));
          caught.fetch_add(1);
        }
      });
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(caught.load() > 0, any_code);
}

TEST_P(techniques, blocking_calls_and_system_calls_are_right) {
  heddle::runtime rt(options(1));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::atomic<bool> stop{false};
  heddle::thread spinner(in(rt, GetParam().how), [&] {
    while (!stop) {
    }
  });
  std::string got;
  heddle::thread reader(in(rt, GetParam().how), [&] {
    char buffer[64];
    for (;;) {
      const ssize_t n = heddle::blocking([&] { return read(ends[0], buffer, sizeof buffer); });
      ASSERT_GE(n, 0);
      if (n == 0) break;
      got.append(buffer, static_cast<std::size_t>(n));
    }
  });
  heddle::thread writer(in(rt, GetParam().how), [&] {
    for (int i = 0; i < 20; ++i) {
      for (volatile int spin = 0; spin < 100000;) spin = spin + 1;
      ASSERT_EQ(write(ends[1], "x", 1), 1);
    }
    close(ends[1]);
  });
  writer.join();
  reader.join();
  stop = true;
  spinner.join();
  close(ends[0]);
  EXPECT_EQ(got, std::string(20, 'x'));
}

TEST_P(techniques, rounding_mode_and_signal_mask_stay_a_threads_own) {
  heddle::runtime rt(options(1));
  std::vector<heddle::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(in(rt, GetParam().how), [i] {
      const int mode = i % 2 == 0 ? FE_UPWARD : FE_DOWNWARD;
      std::fesetround(mode);
      repeat(100ms, [&] {
        for (volatile int spin = 0; spin < 10000;) spin = spin + 1;
        ASSERT_EQ(std::fegetround(), mode);
      });
      std::fesetround(FE_TONEAREST);
    });
  }
  for (auto& t : all) t.join();
  EXPECT_GT(rt.statistics().preemptions, 0u);
}

TEST_P(techniques, errno_survives) {
  heddle::runtime rt(options(1));
  std::vector<heddle::thread> all;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(in(rt, GetParam().how), [&, i] {
      // One worker and one kernel thread under signal-yield: the location stays, the value is switched.
      repeat(200ms, [&] {
        errno = 1000 + i;
        for (volatile int spin = 0; spin < 20000;) spin = spin + 1;
        if (errno != 1000 + i) wrong.fetch_add(1);
      });
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(techniques, detached_and_ending_threads_leave_nothing) {
  heddle::runtime rt(options(2));
  std::atomic<int> done{0};
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 50; ++i) {
      heddle::thread(in(rt, GetParam().how), [&] {
        for (volatile int spin = 0; spin < 50000;) spin = spin + 1;
        done.fetch_add(1);
      }).detach();
    }
  }
  while (done.load() != 250) std::this_thread::yield();
}

// The requester's time slice ends within request_stop now and then, and the
// wait that it ends must not hold its worker meanwhile.
TEST_P(techniques, a_stop_request_may_be_preempted) {
  heddle::runtime_options o = options(1);
  o.preempt_interval = 50us;
  heddle::runtime rt(o);
  // std::stop_source tells threads apart by their storage
  const bool own = GetParam().how == preemption::signal_yield && !heddle_test::sanitized;
  if (GetParam().how == preemption::signal_yield && !own)
    GTEST_SKIP() << "no thread-local storage of their own under a sanitizer";
  const int rounds = 3000 * heddle_test::stress();
  heddle::channel<std::stop_source> todo(1);
  heddle::semaphore done(0);
  heddle::thread_options how = in(rt, GetParam().how);
  how.tls = own ? heddle::tls::own : heddle::tls::carrier;
  heddle::thread requests(how, [&] {
    while (auto source = todo.receive()) {
      source->request_stop();
      done.acquire();
    }
  });
  int ended = 0;
  heddle::thread waits(in(rt, preemption::none), [&] {
    heddle::mutex m;
    heddle::condition_variable changed;
    for (; ended < rounds; ++ended) {
      std::stop_source source;
      todo.send(source);
      std::unique_lock hold(m);
      changed.wait(hold, source.get_token(), [] { return false; });
      hold.unlock();
      done.release();
    }
    todo.close();
  });
  requests.join();
  waits.join();
  EXPECT_EQ(ended, rounds);
}

// Without preemption such a barrier keeps all workers for ever; the watchdog tells.
TEST(no_preemption, the_watchdog_reports_a_spinning_barrier) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int before = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  std::string said;
  {
    auto o = options_for(2);
    o.watchdog = 1;
    heddle::runtime rt(o);
    std::atomic<int> arrived{0};
    std::atomic<bool> give_up{false};
    std::vector<heddle::thread> all;
    for (int i = 0; i < 20; ++i) {
      all.emplace_back(in(rt, preemption::none), [&] {
        arrived.fetch_add(1);
        while (arrived.load() < 20 && !give_up.load()) {
        }
      });
    }
    char piece[256];
    for (ssize_t n; said.find("no progress") == std::string::npos && (n = read(ends[0], piece, sizeof piece)) > 0;)
      said.append(piece, static_cast<std::size_t>(n));
    EXPECT_EQ(arrived.load(), 2);  // one a worker
    give_up = true;
    for (auto& t : all) t.join();
    dup2(before, STDERR_FILENO);
  }
  close(before);
  close(ends[0]);
  EXPECT_NE(said.find("no progress"), std::string::npos) << said;
}

TEST_P(techniques, workers_become_inactive_and_active) {
  heddle::runtime rt(options(3));
  EXPECT_THROW(rt.set_active_workers(0), std::invalid_argument);
  EXPECT_THROW(rt.set_active_workers(4), std::invalid_argument);
  std::atomic<bool> stop{false};
  std::array<std::atomic<bool>, 3> seen{};
  std::vector<heddle::thread> all;
  for (int i = 0; i < 6; ++i) {
    all.emplace_back(in(rt, GetParam().how), [&] {
      while (!stop) seen[static_cast<std::size_t>(rt.worker_rank())] = true;
    });
  }
  for (const unsigned n : {1u, 3u, 2u, 3u}) {
    rt.set_active_workers(n);
    EXPECT_EQ(rt.active_workers(), n);
    do {  // who ran still may be seen once more: until a look finds the first n and no more
      for (auto& s : seen) s = false;
      heddle_test::wait_for_ticks(rt, 100 * n);
    } while (std::array<bool, 3>{seen[0], seen[1], seen[2]} != std::array<bool, 3>{true, n > 1, n > 2});
  }
  rt.set_active_workers(1);
  stop = true;
  for (auto& t : all) t.join();
  rt.run([] { EXPECT_EQ(fib(15), 610); });
}

TEST(preempt, options_that_cannot_be_are_refused) {
  heddle::runtime_options o;
  o.workers = 1;
  o.preempt_timer = "hybrid:x";
  EXPECT_THROW(heddle::runtime{o}, std::invalid_argument);
  o.preempt_timer = "hourly";
  EXPECT_THROW(heddle::runtime{o}, std::invalid_argument);
  o.preempt_timer = "hybrid:3";
  o.preempt_interval = 1ns;
  EXPECT_THROW(heddle::runtime{o}, std::invalid_argument);
  o.preempt_interval = 1ms;
  o.preempt_klt = "magic";
  EXPECT_THROW(heddle::runtime{o}, std::invalid_argument);
  if (!heddle_test::thread_sanitized) return;
  o.preempt_klt = "direct";
  heddle::runtime rt(o);
  EXPECT_THROW(heddle::thread(in(rt, preemption::signal_yield), [] {}), std::system_error);
}

INSTANTIATE_TEST_SUITE_P(
    preempt, ways,
    testing::Values(
        way{preemption::signal_yield, "creation", "direct"}, way{preemption::signal_yield, "aligned", "direct"},
        way{preemption::signal_yield, "one-to-all", "direct"}, way{preemption::signal_yield, "chain", "direct"},
        way{preemption::signal_yield, "hybrid:2", "direct"}, way{preemption::klt_switching, "aligned", "naive"},
        way{preemption::klt_switching, "aligned", "futex"}, way{preemption::klt_switching, "aligned", "local"},
        way{preemption::klt_switching, "aligned", "direct"}, way{preemption::klt_switching, "creation", "direct"},
        way{preemption::klt_switching, "one-to-all", "local"}, way{preemption::klt_switching, "chain", "direct"},
        way{preemption::klt_switching, "hybrid:2", "naive"}),
    [](const auto& info) { return name_of(info.param); });

INSTANTIATE_TEST_SUITE_P(preempt, techniques,
                         testing::Values(way{preemption::signal_yield, "aligned", "direct"},
                                         way{preemption::signal_yield, "chain", "direct"},
                                         way{preemption::klt_switching, "aligned", "direct"},
                                         way{preemption::klt_switching, "chain", "futex"},
                                         way{preemption::klt_switching, "aligned", "local"},
                                         way{preemption::klt_switching, "aligned", "naive"}),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace preempt_test
