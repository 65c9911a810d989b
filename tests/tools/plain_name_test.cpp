#include "tools/trace/plain_name.hpp"

#include <gtest/gtest.h>

namespace heddle::trace {
namespace plain_name_test {
namespace {

TEST(plain_name, keeps_what_the_user_wrote) {
  EXPECT_EQ(plain_name("heddle::detail::fork_frame<fib(int)::{lambda()#2}>::execute(heddle::detail::job*)"),
            "fib(int)::{lambda()#2}");
  EXPECT_EQ(plain_name("heddle::task_group::held<(anonymous namespace)::grow(node&)::{lambda()#1}>::call(void*)"),
            "grow(node&)::{lambda()#1}");
  EXPECT_EQ(plain_name("main"), "main");
  EXPECT_EQ(plain_name("operator<(point const&, point const&)"), "operator<(point const&, point const&)");
}

TEST(plain_name, finds_the_closure_that_a_thread_was_given) {
  EXPECT_EQ(
      plain_name("heddle::thread::thread<main::{lambda()#2}::operator()() const::{lambda()#1}>(heddle::thread_options "
                 "const&, main::{lambda()#2}::operator()() const::{lambda()#1}&&)::{lambda(void*)#1}::_FUN(void*)"),
      "main::{lambda()#2}::{lambda()#1}");
}

TEST(plain_name, finds_the_body_of_a_loop) {
  EXPECT_EQ(plain_name("heddle::detail::loop_tree<heddle::detail::chunk_work<int, relax(int)::{lambda(int)#1}> "
                       ">::piece::execute(heddle::detail::job*)"),
            "loop in relax(int)::{lambda(int)#1}");
  EXPECT_EQ(
      plain_name("heddle::detail::loop_chunks heddle::detail::loop_chunks::of<heddle::detail::chunk_work<int, "
                 "heddle::parallel_for<int, relax(int)::{lambda(int)#1}>(int, int, relax(int)::{lambda(int)#1}&&, "
                 "heddle::loop_options const&)::{lambda(int, int)#1}> >(heddle::detail::chunk_work<int>&)::"
                 "{lambda(void*, unsigned long, unsigned long)#1}::_FUN(void*, unsigned long, unsigned long)"),
      "loop in relax(int)::{lambda(int)#1}");
  EXPECT_EQ(
      plain_name("heddle::detail::loop_tree<heddle::detail::sum_work<int, long, std::plus<void> > >::piece::execute("
                 "heddle::detail::job*)"),
      "loop");
}

TEST(plain_name, leaves_out_call_operators) {
  EXPECT_EQ(plain_name("main::{lambda()#1}::operator()() const"), "main::{lambda()#1}");
  EXPECT_EQ(plain_name("void heddle::detail::call<sweep>(sweep&)"), "sweep");
  EXPECT_EQ(plain_name("auto area(int)::{lambda(auto:1)#1}::operator()<int>(int) const"),
            "auto area(int)::{lambda(auto:1)#1}");
}

}  // namespace
}  // namespace plain_name_test
}  // namespace heddle::trace
