// Programs that use their workers badly, each in a way of its own, as traces
// made by hand: what is said of them, and that nothing is said of a good one.
#include "tools/trace/diagnosis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tools/trace/outside_parts.hpp"
#include "trace/hand_made.hpp"
#include "trace/outside.hpp"

namespace heddle::trace {
namespace diagnosis_test {
namespace {

using test::at;
using test::time_now;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t solve = 0x100, step = 0x200, asks = 0x300, holds = 0x400;

std::string symbol(std::uint64_t address) {
  switch (address) {
    case solve: return "solve(int)";
    case step: return "step(double*)";
    case asks: return "asks(table&)";
    case holds: return "holds(table&)";
    default: return "";
  }
}

recorder_options traced() {
  recorder_options o = test::options(1 << 18);
  o.symbol = symbol;
  o.attributes["event_ns"] = "0";
  o.place = [](std::uint64_t address) { return code_place{"/home/anna/loom", address + 0x10000}; };
  return o;
}

// Four workers; thread 1, solve(), is on worker 0.
class program {
 public:
  program() {
    for (unsigned w = 0; w < 4; ++w) {
      at<event::worker_start>(0, lane(w), w + 1);
      if (w != 0) at<event::idle_begin>(0, lane(w));
    }
    at<event::thread_create>(0, lane(0), 1u, solve);
    at<event::thread_switch_in>(0, lane(0), 1u);
  }

  ring* lane(unsigned w) { return rec.of(w); }
  ring* outside() { return rec.foreign(); }
  std::uint32_t text(const char* words) { return rec.text(words); }

  // A stolen part of a loop.
  void part(unsigned w, std::uint64_t from, std::uint64_t to, std::uint64_t job) {
    at<event::idle_end>(from, lane(w));
    at<event::thread_switch_in>(from, lane(w), 1000 + job);
    at<event::task_begin>(from, lane(w), 0u, job, step);
    at<event::task_end>(to, lane(w), job);
    at<event::thread_park>(to, lane(w), park_reason::ended, 1000 + job);
    at<event::idle_begin>(to, lane(w));
  }
  // All four work from one time to another.
  void loop(std::uint64_t from, std::uint64_t to) {
    for (unsigned w = 1; w < 4; ++w) part(w, from, to, ++jobs_);
    for (unsigned i = 0; i < 3; ++i) at<event::join>(to, lane(0), jobs_ - i);
  }

  recording end(std::uint64_t ns) {
    at<event::thread_park>(ns, lane(0), park_reason::ended, 1u);
    for (unsigned w = 0; w < 4; ++w) at<event::worker_stop>(ns, lane(w));
    return rec.collect();
  }

  recorder rec{4, traced()};

