#include "cli/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace heddle::cli {
namespace progress_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns the text that is drawn into a pipe.
template <class Use>
std::string drawn(std::size_t total, bool draw, Use use) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  {
    progress bar("work", total, ends[1], draw);
    use(bar);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  return text;
}

TEST(progress, is_silent_without_a_terminal) {
  EXPECT_EQ(drawn(3, false, [](progress& bar) { bar.advance(3, "all"); }), "");
}

TEST(progress, shows_steps_and_their_names) {
  const std::string text = drawn(4, true, [](progress& bar) {
    bar.advance(0, "first");
    bar.advance(1, "second");
  });
  EXPECT_THAT(text, HasSubstr("work [........................] 0/4"));
  EXPECT_THAT(text, HasSubstr("work [######..................] 1/4"));
  EXPECT_THAT(text, HasSubstr("second"));
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(progress, takes_its_line_away) {
  EXPECT_THAT(drawn(2, true, [](progress& bar) { bar.advance(1, "x"); }), EndsWith("\r\033[K"));
  EXPECT_THAT(drawn(2, true,
                    [](progress& bar) {
                      bar.advance(1, "x");
                      bar.clear();
                    }),
              EndsWith("\r\033[K"));
}

TEST(progress, never_passes_the_total) {
  const std::string text = drawn(2, true, [](progress& bar) { bar.advance(5, "x"); });
  EXPECT_THAT(text, HasSubstr("2/2"));
  EXPECT_THAT(text, Not(HasSubstr("5/2")));
}

TEST(progress, an_unknown_total_is_a_count) {
  EXPECT_THAT(drawn(0, true, [](progress& bar) { bar.advance(7, "x"); }), HasSubstr("work 7 0:"));
}

TEST(progress, does_not_draw_at_every_step) {
  const std::string text = drawn(1000000, true, [](progress& bar) {
    for (int i = 0; i < 100000; ++i) bar.advance();
  });
  EXPECT_LT(text.size(), 50000u);
}

}  // namespace
}  // namespace progress_test
}  // namespace heddle::cli
