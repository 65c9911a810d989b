// Thread packing: Algorithm 3.1 as a model that counts time slices, and runtimes whose workers go and come back.
#include <heddle/heddle.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/fib.hpp"
#include "support/preemption.hpp"
#include "support/runtimes.hpp"
#include "worker/order/packing.hpp"
#include "worker/runtime.hpp"

namespace packing_test {
namespace {

using heddle::preemption;
using heddle::worker::packing;
using heddle::worker::served_pool;
using heddle_test::fib;
using heddle_test::in;
using heddle_test::options_for;

// --- the model -----------------------------------------------------------------------------------------------------

// Workers whose ticks come one after the other, each once an interval, and threads that are dealt out to the pools.
class model {
 public:
  // As many threads as workers there were.
  model(unsigned total, unsigned active, unsigned long work) : model(total, active, total, work) {}
  model(unsigned total, unsigned active, unsigned threads, unsigned long work)
      : active_(active),
        pools_(total),
        threads_(new heddle::fiber::thread[threads]),
        left_(threads, work),
        had_(threads),
        turns_(active),
        on_(active) {
    pools_.begin(active);
    for (unsigned i = 0; i < threads; ++i) {
      threads_[i].ties.belongs.set_pool(i % total);
      static_cast<void>(pools_.put(threads_[i], i % total));
    }
  }
  // One tick of each active worker.
  void step() {
    for (unsigned r = 0; r < active_; ++r) {
      heddle::fiber::thread* self = on_[r];
      if (self != nullptr) {
        const auto number = static_cast<std::size_t>(self - threads_.get());
        ++had_[number];
        if (--left_[number] == 0) self = nullptr;
      }
      heddle::fiber::thread* next = pools_.take(r, turns_[r]);
      if (next == nullptr && self == nullptr) next = pools_.take_any(r, turns_[r]);
      if (next != nullptr && self != nullptr) {
        self->ties.belongs.set_pool(pools_.settle(self->ties.belongs.rank()));
        static_cast<void>(pools_.put(*self, self->ties.belongs.rank()));
      }
      on_[r] = next != nullptr ? next : self;
    }
  }
  bool done() const {
    return std::all_of(left_.begin(), left_.end(), [](unsigned long n) { return n == 0; });
  }
  const std::vector<unsigned long>& had() const { return had_; }

