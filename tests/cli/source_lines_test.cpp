#include "cli/report/source_lines.hpp"

#include <gtest/gtest.h>

namespace heddle::cli {
namespace source_lines_test {
namespace {

// The lock of a thread's closure is inlined into the function of heddle's that calls the closure.
TEST(users_place, passes_over_heddles_headers_and_the_librarys) {
  EXPECT_EQ(users_place("0x0000000000003840\n"
                        "lock\n/opt/heddle/include/heddle/mutex.hpp:33\n"
                        "lock_guard\n/usr/include/c++/12/bits/std_mutex.h:229 (discriminator 2)\n"
                        "operator()\n/home/anna/loom.cpp:57 (discriminator 1)\n"
                        "_FUN\n../../include/heddle/thread.hpp:94\n"),
            "loom.cpp:57");
}

// A function of heddle's begins with heddle's code, and the user's is inlined further on.
TEST(users_place, looks_through_the_function) {
  const std::string entry = "0x10\n_FUN\n/opt/include/heddle/thread.hpp:94\n";
  const std::string further = "0x18\noperator()\n/home/anna/loom.cpp:60\n_FUN\n/opt/include/heddle/thread.hpp:95\n";
  EXPECT_EQ(users_place(entry + further), "loom.cpp:60");
  EXPECT_EQ(users_place(entry + "0x18\nmain\n/home/anna/loom.cpp:70\n"), "") << "that is the next function";
}

TEST(users_place, is_empty_if_nothing_is_known) {
  EXPECT_EQ(users_place(""), "");
  EXPECT_EQ(users_place("0x10\n??\n??:0\n0x18\n??\n??:?\n"), "");
}

}  // namespace
}  // namespace source_lines_test
}  // namespace heddle::cli
