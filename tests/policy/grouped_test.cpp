// The policy `grouped`: the files that it reads and writes, which worker gets which child, in which order, and what
// idle workers take; over a host of eight workers on two nodes, and in a runtime.
#include <heddle/cost.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "policy/grouped/grouped.hpp"
#include "policy/grouped/grouping.hpp"
#include "policy/grouped/sharing_profile.hpp"
#include "policy/registry.hpp"
#include "support/cluster_host.hpp"

namespace grouped_test {
namespace {

using namespace heddle::policy;
namespace fs = std::filesystem;

// The message of the std::invalid_argument that f throws; "" if it throws none.
template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

// --- files ---

const std::string head = "heddle-grouping 1\nmachine m\nworkers 2\ntree memory 2, l2 1x2\n";

TEST(grouping_file, is_read_as_it_was_written) {
  const std::string text = head + "site 0 tasks 5\nworker 0\ngroup 4 0\ngroup 2\nworker 1\ngroup 1 3\n";
  const grouping g = grouping::of(text, "g");
  EXPECT_EQ(g.machine, "m");
  EXPECT_EQ(g.tree, "memory 2, l2 1x2");
  ASSERT_EQ(g.sites.size(), 1u);
  EXPECT_EQ(g.sites[0].workers[0], (std::vector<grouping::group>{{4, 0}, {2}}));
  EXPECT_EQ(g.sites[0].workers[1], (std::vector<grouping::group>{{1, 3}}));
  EXPECT_EQ(g.text(), text);
}

TEST(grouping_file, is_refused_with_its_line_where_it_is_wrong) {
  const auto says = [](const std::string& text) { return refusal([&] { grouping::of(text, "g.txt"); }); };
  EXPECT_SAYS(says("hello\n"), "g.txt is no grouping");
  EXPECT_SAYS(says("heddle-grouping 2\n"), "another version");
  EXPECT_SAYS(says("heddle-grouping 1\nworkers 2\n"), "g.txt:2: expected 'machine'");
  EXPECT_SAYS(says(head + "site 0 tasks 2\nworker 0\ngroup 0 2\n"),
              "g.txt:7: task 2 is unknown: site 0 has tasks 0 to 1");
  EXPECT_SAYS(says(head + "site 0 tasks 2\nworker 2\n"), "g.txt:6: rank of a worker: '2'");
  EXPECT_SAYS(says(head + "site 0 tasks 2\nworker 0\ngroup 0\nworker 1\ngroup 0\n"), "task 0 is in two groups");
  EXPECT_SAYS(says(head + "site 0 tasks 2\nworker 0\ngroup 0\n"), "task 1 of site 0 is in no group");
  EXPECT_SAYS(says(head + "site 1 tasks 2\n"), "site 1 is not the next one");
  EXPECT_SAYS(says(head + "group 1\n"), "a group before the first 'worker'");
  EXPECT_SAYS(refusal([] { grouping::read("/no/such/file"); }), "/no/such/file: No such file");
}

TEST(profile_file, is_read_as_it_was_written_and_by_hand) {
  sharing_profile p = sharing_profile::of(
      "heddle-profile 1\nline 64  # bytes\n\nsite 0 tasks 3\ntask 0 weight 10 lines 7 1-3 4\ntask 2 weight 5 bytes "
      "0-63 100-200\n",
      "p");
  EXPECT_EQ(p.sites[0][0].lines.ranges(), (std::vector<line_set::range>{{1, 4}, {7, 7}}));
  EXPECT_EQ(p.sites[0][0].lines.size(), 5u);
  EXPECT_EQ(p.sites[0][2].lines.ranges(), (std::vector<line_set::range>{{0, 3}}));
  EXPECT_EQ(p.sites[0][1].weight, 0);
  sharing_profile again = sharing_profile::of(p.text(), "again");
  EXPECT_EQ(again.text(), p.text());
}

TEST(profile_file, is_refused_with_its_line_where_it_is_wrong) {
  const auto says = [](const std::string& text) {
    return refusal([&] { sharing_profile::of("heddle-profile 1\n" + text, "p.txt"); });
  };
  EXPECT_SAYS(says("site 0 tasks 2\ntask 2 weight 1\n"), "p.txt:3: task 2 is unknown: site 0 has tasks 0 to 1");
  EXPECT_SAYS(says("site 0 tasks 2\ntask 1 weight 1\ntask 1 weight 1\n"), "p.txt:4: task 1 is there twice");
  EXPECT_SAYS(says("site 0 tasks 2\ntask 1 weight x\n"), "weight: 'x'");
  EXPECT_SAYS(says("site 0 tasks 2\ntask 1 weight 1 pages 3\n"), "expected 'lines' or 'bytes', not 'pages'");
  EXPECT_SAYS(says("site 0 tasks 2\ntask 1 weight 1 lines 3-2\n"), "last of a range");
  EXPECT_SAYS(says("task 1 weight 1\n"), "before the first 'site'");
  EXPECT_SAYS(says(""), "has no tasks");
}

TEST(line_sets, are_ranges_in_order_whatever_came_when) {
  line_set s;
  for (std::uint64_t i = 1000; i-- > 0;) s.add(3 * i, 3 * i + (i % 2));
  for (std::uint64_t i = 0; i < 1000; i += 2) s.add(3 * i + 1, 3 * i + 2);
  // every line but the last one of each odd group of three
  EXPECT_EQ(s.size(), 2500u);
  EXPECT_EQ(s.ranges().size(), 500u);
  EXPECT_EQ(s.ranges().front(), (line_set::range{0, 4}));
}

// --- placement, over a host: workers 0 to 3 and 4 to 7 are near each other ---

class grouped_alone : public testing::Test {
 protected:
  void SetUp() override { file_ = fs::temp_directory_path() / ("heddle-grouped-test-" + std::to_string(getpid())); }
  void TearDown() override { fs::remove(file_); }
  void write(const std::string& groups) {
    std::ofstream(file_) << "heddle-grouping 1\nmachine m\nworkers 8\ntree " << tree_text(host_.machine()) << "\n"
                         << groups;
  }
  [[nodiscard]] std::string with_file(const std::string& more = "") const {
    return "grouped:file=" + file_.string() + more;
  }
  void begin(const std::string& text) {
    made_ = make(text);
    made_->start(host_);
  }
  placement spawn(task& t, unsigned index, unsigned told, task* parent = nullptr) {
    const placement where = made_->spawn(
        0, {t, parent != nullptr ? parent : &root_, &label_, not_given, not_given, 0, index, told, nullptr});
    if (where == placement::send) made_->enqueue(0, t);
    return where;
  }
  // Numbers of the tasks that a worker takes of its own, one after the other.
  std::vector<unsigned> all_of(unsigned worker, const std::vector<task>& tasks) {
    std::vector<unsigned> found;
    while (const entry e = made_->pick(worker, true)) found.push_back(number_of(e, tasks));
    return found;
  }
  static unsigned number_of(entry e, const std::vector<task>& tasks) {
    return e == 0 ? nobody : static_cast<unsigned>(reinterpret_cast<const task*>(e) - tasks.data());
  }

