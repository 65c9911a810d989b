// The engine alone: clocks, sleeping, waking, deadlines, processing units, the order of events.
#include "platform/sim/engine.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

#include "platform/platform.hpp"
#include "platform/sim/cost_hooks.hpp"

namespace heddle::sim {
namespace engine_test {
namespace {

constexpr picoseconds us = 1'000'000;

configuration machine(unsigned units) {
  configuration c;
  c.units.clear();
  for (unsigned i = 0; i < units; ++i) c.units.push_back({static_cast<int>(10 + i), 1.0});
  c.charge = charging::annotations;
  c.times = {};
  c.times.wake_latency = 5 * us;
  c.times.wake = 1 * us;
  c.times.sleep = 2 * us;
  return c;
}

// An engine as long as the test runs.
class engine_test : public ::testing::Test {
 protected:
  engine& begin(configuration c) {
    made_ = std::make_unique<engine>(std::move(c));
    active = made_.get();
    return *made_;
  }
  strand& start(std::function<void()> f, int number = -1) {
    bodies_.push_back(std::make_unique<std::function<void()>>(std::move(f)));
    strand* s = active->start([](void* body) { (*static_cast<std::function<void()>*>(body))(); }, bodies_.back().get(),
                              "test", number);
    EXPECT_NE(s, nullptr);
    return *s;
  }
  static picoseconds clock() { return active->now() - engine::origin; }
  static void compute(picoseconds time) { active->charge(activity::program, time); }

  std::string order_;

