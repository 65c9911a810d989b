#include "sim/service_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace heddle::sim {
namespace service_queue_test {
namespace {

TEST(service_queue, an_idle_server_serves_at_once) {
  service_queue q(10);
  EXPECT_EQ(q.serve(5, 1, 0), 5);
  EXPECT_EQ(q.serve(1'000'003, 1, 0), 1'000'003);
  EXPECT_EQ(q.serve(42, 1, 0), 42) << "what was asked for later in time is not in the way";
}

TEST(service_queue, requests_at_one_time_wait_for_each_other) {
  service_queue q(10);
  for (int i = 0; i < 1000; ++i) EXPECT_NEAR(q.serve(0, 3, 0), 3.0 * i, 0.01);
}

// Against first come, first served: in order, the starts differ by less than a slot.
TEST(service_queue, in_order_it_is_a_queue) {
  service_queue q(16);
  std::mt19937_64 random(5);
  double at = 0, free_at = 0;
  for (int i = 0; i < 100'000; ++i) {
    // The load goes from a third to four thirds and back.
    at += (i / 10'000 % 2 == 0 ? 3.0 : 0.75) * static_cast<double>(random() % 1000) / 500;
    const double start = std::max(at, free_at);
    free_at = start + 1;
    const double got = q.serve(at, 1, at);
    ASSERT_NEAR(got, start, 17) << i;
    ASSERT_GE(got, at);
  }
}

TEST(service_queue, no_stretch_of_time_serves_more_than_it_can) {
  service_queue q(8);
  std::mt19937_64 random(9);
  std::vector<double> starts;
  // any order
  for (int i = 0; i < 50'000; ++i) starts.push_back(q.serve(static_cast<double>(random() % 20'000), 1, 0));
  std::sort(starts.begin(), starts.end());
  for (const std::size_t span : {200, 1000, 10'000}) {
    for (std::size_t i = 0; i + span < starts.size(); ++i)
      ASSERT_GE(starts[i + span] - starts[i], static_cast<double>(span) - 17);
  }
  EXPECT_NEAR(starts.back(), 50'000, 500) << "and none of it is wasted";
}

TEST(service_queue, forgets_the_past) {
  service_queue q(10);
  for (double at = 0; at < 1e6; at += 5) q.serve(at, 5, std::max(0.0, at - 1000));
  EXPECT_LT(q.bytes(), 10'000u);
  EXPECT_GE(q.serve(0, 5, 999'000), 998'990);
}

}  // namespace
}  // namespace service_queue_test
}  // namespace heddle::sim
