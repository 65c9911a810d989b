// The calls to a program's own policy: which functions are called for it, and what they are told about tasks.
#include <heddle/heddle.h>
#include <heddle/iteration.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/policy.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace seam_test {
namespace {

using namespace heddle::policy;
using ::testing::HasSubstr;

// --- what it hears of --------------------------------------------------------------------------------------------

struct silent : policy {
  entry acquire(unsigned, effort) noexcept override { return 0; }
};
struct of_children : silent {
  placement spawn(unsigned, const task_info&) noexcept override { return placement::child_first; }
};
struct of_more : of_children {
  of_more() { wants_.work_conserving = false; }
  void start(scheduler& host) override {
    silent::start(host);
    wants_.spawns = false;
  }
  void group_wait(unsigned, group_info&) noexcept override {}
  bool may_rob(unsigned, unsigned) noexcept override { return false; }
};

struct of_marks : silent {
  placement next_iteration(unsigned self, task& owner, const void* label) noexcept override {
    if (owner.tag == nullptr) heard.push_back(label);
    return self == 0 ? placement::stay : placement::send;
  }
  unsigned most_workers() const noexcept override { return 1; }
  static inline std::vector<const void*> heard;
};

[[gnu::noinline]] void marked_here() { heddle::next_iteration(); }

TEST(wants, hear_of_marks_where_they_listen) {
  EXPECT_TRUE(create<of_marks>()->wants().iterations);
  EXPECT_FALSE(create<silent>()->wants().iterations);
  add({"of_marks", "", [](parameters&) -> std::unique_ptr<policy> { return create<of_marks>(); }});
  heddle::next_iteration();  // a foreign thread, on no worker
  EXPECT_TRUE(of_marks::heard.empty());
  heddle::runtime rt({.policy = "of_marks"});
  rt.run([] {
    heddle::next_iteration(&of_marks::heard);
    for (int i = 0; i < 2; ++i) marked_here();
    heddle_next_iteration(nullptr);
    heddle_next_iteration(&of_marks::heard);
  });
  ASSERT_EQ(of_marks::heard.size(), 5u);
  EXPECT_EQ(of_marks::heard[0], &of_marks::heard);
  EXPECT_EQ(of_marks::heard[1], of_marks::heard[2]) << "the same place";
  EXPECT_NE(of_marks::heard[1], nullptr);
  EXPECT_NE(of_marks::heard[3], of_marks::heard[1]);
  EXPECT_EQ(of_marks::heard[4], &of_marks::heard);
}

TEST(wants, follow_from_what_is_overridden) {
  const policy_wants none = create<silent>()->wants();
  EXPECT_FALSE(none.spawns || none.forks || none.groups || none.roots || none.picks || none.limits || none.preemptions);
  EXPECT_TRUE(none.work_conserving);
  EXPECT_TRUE(create<of_children>()->wants().spawns);
  const policy_wants more = create<of_more>()->wants();
  EXPECT_TRUE(more.spawns) << "a class between it and the base overrides it";
  EXPECT_TRUE(more.groups && more.limits);
  EXPECT_FALSE(more.forks || more.roots || more.picks || more.work_conserving || more.iterations);
}

// --- what is said of tasks ---------------------------------------------------------------------------------------

struct seen {
  const void* label;
  const task* made;
  const task* parent;
  double work, group_work;
  std::size_t bytes;
  unsigned index, siblings;
};

// Notes children, second halves and roots; sends second halves to a list of its own and takes them from there.
class notary final : public policy {
 public:
  static std::vector<seen> children, halves, roots;
  static std::vector<unsigned> expected;  // at the ends of groups

  entry acquire(unsigned, effort) noexcept override { return 0; }
  entry pick(unsigned, bool) noexcept override {
    if (waiting_ == nullptr) return 0;
    return host_->entry_of(*std::exchange(waiting_, nullptr));
  }
  unsigned most_workers() const noexcept override { return 1; }
  placement started(unsigned, const task_info& info) noexcept override {
    roots.push_back(of(info));
    return placement::stay;
  }
  placement spawn(unsigned, const task_info& info) noexcept override {
    children.push_back(of(info));
    return placement::child_first;
  }
  bool fork_begin(unsigned, const fork_info&) noexcept override { return true; }
  placement fork(unsigned, const fork_info&, const task_info& half) noexcept override {
    halves.push_back(of(half));
    return send_to(half.made, 17, 4);
  }
  void enqueue(unsigned, task& t) noexcept override {
    EXPECT_EQ(t.to.target, 17u);
    EXPECT_EQ(t.to.slot, 4u);
    waiting_ = &t;
  }
  placement group_end(unsigned, group_info& info) noexcept override {
    expected.push_back(info.expected);
    return placement::stay;
  }

