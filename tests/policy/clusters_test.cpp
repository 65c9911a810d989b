// The properties that crs, chs, cls, random-pushing and tatl alone have, each by itself over a host of eight workers in
// two clusters.
#include <heddle/runtime.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "policy/clusters/clusters.hpp"
#include "policy/clusters/tatl.hpp"
#include "policy/registry.hpp"
#include "support/cluster_host.hpp"

namespace clusters_test {
namespace {

using namespace heddle::policy;
using heddle_test::cluster_host;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::Pair;

constexpr effort glance = effort::glance, insist = effort::insist;

class cluster_policies : public testing::Test {
 protected:
  policy& with(const std::string& text) {
    made_ = make(text);
    made_->start(host_);
    return *made_;
  }
  cluster_host host_;

 private:
  std::unique_ptr<policy> made_;
};

// --- clusters ------------------------------------------------------------------------------------------------------

TEST_F(cluster_policies, clusters_are_the_groups_of_a_level) {
  clusters outermost, pairs, alone;
  outermost.start(host_, 0);
  pairs.start(host_, 2);
  alone.start(heddle_test::idle_host(5), 0);
  ASSERT_EQ(outermost.count(), 2u);
  EXPECT_EQ(outermost.of(5).first, 4u);
  EXPECT_TRUE(outermost.leads(4));
  EXPECT_FALSE(outermost.leads(6));
  EXPECT_FALSE(outermost.are_neighbours(3, 4));
  ASSERT_EQ(pairs.count(), 4u);
  EXPECT_TRUE(pairs.leads(6));
  EXPECT_EQ(alone.count(), 1u) << "nothing is known of that machine";
}

TEST_F(cluster_policies, each_remote_worker_is_drawn_alike) {
  clusters all;
  all.start(host_, 2);
  std::vector<unsigned> drawn(8, 0);
  for (int i = 0; i < 60; ++i) ++drawn[all.draw_remote(host_, 3)];
  EXPECT_THAT(drawn, ElementsAre(10, 10, 0, 0, 10, 10, 10, 10));
}

// --- crs -----------------------------------------------------------------------------------------------------------

TEST_F(cluster_policies, crs_sends_one_request_far_away_and_steals_at_home) {
  policy& crs = with("crs:patience=100");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(crs.acquire(1, glance), 0u);
  EXPECT_THAT(host_.asked, ElementsAre(Pair(1, Ge(4)))) << "one is under way, and no other is sent";
  EXPECT_THAT(host_.robbed, Each(Lt(4u)));
  EXPECT_EQ((std::set<unsigned>(host_.robbed.begin(), host_.robbed.end())), (std::set<unsigned>{0, 2, 3}));
  host_.entries[2] = 1;
  entry found = 0;
  for (int i = 0; i < 3 && found == 0; ++i) found = crs.acquire(1, glance);
  EXPECT_EQ(found, 102u);
  EXPECT_EQ(host_.standing.size(), 1u) << "what is found at home does not cancel it";
  host_.answer(1, host_.asked[0].second);
  EXPECT_EQ(crs.acquire(1, glance), 0u);
  EXPECT_EQ(host_.asked.size(), 2u) << "the next one goes when the first has been answered";
}

TEST_F(cluster_policies, crs_gives_up_a_victim_after_its_patience_and_then_takes_by_force) {
  policy& crs = with("crs:patience=10");
  host_.entries[6] = 1;
  host_.is_public = false;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(crs.acquire(1, i == 9 ? insist : glance), 0u);
  EXPECT_EQ(host_.asked.size(), 1u);
  EXPECT_THAT(host_.robbed, Each(Lt(4u))) << "who was not refused insists at home alone";
  EXPECT_EQ(crs.acquire(1, glance), 0u);
  EXPECT_EQ(host_.asked.size(), 2u);
  EXPECT_EQ(host_.standing.size(), 1u) << "the first one was taken back";
  EXPECT_EQ(crs.acquire(1, insist), 106u);
  EXPECT_TRUE(crs.wants().work_conserving);
}

TEST_F(cluster_policies, crs_in_one_cluster_is_random_stealing) {
  policy& crs = with("crs:level=3");  // of leaves: each worker is a cluster, so none is
  EXPECT_FALSE(crs.wants().asks);
  for (int i = 0; i < 14; ++i) EXPECT_EQ(crs.acquire(1, glance), 0u);
  EXPECT_EQ(std::set<unsigned>(host_.robbed.begin(), host_.robbed.end()).size(), 7u);
  EXPECT_THAT(host_.asked, IsEmpty());
}

// --- chs -----------------------------------------------------------------------------------------------------------

TEST_F(cluster_policies, chs_takes_from_its_subtree_before_it_goes_up) {
  policy& chs = with("chs");
  host_.entries = {1, 0, 1, 0, 1, 1, 0, 0};
  EXPECT_EQ(chs.acquire(3, glance), 102u) << "the other one of the pair";
  EXPECT_EQ(chs.acquire(3, glance), 100u) << "then upwards, the root";
  EXPECT_EQ(chs.acquire(3, glance), 104u) << "the root asks the other root, whether it computes or not";
  EXPECT_EQ(chs.acquire(3, glance), 105u) << "which gives what is below it";
  EXPECT_FALSE(chs.wants().work_conserving);
}

TEST_F(cluster_policies, chs_leaves_a_cluster_when_all_of_it_has_nothing) {
  policy& chs = with("chs");
  host_.entries = {0, 0, 0, 1, 1, 0, 0, 2};
  EXPECT_EQ(chs.acquire(0, glance), 103u);
  EXPECT_EQ(chs.acquire(0, glance), 104u) << "the other root first";
  EXPECT_EQ(chs.acquire(0, glance), 107u) << "and what is below it";
  host_.entries[3] = 1;
  host_.is_public = false;
  EXPECT_EQ(chs.acquire(0, glance), 0u) << "something is there, though not public yet";
  EXPECT_EQ(chs.acquire(0, insist), 103u);
  EXPECT_EQ(chs.acquire(0, insist), 107u);
}

TEST_F(cluster_policies, chs_sends_a_message_also_where_there_is_nothing) {
  policy& chs = with("chs");
  EXPECT_EQ(chs.acquire(1, glance), 0u);
  EXPECT_THAT(host_.robbed, ElementsAre(4u)) << "the other root";
}

// --- cls -----------------------------------------------------------------------------------------------------------

TEST_F(cluster_policies, cls_coordinators_fetch_ahead_while_they_work) {
  policy& cls = with("cls:load=3,interval=4,patience=1000");
  alignas(8) task owner{};
  const fork_info fork{not_given, not_given, 0, owner};
  host_.entries = {1, 0, 2, 0, 0, 0, 0, 0};
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(cls.fork_begin(0, fork));
  EXPECT_THAT(host_.asked, IsEmpty()) << "three tasks are enough";
  host_.entries[2] = 1;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(cls.fork_begin(0, fork));
  EXPECT_THAT(host_.asked, ElementsAre(Pair(0, Ge(4)))) << "within an interval";
  for (int i = 0; i < 20; ++i) EXPECT_EQ(cls.pick(0, true), 0u);
  EXPECT_EQ(host_.asked.size(), 1u) << "one is under way";
}

TEST_F(cluster_policies, cls_coordinators_hear_at_once_of_an_idle_worker) {
  policy& cls = with("cls:load=1,interval=1000");
  alignas(8) task owner{};
  const fork_info fork{not_given, not_given, 0, owner};
  host_.entries[0] = 1;
  EXPECT_FALSE(cls.fork_begin(0, fork));
  host_.entries[0] = 0;
  for (int i = 0; i < 500; ++i) EXPECT_FALSE(cls.fork_begin(0, fork));
  EXPECT_THAT(host_.asked, IsEmpty()) << "the interval is not over";
  EXPECT_EQ(cls.acquire(2, glance), 0u);
  EXPECT_THAT(host_.asked, ElementsAre(Pair(0, Ge(4)))) << "the coordinator asks, which need not look up for that";
  EXPECT_THAT(host_.unwatched, ElementsAre(2)) << "forks of the others are not looked at";
  EXPECT_EQ(cls.acquire(3, glance), 0u);
  EXPECT_EQ(host_.asked.size(), 1u) << "one is under way";
}

TEST_F(cluster_policies, cls_workers_steal_in_their_cluster_and_coordinators_by_force_elsewhere) {
  policy& cls = with("cls:patience=2");
  host_.entries[7] = 1;
  for (int i = 0; i < 50; ++i) EXPECT_EQ(cls.acquire(1, insist), 0u);
  EXPECT_THAT(host_.robbed, Each(Lt(4u)));
  EXPECT_FALSE(cls.may_find(1));
  EXPECT_TRUE(cls.may_find(0));
  entry found = 0;
  for (int i = 0; i < 4 && found == 0; ++i) found = cls.acquire(0, insist);
  EXPECT_EQ(found, 107u);
}

// --- queues of tasks -----------------------------------------------------------------------------------------------

// Worker `self` makes the tasks of `list`, one after the other.
template <std::size_t N>
void make_all(policy& by, unsigned self, task (&list)[N]) {
  for (task& t : list) by.enqueue(self, t);
}

entry of(task& t) { return reinterpret_cast<entry>(&t); }

TEST_F(cluster_policies, random_pushing_pushes_the_oldest_task_of_a_long_queue) {
  policy& pushing = with("random-pushing:threshold=2,transit=8");
  task made[4]{};
  host_.drawn = 4;  // worker 5, then 6
  make_all(pushing, 1, made);
  EXPECT_THAT(host_.woken, ElementsAre(5, 6));
  EXPECT_EQ(pushing.acquire(3, insist), 0u) << "nobody steals";
  EXPECT_FALSE(pushing.may_find(3));
  EXPECT_TRUE(pushing.may_find(5));
  EXPECT_EQ(pushing.acquire(5, glance), of(made[0]));
  EXPECT_EQ(pushing.pick(6, true), of(made[1]));
  EXPECT_EQ(pushing.pick(1, false), 0u);
  EXPECT_EQ(pushing.pick(1, true), of(made[3])) << "the newest of one's own";
  EXPECT_EQ(pushing.pick(1, true), of(made[2]));
  EXPECT_EQ(pushing.pick(1, true), 0u);
}

TEST_F(cluster_policies, random_pushing_keeps_to_its_limit_in_transit) {
  policy& pushing = with("random-pushing:threshold=0,transit=2");
  task made[4]{}, more[1]{};
  make_all(pushing, 1, made);
  ASSERT_EQ(host_.woken.size(), 2u) << "two are in transit";
  ASSERT_NE(pushing.acquire(host_.woken[0], glance), 0u);
  EXPECT_EQ(host_.woken.size(), 2u) << "pushes come with new tasks";
  make_all(pushing, 1, more);
  EXPECT_EQ(host_.woken.size(), 3u) << "one was taken up";
  task at_via[1]{}, last[1]{};
  const unsigned via = host_.woken[1];
  make_all(pushing, via, at_via);
  EXPECT_EQ(host_.woken.size(), 5u) << "it pushes both on, and what came to it has arrived";
  make_all(pushing, 1, last);
  EXPECT_EQ(host_.woken.size(), 6u);
}

TEST_F(cluster_policies, tatl_takes_from_queues_that_advertise_themselves) {
  policy& tatl = with("tatl:most=3,least=1");
  task near[2]{}, far[3]{};
  make_all(tatl, 1, near);
  EXPECT_EQ(tatl.acquire(2, insist), 0u) << "two are too few for a victim";
  EXPECT_FALSE(tatl.may_find(2));
  make_all(tatl, 6, far);
  EXPECT_TRUE(tatl.may_find(2));
  EXPECT_EQ(tatl.acquire(2, glance), of(far[0])) << "the oldest, elsewhere";
  EXPECT_EQ(tatl.acquire(2, glance), of(far[1])) << "between the thresholds it stays a victim";
  EXPECT_EQ(tatl.acquire(2, glance), 0u) << "one is left, which is its owner's";
  EXPECT_EQ(tatl.pick(6, true), of(far[2]));
  task third[1]{}, again[3]{};
  make_all(tatl, 6, again);
  make_all(tatl, 1, third);
  EXPECT_EQ(tatl.acquire(2, glance), of(near[0])) << "the own domain first";
  EXPECT_EQ(tatl.pick(1, true), of(third[0])) << "the owner takes its newest";
}

TEST(clusters, tatl_computes_its_thresholds_from_rates) {
  const tatl::equations rule{.capacity = 8, .push = 20, .pop = 30};
  EXPECT_EQ(rule.thresholds(0, 0).most, 8u) << "S is the capacity where tasks are long";
  EXPECT_EQ(rule.thresholds(0, 0).least, 0u);
  // Eq. 4.1 and 4.2: S = 8 - 0.2 * 20 + 0.1 * 30, s = 0.1 * 30
  EXPECT_EQ(rule.thresholds(0.2, 0.1).most, 7u);
  EXPECT_EQ(rule.thresholds(0.2, 0.1).least, 3u);
  EXPECT_EQ(rule.thresholds(10, 0).most, 1u) << "never below one task";
  EXPECT_EQ(rule.thresholds(10, 1).least, 0u) << "nor the lower one at the upper one or above";
}

TEST_F(cluster_policies, tatl_has_a_capacity_unless_its_thresholds_are_given) {
  EXPECT_TRUE(with("tatl").wants().beats);
  policy& tatl = with("tatl:capacity=2");
  task two[2]{};
  make_all(tatl, 6, two);
  EXPECT_EQ(tatl.acquire(2, glance), of(two[0])) << "as many as it can hold";
  tatl.beat();
  EXPECT_EQ(tatl.acquire(2, glance), of(two[1])) << "a victim until it is empty";
  EXPECT_FALSE(with("tatl:most=3,least=1").wants().beats);
}

// --- parameters ----------------------------------------------------------------------------------------------------

// The host's machine has the levels 0 to 3.
TEST_F(cluster_policies, levels_that_the_machine_does_not_have_are_refused) {
  for (const char* policy : {"crs", "chs", "cls", "tatl"}) {
    const std::string text = std::string(policy) + ":level=";
    EXPECT_NO_THROW(with(text + "3")) << policy;
    try {
      with(text + "4");
      ADD_FAILURE() << text << "4 was accepted";
    } catch (const std::invalid_argument& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("level=4 is not a number from 0 to 3"));
    }
  }
}

TEST(clusters, bad_parameters_are_named) {
  for (const char* text :
       {"crs:level=-1", "crs:patience=x", "chs:patience=1", "cls:interval=0", "random-pushing:transit=0",
        "tatl:most=2,least=2", "tatl:most=0", "tatl:capacity=0", "tatl:push=-1"}) {
    EXPECT_THROW(heddle::runtime({.workers = 1, .policy = text}), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace clusters_test
