// The kernel threads of the global runtime that have ended when the process ends: [blocking:7] of src/wait/blocking.md.
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <vector>

#include <heddle/heddle.hpp>

#include "support/kernel_threads.hpp"
#include "worker/runtime.hpp"

namespace spares_at_exit_test {
namespace {

constexpr int left_unjoined = 3, owed_nothing = 4;

heddle::worker::carriers& carriers() { return heddle::runtime::global().core().carriers(); }

// More blocking calls at once than spares are kept, and then none until the superfluous kernel threads are gone.
[[noreturn]] void program() {
  setenv("HEDDLE_BLOCKED_BOUND", "0s", 1);  // no further kernel threads on a busy machine
  std::atexit([] {  // before the runtime is made, so it is called after what the runtime does at the end
    if (carriers().owes_a_join()) _exit(left_unjoined);
  });
  heddle::runtime::global().run([] {});
  const long at_first = heddle_test::kernel_threads();
  constexpr int calls = heddle::worker::spares_kept + 8;
  std::atomic<int> inside{0};
  std::vector<heddle::thread> callers;
  for (int i = 0; i < calls; ++i) {
    callers.emplace_back([&] {
      heddle::blocking([&] {
        ++inside;
        while (inside.load() < calls) usleep(100);
      });
    });
  }
  for (heddle::thread& t : callers) t.join();
  while (heddle_test::kernel_threads() > at_first + heddle::worker::spares_kept) usleep(1000);
  if (!carriers().owes_a_join()) _exit(owed_nothing);  // the next spare that ends would have joined it
  std::exit(0);
}

TEST(spares_at_exit_death, none_that_has_ended_is_left_unjoined) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace spares_at_exit_test