 private:
  static seen of(const task_info& info) {
    return {info.label, &info.made, info.parent, info.work, info.group_work, info.bytes, info.index, info.siblings};
  }
  task* waiting_{nullptr};
};
std::vector<seen> notary::children, notary::halves, notary::roots;
std::vector<unsigned> notary::expected;

class seam : public ::testing::Test {
 protected:
  void SetUp() override {
    static const bool added = [] {
      add({"notary", "of a test", [](parameters&) -> std::unique_ptr<policy> { return create<notary>(); }});
      add({"raw", "of a test", [](parameters&) -> std::unique_ptr<policy> { return std::make_unique<silent>(); }});
      return true;
    }();
    static_cast<void>(added);
    notary::children.clear(), notary::halves.clear(), notary::roots.clear(), notary::expected.clear();
  }
  template <class F>
  void run(F&& f) {
    heddle::runtime rt({.workers = 1, .policy = "notary"});
    rt.run(std::forward<F>(f));
  }
};

TEST_F(seam, children_tell_their_number_hints_and_siblings) {
  run([] {
    heddle::task_group group(10, 4096);
    group.expect(3);
    for (int i = 0; i < 3; ++i) group.run([] {}, i + 1.0);
    group.wait();
    group.run([] {});
  });
  ASSERT_EQ(notary::children.size(), 4u);
  for (unsigned i = 0; i < 3; ++i) {
    const seen& child = notary::children[i];
    EXPECT_EQ(child.index, i);
    EXPECT_EQ(child.siblings, 3u);
    EXPECT_EQ(child.work, i + 1.0);
    EXPECT_EQ(child.group_work, 10);
    EXPECT_EQ(child.bytes, 4096u);
    EXPECT_EQ(child.label, notary::children[0].label) << "of one place in the program";
    EXPECT_NE(child.parent, nullptr);
    EXPECT_NE(child.parent, child.made);
  }
  EXPECT_EQ(notary::children[3].siblings, 0u) << "what is expected holds until the wait";
  EXPECT_NE(notary::children[3].label, notary::children[0].label);
  EXPECT_TRUE(std::isnan(notary::children[3].work));
  EXPECT_EQ(notary::expected, (std::vector<unsigned>{3, 0}));
}

TEST_F(seam, a_label_can_be_given) {
  static const char here = 0;
  run([] {
    heddle::task_group group;
    group.run([] {}, {.work = 2, .label = &here});
    group.run([big = std::array<char, 2000>{}] { static_cast<void>(big); }, {.label = &here});
    group.wait();
  });
  ASSERT_EQ(notary::children.size(), 2u);
  EXPECT_EQ(notary::children[0].label, &here);
  EXPECT_EQ(notary::children[0].work, 2);
  EXPECT_EQ(notary::children[1].label, &here) << "a closure in a box";
}

void first_function(void*) {}
void second_function(void*) {}

TEST_F(seam, children_of_the_c_interface_have_the_label_of_their_function) {
  run([] {
    heddle_group* group = nullptr;
    ASSERT_EQ(heddle_group_create(&group, 0, 0), HEDDLE_OK);
    EXPECT_EQ(heddle_group_expect(group, 2), HEDDLE_OK);
    EXPECT_EQ(heddle_group_run(group, first_function, nullptr, 0), HEDDLE_OK);
    EXPECT_EQ(heddle_group_run(group, second_function, nullptr, 5), HEDDLE_OK);
    EXPECT_EQ(heddle_group_wait(group), HEDDLE_OK);
    EXPECT_EQ(heddle_group_destroy(group), HEDDLE_OK);
  });
  EXPECT_EQ(heddle_group_expect(nullptr, 2), HEDDLE_INVALID);
  ASSERT_EQ(notary::children.size(), 2u);
  EXPECT_EQ(notary::children[0].label, reinterpret_cast<const void*>(&first_function));
  EXPECT_EQ(notary::children[1].label, reinterpret_cast<const void*>(&second_function));
  EXPECT_EQ(notary::children[1].siblings, 2u);
  EXPECT_EQ(notary::children[1].work, 5);
}

TEST_F(seam, second_halves_are_described_as_children_are) {
  run([] { heddle::parallel_invoke(heddle::work_hint{3, 1}, [] {}, [] {}); });
  ASSERT_EQ(notary::halves.size(), 1u);
  const seen& half = notary::halves[0];
  EXPECT_EQ(half.index, 1u);
  EXPECT_EQ(half.siblings, 2u);
  EXPECT_EQ(half.work, 1);
  EXPECT_EQ(half.group_work, 4);
  EXPECT_NE(half.label, nullptr);
  EXPECT_NE(half.parent, nullptr);
}

TEST_F(seam, roots_have_labels_and_no_parent) {
  const auto code = [] {};
  run([&] {
    heddle::thread a(code), b(code), c([] {});
    a.join(), b.join(), c.join();
  });
  ASSERT_EQ(notary::roots.size(), 4u);  // the first is the call itself
  for (const seen& root : notary::roots) {
    EXPECT_EQ(root.parent, nullptr);
    EXPECT_NE(root.label, nullptr);
  }
  EXPECT_EQ(notary::roots[1].label, notary::roots[2].label);
  EXPECT_NE(notary::roots[1].label, notary::roots[3].label);
}

// --- what is refused ---------------------------------------------------------------------------------------------

TEST_F(seam, a_policy_that_create_has_not_made_is_refused) {
  try {
    const heddle::runtime rt({.workers = 1, .policy = "raw"});
    ADD_FAILURE() << "it was taken";
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), HasSubstr("policy raw was not made by heddle::policy::create"));
  }
}

TEST_F(seam, a_name_is_taken_once) {
  EXPECT_THROW(add({"random_ws", "of a test", nullptr}), std::invalid_argument);
  EXPECT_THROW(add({"notary", "of a test", nullptr}), std::invalid_argument);
}

}  // namespace
}  // namespace seam_test
