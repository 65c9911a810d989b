// The component by itself, held by a policy of the test's own making: what is recorded is what is named afterwards, one
// iteration runs at a time, and what does not fit makes a new record.
#include "policy/iterations/iterations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/idle_host.hpp"

namespace iterations_test {
namespace {

using namespace heddle::policy;
using mode = iterations::mode;
using ::testing::ElementsAre;

class four_workers final : public heddle_test::idle_host {
 public:
  four_workers() : idle_host(4) {}
  void remark(unsigned, const char* text, std::uint64_t value) noexcept override {
    said.push_back(std::string(text) + " " + std::to_string(value));
  }
  std::vector<std::string> said;
};

constexpr iterations::remarks says{"recorded", "relaxed", "strict", "abandoned"};
constexpr char here = 0, there = 0;  // labels of two loops

class iterations_test : public testing::Test {
 protected:
  void set(const iterations::rules& rules) {
    all.emplace(rules);
    all->start(host);
  }
  bool begin(const void* label, unsigned self = 0) {
    steal_node* node = all->take_node(self);
    root = node;
    return all->begin(self, label, *node, [&](mode as) { prepared.push_back(as); });
  }
  // A task that worker `by` makes under the root and that begins on worker `on`; under a strict one, nothing is noted.
  void child(std::uint32_t number, unsigned by, unsigned on) {
    const std::uint64_t id = child_identity(root_identity, number);
    all->made(by);
    if (all->now() != mode::strict) {
      steal_node* node = all->take_node(by);
      iterations::note_child(*root, *node, id);
      node->worker = on;
      if (node->is_piece()) node->parent->keep();
    } else if (all->recorded(id) != nullptr) {
      all->met(by);
    } else {
      all->misfit(1);
    }
    all->ended(on);
  }

  four_workers host;
  std::optional<iterations> all;
  steal_node* root{nullptr};
  std::vector<mode> prepared;
};

TEST_F(iterations_test, are_recorded_relaxed_and_then_strict) {
  set({says, true, true, 1});
  EXPECT_EQ(all->root_home(), nobody);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(begin(&here));
    child(0, 0, 2);
    child(1, 0, 0);
    if (i > 0) {
      ASSERT_NE(all->recorded(child_identity(root_identity, 0)), nullptr);
      EXPECT_EQ(all->recorded(child_identity(root_identity, 0))->worker, 2u);
      EXPECT_EQ(all->pieces_of(2), 1u);
    }
    EXPECT_TRUE(all->end(0));
    EXPECT_EQ(all->now(), mode::none);
  }
  EXPECT_THAT(prepared, ElementsAre(mode::record, mode::relaxed, mode::strict, mode::strict));
  EXPECT_THAT(host.said, ElementsAre("recorded 1", "relaxed 0", "strict 1"));
  EXPECT_EQ(all->root_home(), 0u);
}

TEST_F(iterations_test, of_two_loops_have_records_of_their_own) {
  set({says, true, true, 0});
  ASSERT_TRUE(begin(&here));
  child(0, 0, 1);
  all->end(0);
  ASSERT_TRUE(begin(&there));
  EXPECT_EQ(all->now(), mode::record);
  EXPECT_EQ(all->recorded(child_identity(root_identity, 0)), nullptr);
  all->end(0);
  ASSERT_TRUE(begin(&here));
  EXPECT_EQ(all->now(), mode::strict);
  child(0, 0, 1);
  all->end(0);
  ASSERT_TRUE(begin(&there));
  EXPECT_EQ(all->now(), mode::relaxed) << "a record without pieces is not kept to";
  all->end(0);
}

TEST_F(iterations_test, that_do_not_fit_are_recorded_anew) {
  set({says, true, true, 0});
  for (const auto& [count, as] : {std::pair{2u, mode::record},
                                  {2u, mode::strict},
                                  {3u, mode::strict},
                                  {3u, mode::relaxed},
                                  {3u, mode::strict},
                                  {2u, mode::strict}}) {
    ASSERT_TRUE(begin(&here));
    EXPECT_EQ(all->now(), as);
    for (std::uint32_t i = 0; i < count; ++i) child(i, 0, 1 + i % 3);
    if (as == mode::strict && count == 3 && host.said.size() < 3) {
      EXPECT_TRUE(all->is_loosened()) << "an unknown task has come";
    }
    all->end(0);
  }
  EXPECT_THAT(host.said, ElementsAre("recorded 2", "strict 2", "abandoned 1", "relaxed 1", "strict 3", "abandoned 1"));
}

TEST_F(iterations_test, one_at_a_time_also_while_an_older_one_closes) {
  set({says, true, true, 0});
  ASSERT_TRUE(begin(&here, 0));
  EXPECT_FALSE(all->may_begin());
  EXPECT_FALSE(begin(&there, 1));
  all->made(0);  // a task that outlives it
  EXPECT_FALSE(all->end(0));
  EXPECT_TRUE(all->may_begin());
  EXPECT_FALSE(begin(&there, 1)) << "the task is alive";
  EXPECT_TRUE(host.said.empty());
  all->ended(3);
  EXPECT_TRUE(begin(&there, 1));
  EXPECT_THAT(host.said, ElementsAre("recorded 0"));
  EXPECT_FALSE(all->may_begin());
  EXPECT_FALSE(begin(&here, 2)) << "the one that has taken over runs";
  EXPECT_TRUE(all->end(1));
}

TEST_F(iterations_test, nodes_that_the_table_does_not_name_serve_again) {
  set({says, true, true, 0});
  ASSERT_TRUE(begin(&here));
  steal_node* const parent = all->take_node(2);
  iterations::note_child(*root, *parent, 7);
  parent->worker = 2;
  steal_node* const below = all->take_node(2);
  iterations::note_child(*parent, *below, 8);
  all->note_end(2, *parent);
  EXPECT_EQ(parent->first_child, nullptr);
  EXPECT_EQ(all->take_node(2), below);
  all->give_node(2, *below);
  all->end(0);
}

}  // namespace
}  // namespace iterations_test
