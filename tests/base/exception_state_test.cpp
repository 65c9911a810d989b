#include "base/exception_state.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>

namespace heddle::base {
namespace exception_state_test {
namespace {

TEST(exception_state, is_empty_outside_of_handlers) {
  exception_state& here = exception_state::of_this_kernel_thread();
  EXPECT_FALSE(here.any());
  const exception_state left = here.leave();
  EXPECT_FALSE(left.any());
  here.take_back(left);
  EXPECT_FALSE(here.any());
}

TEST(exception_state, a_handler_is_left_and_taken_back) {
  exception_state& here = exception_state::of_this_kernel_thread();
  try {
    throw std::runtime_error("first");
  } catch (const std::runtime_error& first) {
    const exception_state left = here.leave();
    EXPECT_TRUE(left.any());
    EXPECT_EQ(std::current_exception(), nullptr);
    try {  // what runs meanwhile handles its own
      throw std::runtime_error("second");
    } catch (const std::runtime_error& second) {
      EXPECT_STREQ(second.what(), "second");
    }
    EXPECT_FALSE(here.any());
    here.take_back(left);
    EXPECT_NE(std::current_exception(), nullptr);
    EXPECT_STREQ(first.what(), "first");
  }
  EXPECT_FALSE(here.any());
}

}  // namespace
}  // namespace exception_state_test
}  // namespace heddle::base