 private:
  std::vector<std::unique_ptr<std::function<void()>>> bodies_;
  std::unique_ptr<engine> made_;
};

TEST_F(engine_test, the_earliest_goes_on) {
  engine& e = begin(machine(3));
  strand& a = start([&] {
    for (int i = 0; i < 3; ++i) {
      compute(10 * us);
      order_ += 'a';
    }
  });
  strand& b = start([&] {
    for (int i = 0; i < 3; ++i) {
      compute(15 * us);
      order_ += 'b';
    }
  });
  e.join(a);
  e.join(b);
  // a at 16, 26, 36; b, begun one microsecond later, at 22, 37, 52
  EXPECT_EQ(order_, "abaabb");
  EXPECT_EQ(b.time - engine::origin, 52 * us);
}

TEST_F(engine_test, ties_go_to_the_older_one) {
  configuration c = machine(4);
  c.times = {};
  engine& e = begin(std::move(c));
  std::vector<strand*> all;
  for (char name : {'a', 'b', 'c'}) {
    all.push_back(&start([this, name] {
      for (int i = 0; i < 3; ++i) {
        compute(us);
        order_ += name;
      }
    }));
  }
  for (strand* s : all) e.join(*s);
  EXPECT_EQ(order_, "abcabcabc");
}

TEST_F(engine_test, a_wake_up_takes_its_latency) {
  begin(machine(2));
  std::atomic<std::uint32_t> word{0};
  picoseconds woken = 0;
  strand& sleeper = start([&] {
    while (word.load() == 0) platform::wait_on(word, 0);
    woken = clock();
  });
  compute(100 * us);
  const picoseconds before = clock();
  word = 1;
  platform::wake_one(word);
  active->join(sleeper);
  EXPECT_EQ(woken, before + 1 * us + 5 * us);
}

TEST_F(engine_test, a_word_that_changed_is_not_waited_for) {
  begin(machine(1));
  std::atomic<std::uint32_t> word{1};
  platform::wait_on(word, 0);
  EXPECT_EQ(clock(), 2 * us) << "the cost of the call, and no sleep";
}

TEST_F(engine_test, deadlines_are_kept_in_virtual_time) {
  begin(machine(1));
  std::atomic<std::uint32_t> word{0};
  const platform::nanoseconds hour = 3'600'000'000'000u;
  const auto real = std::chrono::steady_clock::now();
  platform::wait_on(word, 0, platform::now() + hour);
  EXPECT_EQ(clock(), hour * nanosecond);
  EXPECT_LT(std::chrono::steady_clock::now() - real, std::chrono::minutes(10));
}

TEST_F(engine_test, a_wake_up_before_the_deadline_wins) {
  begin(machine(2));
  std::atomic<std::uint32_t> word{0};
  picoseconds woken = 0;
  strand& sleeper = start([&] {
    platform::wait_on(word, 0, platform::now() + 1'000'000);
    woken = clock();
    compute(5'000 * us);  // past the deadline that must not be felt any more
    order_ += 'x';
  });
  compute(100 * us);
  platform::wake_all(word);
  active->join(sleeper);
  EXPECT_EQ(woken, 108 * us - 1 * us);
  EXPECT_EQ(order_, "x");
}

TEST_F(engine_test, sleepers_wake_in_the_order_in_which_they_fell_asleep) {
  begin(machine(4));
  std::atomic<std::uint32_t> word{0}, other{0};
  std::vector<strand*> all;
  for (char name : {'a', 'b', 'c'}) {
    all.push_back(&start([&, name] {
      platform::wait_on(name == 'b' ? other : word, 0);
      order_ += name;
    }));
  }
  compute(100 * us);
  platform::wake_one(word);
  compute(100 * us);
  platform::wake_one(word);
  platform::wake_one(other);
  for (strand* s : all) active->join(*s);
  EXPECT_EQ(order_, "acb");
}

TEST_F(engine_test, strands_on_one_unit_take_turns) {
  engine& e = begin(machine(2));
  std::vector<picoseconds> ends;
  std::vector<strand*> all;
  for (int i = 0; i < 2; ++i) {
    all.push_back(&start(
        [&] {
          for (int k = 0; k < 100; ++k) compute(100 * us);
          ends.push_back(clock());
        },
        11));
  }
  for (strand* s : all) e.join(*s);
  // 10 ms of work each on one unit: both end late, within two turns of each other.
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_GE(ends[0], 17'000 * us);
  EXPECT_GE(ends[1], 20'000 * us);
  EXPECT_LE(ends[1], 20'100 * us) << "a turn costs a switch, and nothing is computed twice";
}

TEST_F(engine_test, unbound_strands_use_free_units) {
  engine& e = begin(machine(2));
  // Bound to the unit that the first strand is on, so the first strand moves to the other unit.
  strand& bound = start(
      [&] {
        for (int k = 0; k < 10; ++k) compute(1000 * us);
      },
      10);
  for (int k = 0; k < 10; ++k) compute(1000 * us);
  const picoseconds mine = clock();
  e.join(bound);
  EXPECT_EQ(mine, 10'001 * us);
  EXPECT_EQ(bound.time - engine::origin, 10'006 * us);
  EXPECT_EQ(e.self().last_unit, 1);
}

TEST_F(engine_test, a_unit_that_has_nothing_left_takes_who_waits_elsewhere) {
  engine& e = begin(machine(2));
  picoseconds ended = 0;
  strand& longer = start(
      [&] {
        for (int k = 0; k < 100; ++k) compute(100 * us);
      },
      10);
  strand& shorter = start([&] { compute(500 * us); }, 11);
  strand& unbound = start([&] {  // both are taken, and the queue behind the longer one is the shorter one
    compute(3000 * us);
    ended = clock();
  });
  e.join(longer);
  e.join(shorter);
  e.join(unbound);
  EXPECT_EQ(unbound.last_unit, 1);
  EXPECT_GE(ended, 3'500 * us);
  EXPECT_LE(ended, 3'600 * us);
  EXPECT_LE(longer.time - engine::origin, 10'100 * us) << "nobody else was on its unit";
}

TEST_F(engine_test, binding_moves_to_the_unit_and_refuses_unknown_ones) {
  engine& e = begin(machine(3));
  EXPECT_TRUE(platform::bind_self(12));
  EXPECT_EQ(e.self().unit, 2);
  EXPECT_FALSE(platform::bind_self(13));
  EXPECT_TRUE(platform::bind_self(-1));
  EXPECT_EQ(e.self().unit, 2);
}

TEST_F(engine_test, slow_cores_take_longer) {
  configuration c = machine(2);
  c.units[1].speed = 0.5;
  begin(std::move(c));
  ASSERT_TRUE(platform::bind_self(11));
  const picoseconds before = clock();
  compute(10 * us);
  EXPECT_EQ(clock() - before, 20 * us);
}

TEST_F(engine_test, cycles_are_of_the_fastest_core) {
  configuration c = machine(1);
  c.frequency = 2;
  begin(std::move(c));
  active->costs().cycles(3000);
  EXPECT_EQ(clock(), 1500 * nanosecond);
}

// An out-of-order core computes while it waits for lines, as far as its reorder buffer reaches: of arithmetic A and
// lines that take M, in windows W each, min(A, M, lines x W) pass at once.
TEST_F(engine_test, arithmetic_hides_behind_lines_within_the_window) {
  configuration c = machine(1);
  c.window = 26 * nanosecond;
  picoseconds a_line = 0;
  c.memory = &a_line;
  c.access = [](void* context, unsigned, std::uint64_t, std::uint64_t bytes, bool, continued, picoseconds) {
    return bytes / 64 * *static_cast<picoseconds*>(context);
  };
  begin(std::move(c));
  program_costs& costs = active->costs();
  const auto took = [](auto&& told) {
    active->charge(activity::scheduler, 0);
    const picoseconds before = clock();
    told();
    return clock() - before;
  };
  constexpr std::uint64_t at = 0x10000, lines = 100;
  const auto both = [&] {
    costs.access(at, lines * 64, false);
    costs.cycles(1000);
  };
  a_line = 6300;  // 630 ns of lines, 1000 of arithmetic
  EXPECT_EQ(took(both), 1000 * nanosecond);
  EXPECT_EQ(took([&] {
              costs.cycles(1000);
              costs.access(at, lines * 64, false);
            }),
            1000 * nanosecond)
      << "in any order";
  a_line = 15 * nanosecond;
  EXPECT_EQ(took(both), 1500 * nanosecond) << "lines take longer than arithmetic";
  a_line = 90 * nanosecond;
  EXPECT_EQ(took([&] {
              costs.access(at, 64, false);
              costs.cycles(1000);
            }),
            (90 + 1000 - 26) * nanosecond)
      << "behind one line there is one window";
  EXPECT_EQ(took([&] {
              costs.access(at, lines * 64, false);
              active->charge(activity::scheduler, 0);
              costs.cycles(1000);
            }),
            10'000 * nanosecond)
      << "an operation of the scheduler lies between them";
}

TEST_F(engine_test, elements_of_arrays_are_streams) {
  configuration c = machine(1);
  std::vector<continued> seen;
  c.memory = &seen;
  c.access = [](void* context, unsigned, std::uint64_t, std::uint64_t, bool, continued how, picoseconds) {
    static_cast<std::vector<continued>*>(context)->push_back(how);
    return picoseconds{1};
  };
  begin(std::move(c));
  program_costs& costs = active->costs();
  for (std::uint64_t i = 0; i < 24; ++i) {
    costs.access(0x10000 + i * 8, 8, false);
    costs.access(0x90000 - i * 64, 8, true);
  }
  for (std::uint64_t i = 0; i < 24; ++i) {
    EXPECT_EQ(seen[2 * i], i == 0 ? continued::no : i % 8 == 0 ? continued::next_line : continued::same_line);
    EXPECT_EQ(seen[2 * i + 1], i == 0 ? continued::no : continued::next_line) << "downwards";
  }
  seen.clear();
  for (std::uint64_t i = 0; i < 100; ++i) costs.access(0x200000 + i * 4096, 8, false);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), continued::no), 100) << "a stride is no stream";
}

TEST_F(engine_test, accesses_are_served_in_the_order_of_time_and_in_parts) {
  struct seen {
    std::vector<std::pair<unsigned, picoseconds>> calls;
    std::uint64_t bytes{0};
  } log;
  configuration c = machine(3);
  c.memory = &log;
  c.access = [](void* context, unsigned unit, std::uint64_t, std::uint64_t bytes, bool, continued, picoseconds at) {
    auto& l = *static_cast<seen*>(context);
    l.calls.emplace_back(unit, at);
    l.bytes += bytes;
    return bytes * 100;
  };
  engine& e = begin(std::move(c));
  strand& a = start([&] { active->costs().access(0x10000, 20'000, false); }, 11);
  strand& b = start([&] { active->costs().access(0x80010, 20'000, true); }, 12);
  e.join(a);
  e.join(b);
  EXPECT_EQ(log.bytes, 40'000u);
  EXPECT_GT(log.calls.size(), 8u) << "no part is longer than 64 lines";
  bool mixed = false;
  for (std::size_t i = 1; i < log.calls.size(); ++i) {
    EXPECT_LE(log.calls[i - 1].second, log.calls[i].second);
    mixed = mixed ||
            (i > 1 && log.calls[i].first == log.calls[i - 2].first && log.calls[i].first != log.calls[i - 1].first);
  }
  EXPECT_TRUE(mixed) << "both processors come to the memory in turn";
}

TEST_F(engine_test, unannotated_code_is_measured_until_costs_are_declared) {
  configuration c = machine(1);
  c.charge = charging::automatic;
  engine& e = begin(std::move(c));
  volatile unsigned sum = 0;
  for (unsigned i = 0; i < 1'000'000; ++i) sum = sum + i;
  EXPECT_GT(clock(), 10 * us);
  e.costs().declare();
  EXPECT_EQ(clock(), 0u) << "static initialisation of the program was free";
  for (unsigned i = 0; i < 1'000'000; ++i) sum = sum + i;
  EXPECT_EQ(clock(), 0u);
}

TEST_F(engine_test, errno_is_each_strands_own) {
  begin(machine(2));
  errno = 7;
  strand& other = start([] {
    EXPECT_EQ(errno, 0);
    errno = 9;
    compute(10 * us);
    EXPECT_EQ(errno, 9);
  });
  compute(us * 7);
  EXPECT_EQ(errno, 7);
  active->join(other);
  EXPECT_EQ(errno, 7);
}

TEST_F(engine_test, exceptions_in_flight_are_each_strands_own) {
  begin(machine(2));
  strand& other = start([] {
    try {
      throw 1;
    } catch (int) {
      compute(10 * us);
      EXPECT_NE(std::current_exception(), nullptr);
    }
    compute(10 * us);
  });
  compute(10 * us);
  EXPECT_EQ(std::current_exception(), nullptr) << "the other strand is in its handler";
  try {
    throw 2.5;
  } catch (double) {
    compute(10 * us);
  }
  active->join(other);
}

TEST_F(engine_test, deadlock_ends_the_process) {
  EXPECT_EXIT(
      {
        begin(machine(2));
        std::atomic<std::uint32_t> word{0};
        platform::wait_on(word, 0);
      },
      ::testing::ExitedWithCode(deadlock_status), "deadlock at .*all 1 kernel threads sleep");
}

// No assertion on time: the figure is for whoever reads the log, and for docs/guide/simulator.md.
TEST_F(engine_test, events_a_second) {
  engine& e = begin(machine(64));
  std::vector<strand*> all;
  constexpr int rounds = 20'000;
  for (int i = 0; i < 64; ++i) {
    all.push_back(&start(
        [i] {
          for (int k = 0; k < rounds; ++k) compute(1000 + static_cast<picoseconds>((i * 7 + k * 13) % 101));
        },
        10 + i));
  }
  const auto begin = std::chrono::steady_clock::now();
  for (strand* s : all) e.join(*s);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%.1f million events a second, %.1f million of them switches\n",
              static_cast<double>(e.counts().events) / seconds / 1e6,
              static_cast<double>(e.counts().switches) / seconds / 1e6);
  EXPECT_GE(e.counts().events, 64u * rounds);
}

}  // namespace
}  // namespace engine_test
}  // namespace heddle::sim
