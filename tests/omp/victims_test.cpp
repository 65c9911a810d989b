// Whose tasks a member takes that has none: by the rule of HEDDLE_OMP_VICTIM, which here is set for one member.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <vector>

#include <heddle/thread.hpp>

#include "omp/task_support.hpp"

namespace victims_test {
namespace {

using heddle::omp::member_tasks;
using heddle::policy::victim_rule;
using heddle_test::in_team;
using heddle_test::thread;

constexpr unsigned makers = 3, each = 16, steals = 12;

struct made_task {
  unsigned maker;
  std::atomic<unsigned>* ended;
  void operator()(thread&) const { ended->fetch_add(1); }
};

// The members whose tasks the last one of a team takes, one after the other, while the others have made some and do
// nothing.
std::vector<unsigned> victims(victim_rule rule) {
  std::vector<unsigned> found;
  std::vector<heddle::omp::explicit_task*> taken;  // run by all when the last one was taken
  std::atomic<unsigned> ready{0}, ended{0};
  std::atomic<bool> done{false};
  in_team(makers + 1, [&](thread& self) {
    if (self.number < makers) {
      for (unsigned i = 0; i < each; ++i) heddle_test::spawn(self, made_task{self.number, &ended});
      ready.fetch_add(1);
      while (!done.load()) heddle::this_thread::yield();
      return;
    }
    while (ready.load() < makers) heddle::this_thread::yield();
    auto& tasks = self.in->tasks;
    member_tasks& mine = tasks.of(self);
    mine.victims_are = rule;
    while (found.size() < steals) {
      mine.hungry_looks = 1000;  // it takes what is not public from the first one that has something
      heddle::omp::explicit_task* const it = tasks.find(mine, nullptr);
      if (it == nullptr) continue;
      found.push_back(static_cast<const made_task*>(it->payload)->maker);
      taken.push_back(it);
    }
    for (auto* it : taken) tasks.share(*it);
    done = true;
  });
  EXPECT_EQ(ended.load(), makers * each);
  return found;
}

std::size_t distinct(const std::vector<unsigned>& all) { return std::set<unsigned>(all.begin(), all.end()).size(); }

TEST(Victims, OfHistoryAreTheOneThatHadSomething) { EXPECT_EQ(distinct(victims(victim_rule::history)), 1u); }

TEST(Victims, OfHybridAreDrawnAnewAfterEachSuccess) { EXPECT_EQ(distinct(victims(victim_rule::hybrid)), makers); }

TEST(Victims, OfRandomAreAllOfThem) { EXPECT_EQ(distinct(victims(victim_rule::random)), makers); }

}  // namespace
}  // namespace victims_test
