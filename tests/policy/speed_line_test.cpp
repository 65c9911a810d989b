// Number lines whose members are of unlike speed: alone, and as ADWS holds one.
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "policy/adws/distribution.hpp"
#include "policy/adws/speed_line.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace speed_line_test {
namespace {

using heddle::policy::distribution_range;
using heddle::policy::speed_line;

TEST(speed_line, of_equals_is_even) {
  EXPECT_TRUE(speed_line().is_even());
  EXPECT_TRUE(speed_line(std::vector<double>{}).is_even());
  EXPECT_TRUE(speed_line(std::vector<double>{0.5, 0.5, 0.5}).is_even());
  EXPECT_TRUE(speed_line(std::vector<double>{1, 0, 1}).is_even()) << "somebody is inactive";
  EXPECT_FALSE(speed_line(std::vector<double>{1, 0.5}).is_even());
}

TEST(speed_line, has_the_speed_of_its_members) {
  const speed_line line(std::vector<double>{1, 1, 0.5, 0.5});
  EXPECT_DOUBLE_EQ(line.speed_below(0), 0);
  EXPECT_DOUBLE_EQ(line.speed_below(1.5), 1.5);
  EXPECT_DOUBLE_EQ(line.speed_below(3), 2.5);
  EXPECT_DOUBLE_EQ(line.speed_below(4), 3);
  for (double place = 0; place <= 4; place += 0.125) EXPECT_DOUBLE_EQ(line.place_of(line.speed_below(place)), place);
}

TEST(speed_line, is_cut_in_proportion_to_speed) {
  const speed_line line(std::vector<double>{1, 1, 0.5, 0.5});
  EXPECT_DOUBLE_EQ(line.cut(0, 4, 0.5), 1.5);
  EXPECT_DOUBLE_EQ(line.cut(0, 4, 1.0 / 3), 2) << "two slow ones are a third";
  EXPECT_DOUBLE_EQ(line.cut(1, 3, 0), 3);
  EXPECT_DOUBLE_EQ(line.cut(1, 3, 1), 1);
  // Halves of halves: each piece has an equal part of the speed that there is.
  const auto divide = [&](const auto& self, distribution_range r, int depth) -> void {
    if (depth == 0) {
      EXPECT_NEAR(line.speed_below(r.to) - line.speed_below(r.from), 3.0 / 32, 1e-2);
      return;
    }
    distribution_range lower = r;
    const distribution_range upper = lower.split_at(line.cut(r.from, r.to, 0.5));
    EXPECT_EQ(lower.to, upper.from);
    self(self, lower, depth - 1);
    self(self, upper, depth - 1);
  };
  divide(divide, {0, 4}, 5);
}

// A machine with fast and slow cores: equal children, as many for each worker as its speed says.
TEST(speed_line, gives_slow_workers_fewer_tasks) {
  heddle_test::watchdog guard("speed_line");
  constexpr int children = 480;
  for (const char* policy : {"adws:steal=off,width=speed", "ml-adws:steal=off,width=speed", "adws:steal=off"}) {
    const bool even = std::string(policy).find("width") == std::string::npos;
    heddle::runtime rt({.policy = policy, .machine = HEDDLE_SOURCE_DIR "/tests/machine/data/hybrid.xml"});
    const unsigned workers = rt.workers();
    std::vector<std::atomic<int>> ran(workers);
    rt.run([&] {
      heddle::task_group group(children);
      group.expect(children);
      for (int i = 0; i < children; ++i)
        group.run([&] { ran[static_cast<std::size_t>(rt.worker_rank())].fetch_add(1); }, 1);
      group.wait();
    });
    std::vector<double> speeds;
    for (unsigned w = 0; w < workers; ++w) speeds.push_back(rt.machine().unit_of(w).speed);
    const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    ASSERT_LT(*std::min_element(speeds.begin(), speeds.end()), *std::max_element(speeds.begin(), speeds.end()));
    for (unsigned w = 0; w < workers; ++w) {
      const double part = even ? 1.0 / workers : speeds[w] / all;
      EXPECT_NEAR(ran[w].load(), children * part, 2) << policy << ", worker " << w << " of " << workers;
    }
  }
}

}  // namespace
}  // namespace speed_line_test
