// Timers and ticks of the simulated platform: when they come, to whom, and what they cost.
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/comparison.hpp"
#include "platform/platform.hpp"
#include "platform/sim/engine.hpp"

namespace heddle::sim {
namespace tick_test {
namespace {

constexpr picoseconds us = 1'000'000;
constexpr platform::nanoseconds in_ns = 1000;

configuration machine(unsigned units) {
  configuration c;
  c.units.clear();
  for (unsigned i = 0; i < units; ++i) c.units.push_back({static_cast<int>(i), 1.0});
  c.charge = charging::annotations;
  c.times = {};
  return c;
}

struct tick {
  picoseconds at;
  unsigned strand;
  void* owner;
  bool operator==(const tick&) const = default;
};
std::vector<tick> ticks;
std::function<void()> in_handler;

void note(void* owner, platform::interrupted& what) noexcept {
  EXPECT_FALSE(what.on_alternate_stack);
  ticks.push_back({active->now() - engine::origin, active->self().id, owner});
  if (in_handler) in_handler();
}

class tick_test : public ::testing::Test {
 protected:
  engine& begin(configuration c) {
    made_ = std::make_unique<engine>(std::move(c));
    active = made_.get();
    ticks.clear();
    in_handler = nullptr;
    EXPECT_TRUE(platform::listen_for_ticks(note));
    return *made_;
  }
  strand& start(std::function<void()> f, int unit = -1) {
    bodies_.push_back(std::make_unique<std::function<void()>>(std::move(f)));
    strand* s = active->start([](void* body) { (*static_cast<std::function<void()>*>(body))(); }, bodies_.back().get(),
                              "test", unit);
    EXPECT_NE(s, nullptr);
    return *s;
  }
  static picoseconds clock() { return active->now() - engine::origin; }
  static platform::nanoseconds at(std::uint64_t microseconds) {
    return engine::origin / nanosecond + microseconds * in_ns;
  }
  static void compute(picoseconds time) { active->charge(activity::program, time); }
  static std::vector<picoseconds> times() {
    std::vector<picoseconds> all;
    for (const tick& t : ticks) all.push_back(t.at / us);
    return all;
  }

