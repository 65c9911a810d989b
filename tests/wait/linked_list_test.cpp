#include <heddle/detail/linked_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace heddle::detail {
namespace linked_list_test {
namespace {

using ::testing::ElementsAre;

struct element {
  int number{0};
  element* next{nullptr};
  element* previous{nullptr};
  element* older{nullptr};
  element* younger{nullptr};
};
using by_next = linked_list<element>;
using by_age = linked_list<element, &element::younger, &element::older>;

std::vector<int> forwards(const by_next& list) {
  std::vector<int> numbers;
  for (const element* e = list.front(); e != nullptr; e = e->next) numbers.push_back(e->number);
  return numbers;
}

std::vector<int> backwards(const by_next& list) {
  std::vector<int> numbers;
  for (const element* e = list.back(); e != nullptr; e = e->previous) numbers.push_back(e->number);
  return numbers;
}

TEST(linked_list, both_ends) {
  by_next list;
  element e[]{{1}, {2}, {3}};
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.pop_front(), nullptr);
  EXPECT_EQ(list.pop_back(), nullptr);
  list.push_back(e[1]);
  list.push_back(e[2]);
  list.push_front(e[0]);
  EXPECT_THAT(forwards(list), ElementsAre(1, 2, 3));
  EXPECT_THAT(backwards(list), ElementsAre(3, 2, 1));
  EXPECT_EQ(list.pop_front(), &e[0]);
  EXPECT_EQ(list.pop_back(), &e[2]);
  EXPECT_EQ(list.pop_back(), &e[1]);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.front(), nullptr);
  EXPECT_EQ(list.back(), nullptr);
}

TEST(linked_list, in_the_middle) {
  by_next list;
  element e[]{{1}, {2}, {3}, {4}};
  list.insert_before(e[3], nullptr);
  list.insert_before(e[0], &e[3]);
  list.insert_before(e[2], &e[3]);
  list.insert_before(e[1], &e[2]);
  EXPECT_THAT(forwards(list), ElementsAre(1, 2, 3, 4));
  list.remove(e[2]);
  EXPECT_THAT(forwards(list), ElementsAre(1, 2, 4));
  list.remove(e[0]);
  list.remove(e[3]);
  EXPECT_THAT(forwards(list), ElementsAre(2));
  EXPECT_THAT(backwards(list), ElementsAre(2));
  list.push_back(e[2]);  // again, whatever its links hold
  EXPECT_THAT(forwards(list), ElementsAre(2, 3));
  EXPECT_THAT(backwards(list), ElementsAre(3, 2));
}

TEST(linked_list, an_element_is_in_one_list_for_each_pair_of_links) {
  by_next one;
  by_age other;
  element e[]{{1}, {2}};
  for (element& each : e) one.push_back(each);
  for (element& each : e) other.push_front(each);
  EXPECT_EQ(one.pop_front(), &e[0]);
  EXPECT_EQ(other.front(), &e[1]);
  EXPECT_EQ(other.back(), &e[0]);
}

}  // namespace
}  // namespace linked_list_test
}  // namespace heddle::detail
