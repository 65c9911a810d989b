#include "base/nearest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::base {
namespace nearest_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kernels = {"fib", "nqueens", "quicksort", "mergesort", "report"};

TEST(nearest, counts_edits) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("atuo", "auto"), 1u);
  EXPECT_EQ(edit_distance("stack-size", "STACK_SIZE"), 0u);
}

TEST(nearest, finds_what_was_meant) {
  EXPECT_EQ(nearest("nqeens", kernels), "nqueens");
  EXPECT_EQ(nearest("FIBB", kernels), "fib");
  EXPECT_EQ(nearest("rep", kernels), "report");
  EXPECT_EQ(nearest("x", kernels), "");
  EXPECT_EQ(nearest("elephant", kernels), "");
  EXPECT_EQ(nearest("", kernels), "");
  EXPECT_THAT(nearest_all("mergsort", kernels, 1), ElementsAre("mergesort"));
  EXPECT_THAT(nearest_all("zzz", kernels), IsEmpty());
}

TEST(nearest, builds_the_question) {
  EXPECT_EQ(did_you_mean("fibs", kernels), "; did you mean fib?");
  EXPECT_EQ(did_you_mean("zzz", kernels), "");
  EXPECT_EQ(alternatives(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(alternatives(std::vector<std::string>{"a", "b", "c"}), "a, b or c");
}

}  // namespace
}  // namespace nearest_test
}  // namespace heddle::base