  heddle_test::cluster_host host_;  // entries are the tasks themselves
  std::unique_ptr<policy> made_;
  fs::path file_;

 private:
  task root_{};
  const int label_{0};
};

TEST_F(grouped_alone, runs_children_where_and_as_the_file_says) {
  write("site 0 tasks 6\nworker 2\ngroup 5 0\ngroup 3\nworker 7\ngroup 4 1 2\n");
  begin(with_file());
  std::vector<task> tasks(6);
  for (unsigned i = 0; i < 6; ++i) EXPECT_EQ(spawn(tasks[i], i, 6), placement::send);
  EXPECT_EQ(all_of(2, tasks), (std::vector<unsigned>{5, 0, 3}));
  EXPECT_EQ(all_of(7, tasks), (std::vector<unsigned>{4, 1, 2}));
  EXPECT_EQ(all_of(0, tasks), (std::vector<unsigned>{}));
}

TEST_F(grouped_alone, takes_the_first_that_has_come) {
  write("site 0 tasks 4\nworker 1\ngroup 3 2 1 0\n");
  begin(with_file());
  std::vector<task> tasks(4);
  spawn(tasks[0], 0, 4), spawn(tasks[1], 1, 4);
  EXPECT_EQ(number_of(made_->pick(1, true), tasks), 1u);
  spawn(tasks[3], 3, 4);
  EXPECT_EQ(all_of(1, tasks), (std::vector<unsigned>{3, 0}));
}

TEST_F(grouped_alone, children_that_the_file_does_not_know_are_dealt_out) {
  write("site 0 tasks 1\nworker 1\ngroup 0\n");
  begin(with_file());
  std::vector<task> tasks(16);
  for (unsigned i = 0; i < 16; ++i) spawn(tasks[i], i, 16);
  EXPECT_EQ(all_of(0, tasks), (std::vector<unsigned>{1}));
  EXPECT_EQ(all_of(1, tasks), (std::vector<unsigned>{0, 2, 3}));
  EXPECT_EQ(all_of(7, tasks), (std::vector<unsigned>{14, 15}));
}

TEST_F(grouped_alone, a_child_whose_like_has_not_begun_yet_waits_behind) {
  write("site 0 tasks 2\nworker 1\ngroup 1 0\n");
  begin(with_file());
  std::vector<task> tasks(4);
  for (unsigned i = 0; i < 4; ++i) spawn(tasks[i], i % 2, 2);
  EXPECT_EQ(all_of(1, tasks), (std::vector<unsigned>{1, 0, 2, 3}));
}

TEST_F(grouped_alone, idle_workers_take_the_last_group_of_the_nearest) {
  write("site 0 tasks 8\nworker 1\ngroup 0 1\ngroup 2 3\nworker 6\ngroup 4 5\ngroup 6 7\n");
  begin(with_file(",patience=0"));
  std::vector<task> tasks(8);
  for (unsigned i = 0; i < 8; ++i) spawn(tasks[i], i, 8);
  EXPECT_TRUE(made_->may_find(3));
  EXPECT_EQ(made_->acquire(3, effort::glance), 0u) << "only those who insist go to others";
  EXPECT_EQ(number_of(made_->acquire(3, effort::insist), tasks), 2u);
  EXPECT_EQ(all_of(3, tasks), (std::vector<unsigned>{3})) << "the group whole, in its order";
  EXPECT_EQ(number_of(made_->acquire(3, effort::insist), tasks), 1u) << "of the only group the later half";
  EXPECT_EQ(number_of(made_->acquire(3, effort::insist), tasks), 0u);
  EXPECT_EQ(number_of(made_->acquire(3, effort::insist), tasks), 6u) << "nothing is near any more";
  EXPECT_EQ(all_of(3, tasks), (std::vector<unsigned>{7}));
  EXPECT_EQ(all_of(6, tasks), (std::vector<unsigned>{4, 5}));
  EXPECT_FALSE(made_->may_find(3));
}

TEST_F(grouped_alone, patience_grows_outwards) {
  write("site 0 tasks 2\nworker 1\ngroup 0\nworker 6\ngroup 1\n");
  begin(with_file(",patience=2"));
  std::vector<task> tasks(2);
  spawn(tasks[0], 0, 2), spawn(tasks[1], 1, 2);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(made_->acquire(0, effort::insist), 0u);
  EXPECT_EQ(number_of(made_->acquire(0, effort::insist), tasks), 0u);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(made_->acquire(0, effort::insist), 0u) << "two rings farther";
  EXPECT_EQ(number_of(made_->acquire(0, effort::insist), tasks), 1u);
}

TEST_F(grouped_alone, without_stealing_what_is_placed_stays) {
  write("site 0 tasks 1\nworker 1\ngroup 0\n");
  begin(with_file(",steal=off"));
  std::vector<task> tasks(1);
  spawn(tasks[0], 0, 1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(made_->acquire(0, effort::insist), 0u);
  EXPECT_FALSE(made_->may_find(0));
  EXPECT_TRUE(made_->may_find(1));
  EXPECT_EQ(all_of(1, tasks), (std::vector<unsigned>{0}));
}

TEST_F(grouped_alone, grandchildren_are_no_tasks_of_the_file) {
  begin("grouped");
  std::vector<task> tasks(2);
  EXPECT_EQ(spawn(tasks[0], 0, 1), placement::send);
  EXPECT_EQ(spawn(tasks[1], 0, 1, &tasks[0]), placement::child_first);
}

TEST_F(grouped_alone, bad_parameters_are_refused) {
  EXPECT_SAYS(refusal([] { make("grouped:file=/no/such/file"); }), "policy grouped: /no/such/file: No such file");
  EXPECT_SAYS(refusal([] { make("grouped:file=a,profile=b"); }), "file and profile");
  EXPECT_SAYS(refusal([] { make("grouped:steal=all"); }), "not one of near|off");
  std::ofstream(file_) << head << "site 0 tasks 1\nworker 0\ngroup 0\n";
  EXPECT_SAYS(refusal([&] { begin(with_file()); }), "is for 2 workers of m (memory 2, l2 1x2), these are 8");
}

// --- in a runtime ---

TEST_F(grouped_alone, a_runtime_refuses_the_grouping_of_another_machine) {
  std::ofstream(file_)
      << "heddle-grouping 1\nmachine m\nworkers 2\ntree no such tree\nsite 0 tasks 1\nworker 0\ngroup 0\n";
  heddle::runtime_options o;
  o.workers = 2;
  o.policy = with_file();
  EXPECT_SAYS(refusal([&] { heddle::runtime r(o); }), "group for this machine");
}

TEST_F(grouped_alone, a_runtime_records_what_each_child_touches) {
  alignas(64) static char data[64 * 64];
  heddle::runtime_options o;
  o.workers = 4;
  o.policy = "grouped:profile=" + file_.string();
  {
    heddle::runtime r(o);
    r.run([&] {
      for (int round = 0; round < 2; ++round) {
        heddle::task_group group;
        for (unsigned i = 0; i < 8; ++i) {
          group.run([i] {
            heddle::cost::read(data + 64 * i, 128);
            heddle::cost::cycles(100);
          });
        }
        heddle::cost::read(data, sizeof data);  // the root's: of no child
        group.wait();
      }
    });
  }
  sharing_profile p = sharing_profile::read(file_.string());
  ASSERT_EQ(p.sites.size(), 1u);
  ASSERT_EQ(p.sites[0].size(), 8u);
  const std::uint64_t first = p.sites[0][0].lines.ranges().front().first;
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(p.sites[0][i].lines.ranges(), (std::vector<line_set::range>{{first + i, first + i + 1}})) << i;
    EXPECT_EQ(p.sites[0][i].weight, 2 * (100 + 128 / 8));
  }
}

TEST_F(grouped_alone, a_runtime_runs_every_child_once) {
  const std::string machine = [] {
    std::unique_ptr<heddle::runtime> r;
    heddle::runtime_options o;
    o.workers = 2;
    r = std::make_unique<heddle::runtime>(o);
    return tree_text(r->machine());
  }();
  std::ofstream(file_) << "heddle-grouping 1\nmachine here\nworkers 2\ntree " << machine
                       << "\nsite 0 tasks 4\nworker 0\ngroup 3\nworker 1\ngroup 1 2\ngroup 0\n";
  for (const char* steal : {",steal=off", ",steal=near,patience=0"}) {
    heddle::runtime_options o;
    o.workers = 2;
    o.policy = with_file(steal);
    heddle::runtime r(o);
    std::atomic<unsigned> ran[6]{};
    r.run([&] {
      for (int round = 0; round < 1000; ++round) {
        heddle::task_group group;
        for (unsigned i = 0; i < 6; ++i) group.run([&ran, i] { ++ran[i]; });
        group.wait();
      }
    });
    for (const auto& n : ran) EXPECT_EQ(n.load(), 1000u);
  }
}

}  // namespace
}  // namespace grouped_test