 private:
  std::uint64_t jobs_ = 0;
};

std::vector<complaint> kinds(const std::vector<finding>& all) {
  std::vector<complaint> result;
  for (const finding& f : all) result.push_back(f.what);
  return result;
}

TEST(diagnosis, says_nothing_of_a_balanced_program) {
  program p;
  // 1 % of the time goes into handing on
  for (std::uint64_t t = 0; t < 100; ++t) p.loop(t * ms, (t + 1) * ms - 10'000);
  EXPECT_THAT(diagnose(p.end(100 * ms)), IsEmpty());
}

TEST(diagnosis, names_a_serial_phase) {
  program p;
  p.loop(0, 30 * ms);
  p.loop(70 * ms, 100 * ms);
  const std::vector<finding> said =
      diagnose(p.end(100 * ms), [](std::uint64_t address) { return address == solve ? "loom.cpp:12" : ""; });
  ASSERT_THAT(kinds(said), ElementsAre(complaint::serial));
  EXPECT_NEAR(said[0].share, 0.3, 0.001);  // three of four workers for 40 of 100 ms
  EXPECT_EQ(said[0].begin_ns, 30 * ms);
  EXPECT_EQ(said[0].end_ns, 70 * ms);
  EXPECT_EQ(said[0].worker, 0u);
  EXPECT_THAT(said[0].text,
              AllOf(HasSubstr("for 40.0 ms (40 % of the run) one worker of 4 ran `solve(int)` (loom.cpp:12)"),
                    HasSubstr("from 30.0 ms")));
}

// Many serial phases, each of which is short.
TEST(diagnosis, adds_up_serial_phases) {
  program p;
  for (std::uint64_t t = 0; t < 100; ++t) p.loop(t * ms, t * ms + 700'000);
  const std::vector<finding> said = diagnose(p.end(100 * ms));
  ASSERT_THAT(kinds(said), ElementsAre(complaint::serial));
  EXPECT_NEAR(said[0].share, 0.225, 0.001);
  EXPECT_THAT(said[0].text, HasSubstr("`solve(int)` (loom+0x10100)"));  // no lines: where addr2line would look
}

TEST(diagnosis, names_a_region_instead_of_the_function) {
  program p;
  p.loop(0, 30 * ms);
  at<event::region_begin>(30 * ms, p.lane(0), p.text("assemble"));
  at<event::region_end>(70 * ms, p.lane(0));
  p.loop(70 * ms, 100 * ms);
  EXPECT_THAT(diagnose(p.end(100 * ms)).at(0).text, HasSubstr("ran `assemble` and"));
}

// A stolen part belongs to the region in which it was forked, and the sentence names its function, too.
TEST(diagnosis, names_the_region_that_a_stolen_part_belongs_to) {
  program p;
  at<event::region_begin>(0, p.lane(0), p.text("relaxation"));
  at<event::fork>(0, p.lane(0), 1u, 501u, step);
  at<event::idle_end>(0, p.lane(1));
  at<event::steal_attempt>(0, p.lane(1), 0u);
  at<event::steal_success>(0, p.lane(1), 0u, 0, 502u);  // of a fork that took the fast path
  for (const unsigned w : {1u, 2u}) p.part(w, 0, 50 * ms, 500 + w);
  at<event::thread_park>(1 * ms, p.lane(0), park_reason::wait, 1u);
  at<event::idle_begin>(1 * ms, p.lane(0));
  at<event::idle_end>(50 * ms, p.lane(0));
  at<event::thread_switch_in>(50 * ms, p.lane(0), 1u);
  for (const unsigned job : {501u, 502u}) at<event::join>(50 * ms, p.lane(0), job);
  at<event::region_end>(50 * ms, p.lane(0));
  const std::vector<finding> said = diagnose(p.end(50 * ms));
  ASSERT_THAT(kinds(said), ElementsAre(complaint::imbalance));
  EXPECT_THAT(said[0].text, HasSubstr("the longest parts of `relaxation` (most in `step(double*)`"));
}

// A group's children and the threads that a region makes belong to it, too, also where they go on elsewhere.
TEST(diagnosis, names_the_region_that_a_child_belongs_to) {
  program p;
  at<event::region_begin>(0, p.lane(0), p.text("the groups"));
  at<event::spawn>(0, p.lane(0), 1u, 7u, 0u);
  at<event::region_end>(0, p.lane(0));
  at<event::thread_park>(0, p.lane(0), park_reason::wait, 1u);
  at<event::idle_begin>(0, p.lane(0));
  at<event::idle_end>(0, p.lane(3));
  at<event::thread_switch_in>(0, p.lane(3), 7u);
  at<event::task_begin>(0, p.lane(3), 1u, 7u, step);
  at<event::task_end>(50 * ms, p.lane(3), 7u);
  at<event::thread_park>(50 * ms, p.lane(3), park_reason::ended, 7u);
  at<event::idle_begin>(50 * ms, p.lane(3));
  at<event::idle_end>(50 * ms, p.lane(0));
  at<event::thread_switch_in>(50 * ms, p.lane(0), 1u);
  const std::vector<finding> said = diagnose(p.end(50 * ms));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said[0].text, HasSubstr("`the groups` (most in `step(double*)`"));
}

TEST(diagnosis, names_a_huge_iteration) {
  program p;
  for (std::uint64_t t = 0; t < 20; ++t) p.loop(t * ms, (t + 1) * ms);
  // The last one is on worker 2; the others have ended, and the loop has not.
  p.part(1, 20 * ms, 21 * ms, 501);
  p.part(2, 20 * ms, 90 * ms, 502);
  p.part(3, 20 * ms, 21 * ms, 503);
  at<event::thread_park>(21 * ms, p.lane(0), park_reason::wait, 1u);
  at<event::idle_begin>(21 * ms, p.lane(0));
  at<event::idle_end>(90 * ms, p.lane(0));
  at<event::thread_switch_in>(90 * ms, p.lane(0), 1u);
  for (const unsigned job : {501u, 502u, 503u}) at<event::join>(90 * ms, p.lane(0), job);
  const std::vector<finding> said = diagnose(p.end(90 * ms));
  ASSERT_THAT(kinds(said), ElementsAre(complaint::imbalance));
  EXPECT_NEAR(said[0].share, 69.0 * 3 / (4 * 90), 0.001);
  EXPECT_EQ(said[0].worker, 2u);
  EXPECT_THAT(said[0].text, AllOf(HasSubstr("`step(double*)`"), HasSubstr("69.0 ms, on worker 2 from 21.0 ms"),
                                  HasSubstr("half of its 63 pieces took no more than 1.0 ms")));
}

// The same where the forker itself has the huge part: it is in its
// own code, and a stolen part of the loop waits to be joined.
TEST(diagnosis, tells_a_huge_own_part_from_a_serial_phase) {
  program p;
  for (unsigned w = 1; w < 4; ++w) p.part(w, 0, 1 * ms, w);
  for (unsigned w = 1; w < 4; ++w) at<event::join>(50 * ms, p.lane(0), w);
  const std::vector<finding> said = diagnose(p.end(50 * ms));
  ASSERT_THAT(kinds(said), ElementsAre(complaint::imbalance));
  EXPECT_THAT(said[0].text,
              AllOf(HasSubstr("`solve(int)`"), HasSubstr("of what `step(double*)`"), HasSubstr("is a part of")));
}

// Each of four threads does half its work under one lock: two run at a time, at most.
TEST(diagnosis, names_a_contended_lock_and_its_holder) {
  program p;
  constexpr std::uint64_t lock = 0x7f00;
  for (unsigned w = 1; w < 4; ++w) {
    at<event::idle_end>(0, p.lane(w));
    at<event::thread_create>(0, p.lane(w), 1 + w, step);
    at<event::thread_switch_in>(0, p.lane(w), 1 + w);
  }
  const std::uint32_t mutex = p.text("mutex");
  // Worker w holds the lock from 10 w to 10 w + 10; who comes later waits from 0 on.
  for (unsigned w = 1; w < 4; ++w) {
    at<event::wait_begin>(1, p.lane(w), mutex, lock, asks);
    at<event::thread_park>(1, p.lane(w), park_reason::wait, 1 + w);
    at<event::idle_begin>(1, p.lane(w));
    at<event::idle_end>(10 * w * ms, p.lane(w));
    at<event::thread_switch_in>(10 * w * ms, p.lane(w), 1 + w);
    at<event::lock_passed>((10 * w + 10) * ms - 100, p.lane(w), lock, holds);
  }
  at<event::lock_passed>(10 * ms - 100, p.lane(0), lock, holds);
  for (unsigned w = 1; w < 4; ++w) at<event::thread_park>(40 * ms, p.lane(w), park_reason::ended, 1 + w);
  const std::vector<finding> said = diagnose(p.end(40 * ms));
  ASSERT_THAT(kinds(said), ElementsAre(complaint::lock));
  EXPECT_NEAR(said[0].share, 60.0 / 160, 0.001);
  EXPECT_THAT(said[0].text,
              AllOf(HasSubstr("3 threads waited for the lock at 0x7f00, 20.0 ms each on average and 3 times in all, "
                              "most in `asks(table&)`"),
                    HasSubstr("held by `holds(table&)`")));
}

TEST(diagnosis, names_code_that_sleeps_in_the_kernel) {
  program p;
  for (unsigned w = 0; w < 4; ++w) at<event::cpu_time>(0, p.lane(w), 5u, 0u, w + 1);
  p.loop(0, 40 * ms);
  // All were busy for 40 ms; processors worked for 10 of them, and each kernel thread gave its up 30 times.
  for (unsigned w = 0; w < 4; ++w) at<event::cpu_time>(40 * ms, p.lane(w), 35u, 10 * ms, w + 1);
  const std::vector<finding> said = diagnose(p.end(40 * ms));
  ASSERT_THAT(kinds(said), ElementsAre(complaint::off_cpu, complaint::off_cpu));
  EXPECT_NEAR(said[0].share, 0.5625, 0.001);
  EXPECT_THAT(said[0].text,
              AllOf(HasSubstr("`step(double*)` (loom+0x10200) ran for 120.0 ms and used the processor for 30.0 ms"),
                    HasSubstr("slept in the kernel")));
  EXPECT_THAT(said[1].text, HasSubstr("`solve(int)`"));
}

TEST(diagnosis, tells_a_crowded_machine_from_sleep) {
  program p;
  for (unsigned w = 0; w < 4; ++w) at<event::cpu_time>(0, p.lane(w), 5u, 0u, w + 1);
  p.loop(0, 40 * ms);
  for (unsigned w = 0; w < 4; ++w) at<event::cpu_time>(40 * ms, p.lane(w), 5u, 20 * ms, w + 1);
  const std::vector<finding> said = diagnose(p.end(40 * ms));
  ASSERT_THAT(kinds(said), ElementsAre(complaint::crowded)) << "one sentence for all code";
  EXPECT_NEAR(said[0].share, 0.5, 0.001);
  EXPECT_THAT(said[0].text, AllOf(HasSubstr("ran something else for 20.0 ms of the 40.0 ms of each worker's busy time"),
                                  HasSubstr("most while `step(double*)`")));
}

// The causes that the program can change come first, though the crowd takes more.
TEST(diagnosis, tells_a_crowded_machine_last) {
  program p;
  for (unsigned w = 0; w < 4; ++w) at<event::cpu_time>(0, p.lane(w), 5u, 0u, w + 1);
  p.loop(0, 40 * ms);
  for (unsigned w = 0; w < 4; ++w) at<event::cpu_time>(40 * ms, p.lane(w), 5u, 10 * ms, w + 1);
  const std::vector<finding> said = diagnose(p.end(60 * ms));  // the last 20 ms are serial
  ASSERT_THAT(kinds(said), ElementsAre(complaint::serial, complaint::crowded));
  EXPECT_LT(said[0].share, said[1].share);
}

// A worker that changed its kernel thread in between says nothing of processor time.
TEST(diagnosis, does_not_compare_two_kernel_threads) {
  program p;
  at<event::cpu_time>(0, p.lane(0), 5u, 0u, 1u);
  p.loop(0, 40 * ms);
  at<event::cpu_time>(40 * ms, p.lane(0), 9u, 100u, 2u);
  EXPECT_THAT(diagnose(p.end(40 * ms)), IsEmpty());
}

TEST(diagnosis, names_tasks_that_are_too_small) {
  recorder rec(1, traced());
  ring* lane = rec.of(0);
  at<event::worker_start>(0, lane, 1u);
  at<event::thread_switch_in>(0, lane, 1u);
  at<event::group_begin>(0, lane, 7u, 0.0, 0u);
  std::uint64_t now = 0;
  for (std::uint64_t child = 2; child < 10'002; ++child) {
    at<event::spawn>(now, lane, 7u, child, 0.0);
    at<event::thread_switch_in>(now, lane, child);
    at<event::task_begin>(now, lane, 1u, child, step);
    at<event::task_end>(now += 90, lane, child);
    at<event::thread_park>(now, lane, park_reason::ended, child);
    at<event::thread_switch_in>(now, lane, 1u);
  }
  at<event::group_end>(now, lane, 7u);
  at<event::thread_park>(now, lane, park_reason::ended, 1u);
  at<event::worker_stop>(now, lane);
  const std::vector<finding> said = diagnose(rec.collect());
  ASSERT_THAT(kinds(said), ElementsAre(complaint::small_tasks));
  EXPECT_THAT(said[0].text, AllOf(HasSubstr("10000 of `step(double*)`"), HasSubstr("computed 90 ns each"),
                                  HasSubstr("29 % of the work")));
}

TEST(diagnosis, names_time_in_which_all_sleep) {
  program p;
  p.loop(0, 20 * ms);
  at<event::wait_begin>(20 * ms, p.lane(0), p.text("time"), 0u, 0u);
  at<event::thread_park>(20 * ms, p.lane(0), park_reason::wait, 1u);
  at<event::idle_begin>(20 * ms, p.lane(0));
  at<event::idle_end>(80 * ms, p.lane(0));
  at<event::thread_switch_in>(80 * ms, p.lane(0), 1u);
  p.loop(80 * ms, 100 * ms);
  const std::vector<finding> said = diagnose(p.end(100 * ms));
  ASSERT_THAT(kinds(said), ElementsAre(complaint::asleep));
  EXPECT_NEAR(said[0].share, 0.6, 0.001);
  EXPECT_THAT(said[0].text, HasSubstr("For 60.0 ms (60 % of the run) workers were idle while threads slept"));
}

TEST(diagnosis, names_the_part_of_main_that_no_worker_sees) {
  program p;
  p.loop(0, 20 * ms);
  at<event::thread_park>(20 * ms, p.lane(0), park_reason::ended, 1u);
  at<event::idle_begin>(20 * ms, p.lane(0));
  at<event::outside_begin>(20 * ms, p.outside(), p.text("read input"), 77u);
  at<event::outside_end>(80 * ms, p.outside(), 77u);
  at<event::idle_end>(80 * ms, p.lane(0));
  at<event::thread_switch_in>(80 * ms, p.lane(0), 1u);
  p.loop(80 * ms, 100 * ms);
  const std::vector<finding> said = diagnose(p.end(100 * ms));
  ASSERT_THAT(kinds(said), ElementsAre(complaint::outside));
  EXPECT_NEAR(said[0].share, 0.6, 0.001);
  EXPECT_THAT(said[0].text, HasSubstr("in its region `read input`"));
}

// The workers sleep when the program ends, and have written nothing since their last work.
TEST(diagnosis, names_the_part_of_main_after_the_last_work) {
  program p;
  p.loop(0, 20 * ms);
  at<event::thread_park>(20 * ms, p.lane(0), park_reason::ended, 1u);
  at<event::idle_begin>(20 * ms, p.lane(0));
  at<event::outside_begin>(30 * ms, p.outside(), p.text("write output"), 77u);
  time_now = 100 * ms;
  const std::vector<finding> said = diagnose(p.rec.collect());
  ASSERT_THAT(kinds(said), ElementsAre(complaint::outside, complaint::outside));
  EXPECT_NEAR(said[0].share, 0.7, 0.001);
  EXPECT_NEAR(said[1].share, 0.1, 0.001);
  EXPECT_THAT(said[0].text, AllOf(HasSubstr("70.0 ms (70 % of the run)"), HasSubstr("in its region `write output`")));
}

// Workers that ask victims all the time have as little to do as those that sleep.
TEST(diagnosis, counts_searching_workers_as_idle) {
  program p;
  p.loop(0, 30 * ms);
  for (std::uint64_t t = 30 * ms; t < 70 * ms; t += 10'000) {
    for (unsigned w = 1; w < 4; ++w) {
      at<event::steal_attempt>(t, p.lane(w), 0u);
      at<event::steal_fail>(t + 9'900, p.lane(w), 0u);
    }
  }
  p.loop(70 * ms, 100 * ms);
  const std::vector<finding> said = diagnose(p.end(100 * ms));
  ASSERT_THAT(kinds(said), ElementsAre(complaint::serial));
  EXPECT_NEAR(said[0].share, 0.3, 0.001);
}

TEST(diagnosis, survives_every_event_and_an_empty_recording) {
  recorder rec(1, test::options());
  EXPECT_THAT(diagnose(rec.collect()), IsEmpty());
  test::emit_every_event(rec.of(0));
  static_cast<void>(diagnose(rec.collect()));
}

TEST(outside_parts, nest_by_kernel_thread) {
  recorder rec(0, test::options());
  const std::uint32_t a = rec.text("a"), b = rec.text("b");
  at<event::outside_begin>(1, rec.foreign(), a, 7u);
  at<event::outside_begin>(2, rec.foreign(), b, 8u);
  at<event::outside_begin>(3, rec.foreign(), b, 7u);
  at<event::outside_end>(4, rec.foreign(), 7u);
  at<event::outside_end>(5, rec.foreign(), 7u);
  at<event::outside_end>(6, rec.foreign(), 9u);  // of something that was lost
  recorder other(1, test::options());
  static_cast<void>(other.text("first"));
  test::time_now = 9;
  recording into = other.collect();
  add_outside(into, rec.collect());
  const std::vector<outside_part> parts = outside_parts(into);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].name, "a");
  EXPECT_EQ(parts[0].end_ns, 5u);
  EXPECT_EQ(parts[1].end_ns, 9u);  // still open
  EXPECT_EQ(parts[2].depth, 1u);
}

TEST(ring, tells_processor_time_now_and_then) {
  recorder_options o = test::options();
  o.use = [] { return usage{42, 3, 99}; };
  recorder rec(1, o);
  at<event::worker_start>(1'000'000, rec.of(0), 1u);
  at<event::thread_wake>(1'000'001, rec.of(0), 1u);
  at<event::thread_wake>(1'100'000, rec.of(0), 1u);
  at<event::thread_wake>(1'100'001, rec.of(0), 1u);
  std::vector<event> seen;
  const recording what = rec.collect();
  for (const record& r : what.workers.at(0).records) seen.push_back(r.event);
  EXPECT_THAT(seen, ElementsAre(event::worker_start, event::cpu_time, event::thread_wake, event::thread_wake,
                                event::thread_wake, event::cpu_time));
}

}  // namespace
}  // namespace diagnosis_test
}  // namespace heddle::trace