 private:
  std::vector<std::unique_ptr<std::function<void()>>> bodies_;
  std::unique_ptr<engine> made_;
};

TEST_F(tick_test, a_timer_ticks_within_a_charge) {
  begin(machine(1));
  int mine = 0;
  platform::tick_timer timer;
  ASSERT_EQ(platform::make(timer, &mine), nullptr);
  platform::set(timer, at(3), 3 * in_ns);
  compute(10 * us);
  EXPECT_EQ(clock(), 10 * us) << "ticks that cost nothing change nothing";
  EXPECT_EQ(ticks, (std::vector<tick>{{3 * us, 0, &mine}, {6 * us, 0, &mine}, {9 * us, 0, &mine}}));
  platform::set(timer, 0, 0);
  compute(10 * us);
  EXPECT_EQ(ticks.size(), 3u);
  platform::drop(timer);
}

TEST_F(tick_test, one_that_ticks_once_ticks_once) {
  begin(machine(1));
  platform::tick_timer timer;
  ASSERT_EQ(platform::make(timer, nullptr), nullptr);
  platform::set(timer, at(2), 0);
  compute(100 * us);
  EXPECT_EQ(times(), (std::vector<picoseconds>{2}));
  platform::set(timer, at(50), 0);
  compute(us);
  EXPECT_EQ(ticks.size(), 2u) << "a time that has passed: at once";
  platform::drop(timer);
}

TEST_F(tick_test, the_receiver_pays) {
  configuration c = machine(1);
  c.times.signal = 2 * us;
  begin(std::move(c));
  platform::tick_timer timer;
  ASSERT_EQ(platform::make(timer, nullptr), nullptr);
  platform::set(timer, at(3), 3 * in_ns);
  compute(8 * us);
  // 3 computed, 2 for the tick; 1 until 6, 2; and so on, the last one at the very end
  EXPECT_EQ(times(), (std::vector<picoseconds>{5, 8, 11, 14, 17, 20}));
  EXPECT_EQ(clock(), 20 * us);
  platform::drop(timer);
}

TEST_F(tick_test, a_timer_faster_than_its_ticks_leaves_time_for_the_program) {
  configuration c = machine(1);
  c.times.signal = 10 * us;
  begin(std::move(c));
  platform::tick_timer timer;
  ASSERT_EQ(platform::make(timer, nullptr), nullptr);
  platform::set(timer, at(3), 3 * in_ns);
  compute(6 * us);
  EXPECT_LT(ticks.size(), 10u);
  EXPECT_EQ(clock(), 6 * us + 10 * us * ticks.size());
  platform::drop(timer);
}

TEST_F(tick_test, a_sent_tick_cuts_a_long_charge_at_its_own_time) {
  begin(machine(2));
  strand& s = start([] {
    compute(100 * us);
    compute(100 * us);
  });
  compute(130 * us);
  platform::send_tick(static_cast<int>(s.id) + 1);
  active->join(s);
  EXPECT_EQ(ticks, (std::vector<tick>{{130 * us, s.id, nullptr}}));
  EXPECT_EQ(s.time - engine::origin, 200 * us) << "what was cut off is made up for";
  EXPECT_EQ(s.spent[static_cast<unsigned>(activity::program)], 200 * us);
}

TEST_F(tick_test, a_sleeper_is_interrupted) {
  begin(machine(2));
  std::atomic<std::uint32_t> word{0};
  bool woken = false;
  strand& s = start([&] {
    platform::wait_on(word, 0);
    woken = true;
    while (word.load() == 0) platform::wait_on(word, 0);
  });
  compute(5 * us);
  platform::send_tick(static_cast<int>(s.id) + 1);
  compute(5 * us);
  EXPECT_EQ(times(), (std::vector<picoseconds>{5}));
  EXPECT_TRUE(woken) << "wait_on may return early, and does";
  word = 1;
  platform::wake_one(word);
  active->join(s);
}

TEST_F(tick_test, a_timer_of_a_sleeper_comes_before_its_deadline) {
  begin(machine(1));
  platform::tick_timer timer;
  ASSERT_EQ(platform::make(timer, nullptr), nullptr);
  platform::set(timer, at(4), 0);
  std::atomic<std::uint32_t> word{0};
  platform::wait_on(word, 0, at(20));
  EXPECT_EQ(clock(), 4 * us);
  EXPECT_EQ(times(), (std::vector<picoseconds>{4}));
  platform::wait_on(word, 0, at(20));
  EXPECT_EQ(clock(), 20 * us);
  platform::drop(timer);
}

TEST_F(tick_test, wait_for_tick_sleeps_until_one_comes_and_the_word_has_changed) {
  begin(machine(2));
  std::atomic<std::uint32_t> word{0};
  picoseconds woken = 0;
  strand& s = start([&] {
    platform::wait_for_tick(word, 0);
    woken = clock();
  });
  compute(5 * us);
  platform::send_tick(static_cast<int>(s.id) + 1);
  compute(5 * us);
  EXPECT_EQ(woken, 0u);
  word = 1;
  platform::send_tick(static_cast<int>(s.id) + 1);
  active->join(s);
  EXPECT_EQ(woken, 10 * us);
}

TEST_F(tick_test, ticks_that_come_at_once_wait_for_each_other) {
  configuration c = machine(4);
  c.times.signal = 3 * us;
  c.times.signal_lock = 2 * us;
  begin(std::move(c));
  std::vector<strand*> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(&start(
        [] {
          platform::tick_timer timer;
          ASSERT_EQ(platform::make(timer, nullptr), nullptr);
          platform::set(timer, at(10), 0);
          compute(20 * us);
          platform::drop(timer);
        },
        i));
  }
  for (strand* s : all) active->join(*s);
  EXPECT_EQ(times(), (std::vector<picoseconds>{13, 15, 17, 19}));
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(all[i]->time - engine::origin, (23 + 2 * i) * us);
}

TEST_F(tick_test, a_tick_within_a_handler_is_delivered_there) {
  begin(machine(1));
  platform::tick_timer timer;
  ASSERT_EQ(platform::make(timer, nullptr), nullptr);
  platform::set(timer, at(2), 2 * in_ns);
  unsigned deepest = 0, depth = 0;
  in_handler = [&] {
    deepest = std::max(deepest, ++depth);
    if (depth == 1) compute(3 * us);
    --depth;
  };
  compute(3 * us);
  EXPECT_EQ(deepest, 2u);
  platform::drop(timer);
}

TEST_F(tick_test, errno_survives) {
  begin(machine(1));
  platform::tick_timer timer;
  ASSERT_EQ(platform::make(timer, nullptr), nullptr);
  platform::set(timer, at(2), 0);
  in_handler = [] { errno = 7; };
  errno = 3;
  compute(3 * us);
  EXPECT_EQ(errno, 3);
  EXPECT_EQ(ticks.size(), 1u);
  platform::drop(timer);
}

TEST_F(tick_test, nobody_gets_what_was_for_one_that_has_ended) {
  begin(machine(2));
  strand& s = start([] {
    platform::tick_timer timer;
    ASSERT_EQ(platform::make(timer, nullptr), nullptr);
    platform::set(timer, at(100), in_ns);
  });
  active->join(s);
  platform::send_tick(static_cast<int>(s.id) + 1);
  compute(200 * us);
  EXPECT_TRUE(ticks.empty());
}

TEST_F(tick_test, who_is_woken_on_the_wakers_unit_follows_when_that_one_sleeps) {
  configuration c = machine(2);
  c.times.kernel_switch = 2 * us;
  c.times.wake_latency = 50 * us;
  begin(std::move(c));
  std::atomic<std::uint32_t> a{0}, b{0};
  picoseconds handed = 0, got = 0;
  strand& second = start(
      [&] {
        while (a.load() == 0) platform::wait_on(a, 0);
        got = clock();
        b = 1;
        platform::wake_one(b);
      },
      1);
  strand& first = start(
      [&] {
        compute(100 * us);
        a = 1;
        platform::wake_one(a);
        compute(10 * us);
        handed = clock();
        while (b.load() == 0) platform::wait_on(b, 0);
      },
      1);
  active->join(first);
  active->join(second);
  EXPECT_EQ(got, handed + 2 * us);
}

}  // namespace
}  // namespace tick_test
}  // namespace heddle::sim
