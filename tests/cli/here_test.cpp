#include "cli/here.hpp"

#include <gtest/gtest.h>

#include <ctime>

namespace heddle::cli {
namespace here_test {
namespace {

TEST(now_as, is_the_time_in_the_form_and_zone_asked_for) {
  const std::time_t before = std::time(nullptr);
  const std::string utc = now_as(moment), local = now_as("%Y-%m-%dT%H:%M:%S", zone::local);
  const std::time_t after = std::time(nullptr);
  std::tm parts{};
  ASSERT_EQ(*strptime(utc.c_str(), moment, &parts), '\0') << utc;
  const std::time_t of_utc = timegm(&parts);
  EXPECT_TRUE(before <= of_utc && of_utc <= after) << utc;
  parts = {};
  ASSERT_EQ(*strptime(local.c_str(), "%Y-%m-%dT%H:%M:%S", &parts), '\0') << local;
  parts.tm_isdst = -1;
  const std::time_t of_local = std::mktime(&parts);
  EXPECT_TRUE(before <= of_local && of_local <= after) << local;
}

}  // namespace
}  // namespace here_test
}  // namespace heddle::cli
