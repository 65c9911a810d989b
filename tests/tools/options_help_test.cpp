#include "tools/help/options_help.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/options.hpp"

namespace heddle::tools {
namespace options_help_test {
namespace {

using ::testing::HasSubstr;

TEST(options_help, every_knob_is_in_the_help) {
  for (const base::option& o : base::options()) {
    EXPECT_THAT(options_text(), HasSubstr(o.variable + "  "));
    EXPECT_THAT(options_markdown(), HasSubstr("`" + o.variable + "`"));
  }
}

TEST(options_help, the_guide_holds_the_generated_table) {
  std::ifstream file(HEDDLE_SOURCE_DIR "/docs/guide/options.md");
  ASSERT_TRUE(file) << "docs/guide/options.md is missing";
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_TRUE(page.str().find(options_markdown()) != std::string::npos)
      << "the table of docs/guide/options.md is out of date; put there what `heddle help options --markdown` prints";
}

}  // namespace
}  // namespace options_help_test
}  // namespace heddle::tools