 private:
  unsigned active_;
  packing pools_;
  std::unique_ptr<heddle::fiber::thread[]> threads_;
  std::vector<unsigned long> left_, had_;
  std::vector<served_pool> turns_;
  std::vector<heddle::fiber::thread*> on_;
};

TEST(packing_model, equal_threads_end_near_the_ideal_time) {
  constexpr unsigned long work = 300;
  for (const unsigned total : {1u, 4u, 7u, 28u, 56u}) {
    for (unsigned active = 1; active <= total; ++active) {
      model m(total, active, work);
      unsigned long steps = 0;
      for (; !m.done(); ++steps) m.step();
      const double ideal = static_cast<double>(work) * total / active;
      EXPECT_GE(static_cast<double>(steps), ideal) << active << " of " << total;
      EXPECT_LE(static_cast<double>(steps), ideal * 1.05 + 3) << active << " of " << total;
    }
  }
}

// Threads that wait for each other in a loop get on only if each has time slices.
TEST(packing_model, every_thread_has_slices) {
  constexpr unsigned rounds = 2000;
  for (const unsigned total : {4u, 7u, 28u}) {
    for (unsigned active = 1; active <= total; ++active) {
      model m(total, active, ~0ul);
      for (unsigned i = 0; i < rounds; ++i) m.step();
      const auto [least, most] = std::minmax_element(m.had().begin(), m.had().end());
      EXPECT_GE(*least, rounds * active / total / 2) << active << " of " << total;
      EXPECT_LE(*most, rounds);
    }
  }
}

// The largest share of a thread over the smallest one, once the threads have settled.
double unevenness(unsigned total, unsigned active, unsigned threads) {
  model m(total, active, threads, ~0ul);
  for (unsigned i = 0; i < 400; ++i) m.step();
  std::vector<unsigned long> had = m.had();
  for (unsigned i = 0; i < 60 * threads; ++i) m.step();
  for (unsigned i = 0; i < threads; ++i) had[i] = m.had()[i] - had[i];
  const auto [least, most] = std::minmax_element(had.begin(), had.end());
  return static_cast<double>(*most) / static_cast<double>(*least);
}

TEST(packing_model, as_many_threads_as_pools_or_a_multiple_have_even_shares) {
  for (const unsigned total : {2u, 3u, 4u, 5u, 7u, 8u, 28u}) {
    for (unsigned active = 1; active < total; ++active) {
      for (const unsigned each : {1u, 2u, 3u})
        EXPECT_LE(unevenness(total, active, each * total), 1.1) << each * total << " on " << active << " of " << total;
    }
  }
}

// The ticks of the model come in step, so a thread may happen to lose its worker again and again.
TEST(packing_model, any_number_of_threads_have_nearly_even_shares) {
  EXPECT_LE(unevenness(2, 1, 7), 1.01);
  for (const unsigned total : {2u, 3u, 4u, 5u, 7u, 8u, 28u}) {
    for (unsigned active = 1; active < total; ++active) {
      for (const unsigned threads : {total - 1, total + 1, 2 * total - 1, 2 * total + 1, 30u}) {
        if (threads < active) continue;
        EXPECT_LE(unevenness(total, active, threads), 1.5) << threads << " on " << active << " of " << total;
      }
    }
  }
}

TEST(packing_model, private_pools_stay_with_their_worker) {
  packing pools(7);
  pools.begin(3);  // private: 0 3, 1 4, 2 5; shared: 6
  std::array<heddle::fiber::thread, 7> threads;
  for (unsigned i = 0; i < 7; ++i) ASSERT_TRUE(pools.put(threads[i], i));
  served_pool turns;
  std::vector<const heddle::fiber::thread*> taken;
  while (const heddle::fiber::thread* t = pools.take(1, turns)) taken.push_back(t);
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(std::count(taken.begin(), taken.end(), &threads[6]), 1);
  EXPECT_EQ(std::count(taken.begin(), taken.end(), &threads[1]), 1);
  EXPECT_EQ(std::count(taken.begin(), taken.end(), &threads[4]), 1);
  EXPECT_TRUE(pools.any());
  unsigned rest = 0;
  pools.end([&](heddle::fiber::thread&) { ++rest; });
  EXPECT_EQ(rest, 4u);
  EXPECT_FALSE(pools.any());
  EXPECT_FALSE(pools.put(threads[0], 0));
}

// New threads go where nobody is: a thread that runs or waits in its pool counts, one that has left does not.
TEST(packing_model, new_threads_go_to_the_emptiest_pool) {
  packing pools(4);
  pools.begin(2);
  std::array<heddle::fiber::thread, 6> threads;
  std::array<unsigned, 4> in{};
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned index = pools.deal();
    ++in[index];
    ASSERT_TRUE(pools.put(threads[i], index));
  }
  EXPECT_THAT(in, ::testing::Each(1u));
  served_pool first, second;
  ASSERT_NE(pools.take(0, first), nullptr);  // runs: its pool is still full
  ASSERT_NE(pools.take(1, second), nullptr);
  const auto empty = static_cast<unsigned>(second.index);
  pools.rests(second);  // and has left
  const unsigned index = pools.deal();
  EXPECT_EQ(index, empty);
  ASSERT_TRUE(pools.put(threads[4], index));
  EXPECT_LT(pools.deal(), 4u);  // all alike again
  pools.end([](heddle::fiber::thread&) {});
}

// All in one pool at first: in the end each has one of its own.
TEST(packing_model, threads_settle_evenly) {
  constexpr unsigned total = 7, active = 3;
  packing pools(total);
  pools.begin(active);
  std::array<heddle::fiber::thread, total> threads;
  for (auto& t : threads) {
    t.ties.belongs.set_pool(0);
    ASSERT_TRUE(pools.put(t, 0));
  }
  std::array<served_pool, active> turns;
  std::array<heddle::fiber::thread*, active> on{};
  for (int round = 0; round < 100; ++round) {
    for (unsigned r = 0; r < active; ++r) {
      heddle::fiber::thread* const self = on[r];
      heddle::fiber::thread* next = pools.take(r, turns[r]);
      if (next == nullptr && self == nullptr) next = pools.take_any(r, turns[r]);
      if (next == nullptr) continue;
      on[r] = next;
      if (self == nullptr) continue;
      self->ties.belongs.set_pool(pools.settle(self->ties.belongs.rank()));
      ASSERT_TRUE(pools.put(*self, self->ties.belongs.rank()));
    }
  }
  std::array<unsigned, total> in{};
  for (const auto& t : threads) ++in[t.ties.belongs.rank()];
  EXPECT_THAT(in, ::testing::Each(1u));
  pools.end([](heddle::fiber::thread&) {});
}

// --- runtimes ------------------------------------------------------------------------------------------------------

class packing_techniques : public heddle_test::with_ticks<preemption> {};

TEST_P(packing_techniques, threads_on_fewer_workers_all_get_on_and_workers_come_back) {
  heddle::runtime rt(options_for(4));
  for (const unsigned n : {3u, 1u, 2u, 4u}) {
    rt.set_active_workers(n);
    heddle_test::spin_barrier(in(rt, GetParam()), 4, 8);
    heddle_test::spin_barrier(in(rt, GetParam()), 9, 3);
  }
  // They cannot meet unless each has a worker for itself.
  heddle_test::spin_barrier(in(rt, preemption::none), 4, 3);
}

TEST_P(packing_techniques, running_threads_are_packed_and_unpacked) {
  heddle::runtime rt(options_for(4));
  constexpr int threads = 4;
  std::array<std::atomic<std::uint64_t>, threads> turns{};
  std::array<std::atomic<int>, 4> last{};
  std::atomic<bool> stop{false};
  std::vector<heddle::thread> all;
  for (int id = 0; id < threads; ++id) {
    all.emplace_back(in(rt, GetParam()), [&, id] {
      while (!stop) {
        const int on = rt.worker_rank();
        if (last[static_cast<std::size_t>(on)].exchange(id + 1) != id + 1)
          turns[static_cast<std::size_t>(id)].fetch_add(1);
      }
    });
  }
  // Each on a worker of its own: so they come into pools of their own.
  for (int settled = 0; settled < 2;) {
    for (auto& l : last) l = 0;
    while (std::any_of(last.begin(), last.end(), [](const auto& l) { return l.load() == 0; })) {
    }
    std::array<int, 4> ids{};
    std::transform(last.begin(), last.end(), ids.begin(), [](const auto& l) { return l.load(); });
    std::sort(ids.begin(), ids.end());
    settled = ids == std::array<int, 4>{1, 2, 3, 4} ? settled + 1 : 0;
  }
  for (const unsigned n : {3u, 2u, 1u}) {
    rt.set_active_workers(n);
    // A thread that is never taken from its pool, or has its pool to itself for ever, gets no new time slice.
    std::array<std::uint64_t, threads> before{};
    for (std::size_t i = 0; i < threads; ++i) before[i] = turns[i].load();
    for (std::size_t i = 0; i < threads; ++i) {
      while (turns[i].load() < before[i] + 5) {
      }
    }
  }
  rt.set_active_workers(4);
  for (auto& l : last) l = 0;
  // all four workers run again
  while (std::any_of(last.begin(), last.end(), [](const auto& l) { return l.load() == 0; })) {
  }
  stop = true;
  for (auto& t : all) t.join();
}

INSTANTIATE_TEST_SUITE_P(packing, packing_techniques,
                         testing::Values(preemption::signal_yield, preemption::klt_switching),
                         [](const auto& info) { return heddle_test::name_of(info.param); });

class packable : public testing::TestWithParam<std::string> {};

TEST_P(packable, workers_go_and_come_while_everything_runs) {
  heddle::runtime rt(options_for(4, GetParam()));
  if (!rt.core().capacity().can_change() || rt.workers() < 4) GTEST_SKIP() << "counts on all its workers";
  std::atomic<bool> done{false};
  std::thread changes([&] {
    for (unsigned i = 0; !done; ++i) rt.set_active_workers(1 + i * 7 % 4);
    rt.set_active_workers(4);
  });
  heddle::mutex m;
  long guarded = 0;
  const int rounds = 20 * heddle_test::stress();
  for (int round = 0; round < rounds; ++round) {
    rt.run([&] {
      std::vector<heddle::thread> all;
      for (int i = 0; i < 12; ++i) {
        heddle::thread_options o;
        o.priority = heddle::priority{i % 3 - 1};
        if (!heddle_test::thread_sanitized && i % 4 == 0)
          o.preemption = i % 8 == 0 ? preemption::klt_switching : preemption::signal_yield;
        all.emplace_back(o, [&] {
          for (int j = 0; j < 5; ++j) {
            const std::lock_guard hold(m);
            ++guarded;
            heddle::this_thread::yield();
          }
        });
      }
      EXPECT_EQ(fib(12), 144);
      heddle::task_group g;
      for (int i = 0; i < 6; ++i) g.run([] { EXPECT_EQ(fib(8), 21); });
      g.wait();
      for (auto& t : all) t.join();
    });
  }
  done = true;
  changes.join();
  EXPECT_EQ(guarded, rounds * 12 * 5);
}

INSTANTIATE_TEST_SUITE_P(packing, packable, testing::ValuesIn(heddle_test::all_policies),
                         [](const auto& info) { return heddle_test::test_name(info.param); });

// --- what the process may use --------------------------------------------------------------------------------------

heddle::worker::settings may_use(unsigned workers, const std::atomic<unsigned>& allowed) {
  heddle::worker::settings s;
  s.units.assign(workers, -1);
  s.allowed = [&allowed] { return allowed.load(); };
  return s;
}

template <class Condition>
void until(Condition&& holds) {
  while (!holds()) std::this_thread::yield();
}

TEST(packing, follows_what_the_process_may_use) {
  std::atomic<unsigned> allowed{4};
  heddle::worker::runtime rt(may_use(4, allowed));
  const auto follows = [&](unsigned now, unsigned active) {
    allowed = now;
    until([&] { return rt.capacity().active() == active; });
  };
  for (const unsigned n : {2u, 3u, 1u, 4u}) follows(n, n);
  follows(0, 1);
  follows(100, 4);
  rt.capacity().set_active(2);  // what was asked for is an upper bound
  EXPECT_EQ(rt.capacity().active(), 2u);
  follows(1, 1);
  follows(4, 2);
  rt.capacity().set_active(4);
  EXPECT_EQ(rt.capacity().active(), 4u);
}

TEST(packing, more_workers_than_processors_keep_their_ratio) {
  std::atomic<unsigned> allowed{2};
  heddle::worker::runtime rt(may_use(8, allowed));
  allowed = 1;
  until([&] { return rt.capacity().active() == 4; });
  allowed = 2;
  until([&] { return rt.capacity().active() == 8; });
}

// As `taskset --all-tasks` does it.
void set_affinity_of_all(const cpu_set_t& set) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    sched_setaffinity(std::atoi(entry.path().filename().c_str()), sizeof set, &set);
  }
}

TEST(packing, follows_the_affinity_mask) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  heddle::runtime_options o = options_for(0);
  o.packing = "auto";
  o.bind = "off";
  heddle::runtime rt(o);
  const unsigned workers = rt.workers();
  if (workers < 2) GTEST_SKIP() << "one processor";
  EXPECT_EQ(rt.active_workers(), workers);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    CPU_SET(cpu, &one);
    break;
  }
  set_affinity_of_all(one);
  until([&] { return rt.active_workers() == 1; });
  rt.run([] { EXPECT_EQ(fib(15), 610); });
  set_affinity_of_all(all);
  until([&] { return rt.active_workers() == workers; });
  rt.run([] { EXPECT_EQ(fib(15), 610); });
}

// Its workers have to come back for that, though the process may use one processor only.
TEST(packing, a_runtime_ends_while_the_affinity_mask_is_narrow) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one processor";
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  {
    heddle::runtime_options o = options_for(0);
    o.packing = "auto";
    o.bind = "off";
    heddle::runtime rt(o);
    set_affinity_of_all(one);
    until([&] { return rt.active_workers() == 1; });
  }
  set_affinity_of_all(all);
}

}  // namespace
}  // namespace packing_test
