// Rounding, flush to zero: modes are a thread's own, over yields,
// waits and ticks, also those that <cfenv> does not know.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <cstdint>
#include <vector>

#include "support/preemption.hpp"

namespace floating_point_test {
namespace {

using namespace std::chrono_literals;
using heddle::preemption;
using heddle_test::in;
using heddle_test::options_for;
using heddle_test::repeat;

// Control bits of the vector unit alone, without the x87's.
#if defined(__x86_64__)
constexpr std::uint64_t usual = 0x1f80, flushes = 0x9fc0, down = 0x3f80, up = 0x5f80;
std::uint64_t modes() {
  std::uint32_t now;
  asm volatile("stmxcsr %0" : "=m"(now));
  return now & ~std::uint32_t{0x3f};
}
void set_modes(std::uint64_t bits) {
  const auto low = static_cast<std::uint32_t>(bits);
  asm volatile("ldmxcsr %0" : : "m"(low));
}
#else
constexpr std::uint64_t usual = 0, flushes = std::uint64_t{1} << 24, down = std::uint64_t{2} << 22,
                        up = std::uint64_t{1} << 22;
std::uint64_t modes() {
  std::uint64_t now;
  asm volatile("mrs %0, fpcr" : "=r"(now));
  return now;
}
void set_modes(std::uint64_t bits) { asm volatile("msr fpcr, %0" : : "r"(bits)); }
#endif

class kinds : public testing::TestWithParam<preemption> {
 protected:
  void SetUp() override {
    if (heddle_test::thread_sanitized && GetParam() != preemption::none)
      GTEST_SKIP() << "no preemption under ThreadSanitizer";
  }
};

TEST_P(kinds, modes_are_a_threads_own) {
  heddle::runtime rt(options_for(2));
  std::atomic<int> lost{0}, began_with_others{0};
  std::vector<heddle::thread> all;
  for (const std::uint64_t mine : {usual, flushes, down, up, usual, flushes, down, up}) {
    all.emplace_back(in(rt, GetParam()), [&, mine] {
      if (modes() != usual) began_with_others.fetch_add(1);
      set_modes(mine);
      repeat(100ms, [&] {
        for (int i = 0; i < 100; ++i) {
          for (volatile int spin = 0; spin < 1000;) spin = spin + 1;
          if (modes() != mine) lost.fetch_add(1);
        }
        heddle::this_thread::yield();
        if (modes() != mine) lost.fetch_add(1);
        heddle::this_thread::sleep_for(1us);
        if (modes() != mine) lost.fetch_add(1);
      });
      set_modes(usual);
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(lost.load(), 0);
  EXPECT_EQ(began_with_others.load(), 0);
}

// A program that was built with -ffast-math flushes to zero from its start on.
TEST_P(kinds, threads_begin_with_the_modes_of_who_made_the_runtime) {
  set_modes(flushes);
  std::fesetround(FE_UPWARD);
  const std::uint64_t made_with = modes();
  heddle::runtime rt(options_for(2));
  set_modes(usual);
  std::fesetround(FE_TONEAREST);
  std::atomic<int> without{0};
  std::vector<heddle::thread> all;
  for (int i = 0; i < 6; ++i) {
    all.emplace_back(in(rt, GetParam()), [&] {
      repeat(50ms, [&] {
        for (volatile int spin = 0; spin < 1000;) spin = spin + 1;
        if (modes() != made_with || std::fegetround() != FE_UPWARD) without.fetch_add(1);
      });
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(without.load(), 0);
}

// The continuation of a spawner goes on with its modes, whoever takes it.
TEST(floating_point, a_spawner_keeps_its_modes_and_its_child_begins_with_them) {
  heddle::runtime rt(options_for(3));
  rt.run([] {
    set_modes(flushes);
    std::atomic<int> wrong{0};
    for (int i = 0; i < 200; ++i) {
      std::atomic<bool> taken{false};
      heddle::task_group g;
      g.run([&] {
        if (modes() != flushes && modes() != usual) wrong.fetch_add(1);
        // until the spawner goes on elsewhere, or here
        while (i % 2 == 0 && !taken.load()) heddle::this_thread::yield();
      });
      taken = true;
      if (modes() != flushes) wrong.fetch_add(1);
      g.wait();
      if (modes() != flushes) wrong.fetch_add(1);
    }
    set_modes(usual);
    EXPECT_EQ(wrong.load(), 0);
  });
}

INSTANTIATE_TEST_SUITE_P(floating_point, kinds,
                         testing::Values(preemption::none, preemption::signal_yield, preemption::klt_switching),
                         [](const auto& info) { return heddle_test::name_of(info.param); });

}  // namespace
}  // namespace floating_point_test
