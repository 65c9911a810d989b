// The event count and the cancellable barrier under schedules that differ at every atomic operation.
#include <gtest/gtest.h>

#include <atomic>

#include <heddle/cancellable_barrier.hpp>
#include <heddle/event_count.hpp>

#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace objects_test {
namespace {

TEST(objects, an_event_count_loses_no_notification) {
  expect_right([] {
    runtime home(workers(3));
    on(home, [] {
      event_count changed;
      std::atomic<int> value{0};
      const auto wait_for = [&](int least) { changed.await([&] { return value.load() >= least; }); };
      const auto add = [&] {
        value.fetch_add(1);
        changed.notify_one();
      };
      const auto wait_and_pass_on = [&] {
        wait_for(1);
        changed.notify_one();
      };
      thread first(wait_and_pass_on), second(wait_and_pass_on), third(add);
      first.join();
      second.join();
      third.join();
      require(value.load() == 1);
    });
  });
}

TEST(objects, an_event_count_wakes_all) {
  expect_right([] {
    runtime home(workers(3));
    on(home, [] {
      event_count changed;
      std::atomic<bool> open{false};
      thread first([&] { changed.await([&] { return open.load(); }); });
      thread second([&] { changed.await([&] { return open.load(); }); });
      open = true;
      changed.notify_all();
      first.join();
      second.join();
    });
  });
}

// Three go through phases until the third calls it off: all have gone through as many.
TEST(objects, a_cancelled_barrier_gives_all_the_same_answer) {
  expect_right([] {
    runtime home(workers(3));
    on(home, [] {
      cancellable_barrier meeting(2);
      int phases[2] = {};
      const auto go = [&](int i) {
        while (phases[i] < 3 && meeting.arrive_and_wait()) ++phases[i];
      };
      thread first([&] { go(0); });
      thread second([&] { go(1); });
      thread third([&] { meeting.cancel(); });
      first.join();
      second.join();
      third.join();
      require(phases[0] == phases[1]);
      require(meeting.is_cancelled());
    });
  });
}

}  // namespace
}  // namespace objects_test
}  // namespace heddle::sim
