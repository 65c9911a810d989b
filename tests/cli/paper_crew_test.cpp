// Kernel threads of `heddle paper run --jobs`.
#include "cli/paper/crew.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <set>
#include <stdexcept>

namespace heddle::cli::paper {
namespace paper_crew_test {
namespace {

constexpr auto nothing = [](std::size_t) {};

TEST(paper_crew, does_each_entry_once_whatever_the_number_of_threads) {
  for (const std::size_t jobs : {1, 2, 7, 100}) {
    std::vector<std::atomic<int>> times(50);
    std::atomic<std::size_t> furthest{0};
    {
      crew c(jobs, times.size(), [&](std::size_t entry, std::size_t job) {
        ++times[entry];
        std::size_t before = furthest.load();
        while (before < job && !furthest.compare_exchange_weak(before, job)) {
        }
      });
      c.wait(times.size(), nothing);
    }
    for (const std::atomic<int>& t : times) EXPECT_EQ(t, 1);
    EXPECT_LT(furthest.load(), std::min(jobs, times.size())) << "each job has its own number";
  }
}

TEST(paper_crew, begins_in_order_with_one_thread) {
  std::vector<std::size_t> order;
  crew c(1, 20, [&](std::size_t entry, std::size_t) { order.push_back(entry); });
  c.wait(20, nothing);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(paper_crew, does_as_many_at_once_as_it_was_told) {
  std::barrier all(3);  // nobody gets through alone
  crew c(3, 9, [&](std::size_t, std::size_t) { all.arrive_and_wait(); });
  c.wait(9, nothing);
}

TEST(paper_crew, waits_for_the_first_ones_alone) {
  std::barrier later(2);
  crew c(2, 4, [&](std::size_t entry, std::size_t) {
    if (entry == 3) later.arrive_and_wait();
  });
  std::set<std::size_t> told;
  c.wait(3, [&](std::size_t done) { told.insert(done); });  // the fourth is not over, or this would never return
  EXPECT_EQ(*told.rbegin(), 3u);
  later.arrive_and_wait();
  c.wait(4, nothing);
}

TEST(paper_crew, hands_over_what_is_thrown_and_begins_nothing_more) {
  std::atomic<int> begun{0};
  crew c(1, 10, [&](std::size_t entry, std::size_t) {
    ++begun;
    if (entry == 2) throw std::runtime_error("third");
  });
  EXPECT_THROW(c.wait(10, nothing), std::runtime_error);
  EXPECT_EQ(begun, 3);
}

TEST(paper_crew, of_nothing) {
  crew c(2, 0, [](std::size_t, std::size_t) { FAIL(); });
  std::size_t told = 1;
  c.wait(0, [&](std::size_t done) { told = done; });
  EXPECT_EQ(told, 0u);
}

}  // namespace
}  // namespace paper_crew_test
}  // namespace heddle::cli::paper
