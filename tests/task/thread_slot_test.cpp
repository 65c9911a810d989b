// A value that is bound in a slot goes where its thread goes; no task and no thread ever finds a value that another one
// bound.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/preemption.hpp"
#include "support/waiting.hpp"

namespace thread_slot_test {
namespace {

using heddle::thread;
using heddle::thread_slot;
using heddle_test::in;
using heddle_test::options_for;
using namespace std::chrono_literals;

// A value knows whose it is.
struct mark {
  const mark* above;  // what was bound where the code that bound it began to wait
};

thread_slot<const mark> mine;
constexpr thread_slot<int> other(heddle::detail::slot_of_openmp);

std::atomic<int> wrong{0};
void expect(bool right) {
  if (!right) wrong.fetch_add(1);
}

class slots : public heddle_test::waiting {
 protected:
  void TearDown() override {
    EXPECT_EQ(wrong.exchange(0), 0);
    waiting::TearDown();
  }
};

// A task sees null, or what is bound by who waits for it; what it binds nobody else sees.
void tree(int depth, const mark* parent) {
  const mark* const found = mine.get();
  expect(found == nullptr || found == parent);
  const mark me{parent};
  const thread_slot<const mark>::scope bound(mine, &me);
  expect(mine.get() == &me);
  if (depth == 0) return heddle::this_thread::yield();
  heddle::parallel_invoke([&] { tree(depth - 1, &me); }, [&] { tree(depth - 1, &me); });
  expect(mine.get() == &me);
  heddle::task_group group;
  std::array<char, 1000> large{};
  group.run([&] { tree(depth - 1, &me); });
  group.run([&me, depth, large] { static_cast<void>(large), tree(depth - 1, &me); });
  group.wait();
  expect(mine.get() == &me);
}

TEST_P(slots, a_task_sees_what_is_bound_by_who_waits_for_it_or_nothing) {
  run([] {
    expect(mine.get() == nullptr);
    tree(5, nullptr);
    expect(mine.get() == nullptr);
  });
  together(4, 2, [&](int i) {
    if (i < 4) tree(4, nullptr);
    else run([] { tree(4, nullptr); });
  });
  progress();
}

TEST_P(slots, loops_leave_nothing_behind) {
  run([] {
    const mark me{nullptr};
    const thread_slot<const mark>::scope bound(mine, &me);
    heddle::parallel_for(0, 2000, [&](int i) {
      expect(mine.get() == nullptr || mine.get() == &me);
      const mark inner{nullptr};
      const thread_slot<const mark>::scope here(mine, &inner);
      if (i % 64 == 0) heddle::this_thread::yield();
      expect(mine.get() == &inner);
    });
    expect(mine.get() == &me);
  });
}

TEST_P(slots, a_value_goes_where_its_thread_goes) {
  heddle::mutex lock;
  heddle::barrier step(6);
  together(4, 2, [&](int) {
    const mark me{nullptr};
    int number = 0;
    expect(mine.get() == nullptr && other.get() == nullptr);
    const thread_slot<const mark>::scope bound(mine, &me);
    for (int i = 0; i < 20; ++i) {
      const thread_slot<int>::scope too(other, &number);
      step.arrive_and_wait();
      expect(mine.get() == &me && other.get() == &number);
      {
        std::lock_guard hold(lock);
        heddle::this_thread::yield();
        expect(mine.get() == &me);
      }
      thread([&] { expect(mine.get() == nullptr && other.get() == nullptr); }).join();
      expect(mine.get() == &me);
      heddle::blocking([&] {
        expect(mine.get() == &me && other.get() == &number);
        const mark inner{nullptr};
        const thread_slot<const mark>::scope here(mine, &inner);
        std::this_thread::yield();
        expect(mine.get() == &inner);
      });
      expect(mine.get() == &me && other.get() == &number);
      heddle::this_thread::sleep_for(1us);
      expect(mine.get() == &me);
    }
    expect(other.get() == nullptr);
  });
}

TEST_P(slots, an_exception_ends_a_scope) {
  run([] {
    const mark me{nullptr};
    const thread_slot<const mark>::scope bound(mine, &me);
    try {
      heddle::parallel_invoke(
          [] {
            const mark inner{nullptr};
            const thread_slot<const mark>::scope here(mine, &inner);
            throw std::runtime_error("first");
          },
          [] {
            const mark inner{nullptr};
            const thread_slot<const mark>::scope here(mine, &inner);
            heddle::this_thread::yield();
          });
    } catch (const std::runtime_error&) {
      expect(mine.get() == &me);
    }
    expect(mine.get() == &me);
  });
}

// Foreign kernel threads have values of their own; calls from there begin with null.
TEST_P(slots, a_kernel_thread_keeps_its_own) {
  std::vector<std::thread> all;
  for (int i = 0; i < 3; ++i) {
    all.emplace_back([this] {
      const mark me{nullptr};
      EXPECT_EQ(mine.get(), nullptr);
      EXPECT_TRUE(mine.keep(&me));
      for (int k = 0; k < 20; ++k) {
        run([&] {
          expect(mine.get() == nullptr);
          expect(!mine.keep(&me));
          heddle::this_thread::yield();
          heddle::blocking([&] {
            expect(mine.get() == nullptr);
            expect(!mine.keep(&me));
          });
          expect(mine.get() == nullptr);
        });
        EXPECT_EQ(mine.get(), &me);
      }
      EXPECT_TRUE(mine.keep(nullptr));
    });
  }
  for (std::thread& t : all) t.join();
  EXPECT_EQ(mine.get(), nullptr);
}

HEDDLE_OVER_RUNTIMES(slots);

class slots_and_ticks : public heddle_test::by_means {};

TEST_P(slots_and_ticks, a_preemptive_thread_reads_its_own_between_any_two_instructions) {
  heddle_test::watchdog dog("slots_and_ticks");
  heddle::runtime rt(options_for(2));
  std::vector<thread> all;
  for (int i = 0; i < 5; ++i) {
    all.emplace_back(kind(rt), [&] {
      expect(mine.get() == nullptr);
      mark me{nullptr};
      const thread_slot<const mark>::scope bound(mine, &me);
      const std::uint64_t end = rt.statistics().ticks + 100;
      while (rt.statistics().ticks < end) {
        expect(mine.get() == &me);
        const mark inner{&me};
        const thread_slot<const mark>::scope here(mine, &inner);
        expect(mine.get() == &inner);
      }
      heddle::blocking([&] { expect(mine.get() == &me); });
      expect(mine.get() == &me);
    });
  }
  for (thread& t : all) t.join();
  EXPECT_EQ(wrong.exchange(0), 0);
}

INSTANTIATE_TEST_SUITE_P(means, slots_and_ticks, testing::ValuesIn(heddle_test::every_means),
                         [](const auto& param_info) { return heddle_test::name_of(param_info.param); });

// Last: what is claimed is never given back.
TEST(thread_slots, are_few) {
  thread_slot<int> second, third;
  EXPECT_THROW(thread_slot<int>(), std::length_error);
  int a = 0, b = 0;
  const thread_slot<int>::scope one(second, &a), two(third, &b);
  EXPECT_EQ(second.get(), &a);
  EXPECT_EQ(third.get(), &b);
}

}  // namespace
}  // namespace thread_slot_test
