// The promises of a list of tasks to the workers that look at it from outside.
#include <gtest/gtest.h>

#include <vector>

#include "policy/task_list.hpp"

namespace heddle::policy {
namespace task_list_test {
namespace {

// A worker that finds a list empty goes to sleep. So a task that a worker refuses must stay visible to the others
// meanwhile.
TEST(shared_task_list, a_refused_task_never_leaves_it) {
  shared_task_list list;
  task a, b, c;
  for (task* t : {&a, &b, &c}) list.push_back(*t);
  std::vector<std::size_t> seen;
  task* taken = list.pop_first_of(8, [&](task& t) {
    seen.push_back(list.size());
    return &t == &b;
  });
  EXPECT_EQ(taken, &b);
  EXPECT_EQ(seen, (std::vector<std::size_t>{3, 3}));
  EXPECT_EQ(list.pop_first_of(8, [](task&) { return false; }), nullptr);
  EXPECT_EQ(list.size(), 2u);
  EXPECT_EQ(list.pop_front(), &a) << "in their order";
  EXPECT_EQ(list.pop_front(), &c);
  EXPECT_TRUE(list.looks_empty());
}

TEST(shared_task_list, no_more_than_so_many_are_tried) {
  shared_task_list list;
  task all[4];
  for (task& t : all) list.push_back(t);
  int tried = 0;
  EXPECT_EQ(list.pop_first_of(3, [&](task& t) { return ++tried, &t == &all[3]; }), nullptr);
  EXPECT_EQ(tried, 3);
  EXPECT_EQ(list.pop_first_of(4, [&](task& t) { return &t == &all[3]; }), &all[3]);
  EXPECT_EQ(list.size(), 3u);
}

}  // namespace
}  // namespace task_list_test
}  // namespace heddle::policy
