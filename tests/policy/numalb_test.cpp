// numalb's use of loads and messages: over a host of eight workers on two nodes, and in a runtime.
#include <heddle/communication.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "policy/numa/numalb.hpp"
#include "policy/registry.hpp"
#include "support/cluster_host.hpp"

namespace numalb_test {
namespace {

using namespace heddle::policy;

// Iterations of one group with `children` children, made by hand.
class numalb_alone : public testing::Test {
 protected:
  void begin(const std::string& text) {
    made_ = make(text);
    made_->start(host_);
  }
  // The workers to which the children go; `after(i, child)` is what happens while they run.
  template <class After>
  std::vector<unsigned> iterate(unsigned children, unsigned told, After&& after) {
    std::vector<task> tasks(children);
    std::vector<unsigned> targets;
    for (unsigned i = 0; i < children; ++i) {
      const placement where = made_->spawn(0, {tasks[i], &root_, &label_, not_given, not_given, 0, i, told, nullptr});
      targets.push_back(where == placement::send ? tasks[i].to.target : nobody);
      if (where == placement::send) made_->enqueue(0, tasks[i]);
    }
    for (unsigned i = 0; i < children; ++i) {
      if (tasks[i].tag != nullptr) after(i, tasks[i]);
    }
    for (unsigned w = 0; w < 8; ++w) {
      while (made_->acquire(w, effort::glance) != 0) ran_.push_back(w);
    }
    return targets;
  }
  void use(task& t, std::uint64_t ns) {
    task_usage what;
    what.processor_time = {ns, source::clock};
    made_->used(0, t, what);
  }
  void talk(task& t, unsigned to, double messages) {
    dynamic_cast<hears_communication&>(*made_).communicates(0, t, to, messages);
  }
  static constexpr auto nothing = [](unsigned, task&) {};

  heddle_test::cluster_host host_;
  std::vector<unsigned> ran_;

 private:
  std::unique_ptr<policy> made_;
  task root_{};
  const int label_{0};
};

TEST_F(numalb_alone, deals_out_in_blocks_or_in_turn_at_first) {
  begin("numalb");
  EXPECT_EQ(iterate(16, 16, nothing), (std::vector<unsigned>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7}));
  EXPECT_EQ(ran_.size(), 16u);
  begin("numalb");
  EXPECT_EQ(iterate(10, 0, nothing), (std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7, 0, 1}));
}

TEST_F(numalb_alone, places_the_heaviest_first_and_each_where_least_is) {
  begin("numalb");
  iterate(16, 16, [&](unsigned i, task& t) { use(t, i < 8 ? 1000 : 100); });
  const std::vector<unsigned> second = iterate(16, 16, nothing);
  // one heavy child each, then one light child each
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(second[i], i % 8) << i;
}

TEST_F(numalb_alone, children_that_talk_go_to_one_node) {
  begin("numalb:alpha=10");
  const auto talks = [&](unsigned i, task& t) {
    use(t, 1000);
    talk(t, (i + 8) % 16, 10);  // with a child that was dealt to the other node
  };
  const std::vector<unsigned> first = iterate(16, 16, talks);
  for (unsigned i = 0; i < 8; ++i) EXPECT_NE(first[i] / 4, first[i + 8] / 4);
  const std::vector<unsigned> second = iterate(16, 16, talks);
  std::vector<unsigned> children(8, 0);
  for (unsigned i = 0; i < 16; ++i) {
    ++children[second[i]];
    EXPECT_EQ(second[i] / 4, second[(i + 8) % 16] / 4) << i;
  }
  EXPECT_EQ(children, std::vector<unsigned>(8, 2)) << "and the load is even";
}

TEST_F(numalb_alone, what_is_too_much_is_not_placed) {
  begin("numalb:objects=3");
  const std::vector<unsigned> targets = iterate(5, 5, [&](unsigned i, task& t) {
    talk(t, 4, 1);  // nobody who is known
    talk(t, i, 1);
  });
  EXPECT_EQ(targets[3], nobody);
  EXPECT_EQ(targets[4], nobody);
  EXPECT_EQ(iterate(3, 0, nothing).size(), 3u);
}

// --- what a program says -------------------------------------------------------------------------------------------

struct heard {
  const task* by;
  unsigned to;
  double messages;
};
std::mutex mutex;
std::vector<heard> all_heard;

class listener final : public policy, public hears_communication {
 public:
  entry acquire(unsigned self, effort how) noexcept override { return others(self, *host_).rob_at_random(*host_, how); }
  void communicates(unsigned, task& by, unsigned to, double messages) noexcept override {
    std::lock_guard hold(mutex);
    all_heard.push_back({&by, to, messages});
  }
};

TEST(communicates, is_heard_by_policies_that_want_it) {
  add({"listener", "of a test", [](parameters&) -> std::unique_ptr<policy> { return create<listener>(); }});
  heddle::communicates(1);  // on a foreign thread nothing
  for (const char* name : {"listener", "random_ws", "numalb"}) {
    all_heard.clear();
    heddle::runtime rt({.workers = 2, .policy = name});
    rt.run([] {
      heddle::communicates(3, 2.5);
      heddle::communicates(3, -1);
      heddle::communicates(3, std::numeric_limits<double>::quiet_NaN());
      heddle::communicates(4);
    });
    if (std::string(name) != "listener") {
      EXPECT_TRUE(all_heard.empty());
      continue;
    }
    ASSERT_EQ(all_heard.size(), 2u);
    EXPECT_EQ(all_heard[0].to, 3u);
    EXPECT_EQ(all_heard[0].messages, 2.5);
    EXPECT_EQ(all_heard[0].by, all_heard[1].by);
    EXPECT_EQ(all_heard[1].messages, 1);
  }
}

// Whatever is measured, each child of an iteration runs once, and so does what it makes.
TEST(numalb, iterates) {
  heddle::runtime_options options;
  options.policy = "numalb";
  options.machine = "synthetic:pack:2 l3:1(size=8388608) l2:2(size=1048576) core:1 pu:1";
  heddle::runtime rt(options);
  ASSERT_EQ(rt.workers(), 4u);
  for (int iteration = 0; iteration < 30; ++iteration) {
    std::vector<std::atomic<int>> ran(8);
    std::atomic<long> sum{0};
    rt.run([&] {
      heddle::task_group group;
      group.expect(8);
      for (unsigned i = 0; i < 8; ++i) {
        group.run([&, i] {
          ran[i].fetch_add(1);
          heddle::communicates(i ^ 1u, 3);
          heddle::task_group inner;  // not placed
          for (int k = 0; k < 4; ++k) inner.run([&] { sum.fetch_add(1); });
          inner.wait();
        });
      }
      group.wait();
    });
    for (const auto& r : ran) EXPECT_EQ(r.load(), 1);
    EXPECT_EQ(sum.load(), 32);
  }
}

TEST(numalb, bad_parameters_are_named) {
  for (const char* text : {"numalb:alpha=-1", "numalb:objects=0", "numalb:beta=1"})
    EXPECT_THROW(heddle::runtime({.workers = 1, .policy = text}), std::invalid_argument) << text;
}

}  // namespace
}  // namespace numalb_test
