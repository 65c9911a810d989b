// Runs the command inside the test program, with its output caught.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace heddle::cli {

struct captured {
  int status = 0;
  std::string out, err;
};

inline captured run_captured(const std::vector<std::string>& arguments) {
  captured o;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  o.status = run(arguments);
  std::fflush(stdout);
  o.out = ::testing::internal::GetCapturedStdout();
  o.err = ::testing::internal::GetCapturedStderr();
  return o;
}

// Status 2, nothing on stdout, one line on stderr that holds all the parts.
inline void expect_refused(const captured& o, const std::vector<std::string>& parts) {
  EXPECT_EQ(o.status, 2) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  for (const std::string& part : parts) EXPECT_THAT(o.err, ::testing::HasSubstr(part));
}

}  // namespace heddle::cli
