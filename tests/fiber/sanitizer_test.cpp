// The announcements of stacks to ThreadSanitizer: the number of its fibers. In other builds there is nothing to test.
#include "fiber/sanitizer.hpp"

#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace sanitizer_test {
namespace {

#if defined(HEDDLE_TSAN)
TEST(fibers_of_thread_sanitizer, end_with_their_threads_when_there_are_many) {
  static constexpr int threads = 2 * heddle::fiber::kept_fibers;
  heddle::runtime rt({.workers = 2});
  for (int round = 0; round < 2; ++round) {
    rt.run([] {
      heddle::latch begun(threads), gate(1);
      std::vector<heddle::thread> all;
      for (int i = 0; i < threads; ++i) {
        all.emplace_back([&] {
          begun.count_down();
          gate.wait();
        });
      }
      begun.wait();
      EXPECT_GT(heddle::fiber::fibers.load(), threads);  // they are alive at the same time as the thread that makes
                                                         // them
      gate.count_down();
      for (heddle::thread& t : all) t.join();
    });
    EXPECT_LE(heddle::fiber::fibers.load(), heddle::fiber::kept_fibers);
  }
}
#else
TEST(fibers_of_thread_sanitizer, are_no_matter_in_other_builds) { GTEST_SKIP() << "not under ThreadSanitizer"; }
#endif

}  // namespace
}  // namespace sanitizer_test
