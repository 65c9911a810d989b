// Policies whose thieves ask by name: programs end correctly under them, also while workers are inactive. The second
// part tests how an owner sees its askers.
#include <heddle/detail/loop_runtime.hpp>
#include <heddle/heddle.hpp>
#include <heddle/pause.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "support/asking_policy.hpp"
#include "support/fib.hpp"
#include "support/runtimes.hpp"
#include "worker/worker.hpp"

namespace asking_test {
namespace {

using namespace heddle::policy;

// Forks, children, loops and threads inside each other.
void do_everything(heddle::runtime& rt) {
  const long value = rt.run([] { return heddle_test::fib(18); });
  EXPECT_EQ(value, 2584);
  std::atomic<int> done{0};
  rt.run([&] {
    heddle::task_group group;
    for (int i = 0; i < 20; ++i) {
      group.run([&] { heddle::parallel_for(0, 100, [&](int) { done.fetch_add(1, std::memory_order_relaxed); }); });
    }
    heddle::semaphore tokens(0);
    heddle::thread waker([&] { tokens.release(); });
    tokens.acquire();
    waker.join();
    group.wait();
  });
  EXPECT_EQ(done.load(), 2000);
}

class asked : public testing::TestWithParam<std::tuple<unsigned, std::string>> {
 protected:
  static heddle::runtime_options options() {
    heddle_test::add_asking_policies();
    heddle::runtime_options o;
    o.workers = std::get<0>(GetParam());
    o.policy = std::get<1>(GetParam());
    return o;
  }
};

TEST_P(asked, ends_what_it_is_given) {
  heddle::runtime rt(options());
  for (int i = 0; i < 20 * heddle_test::stress(); ++i) do_everything(rt);
}

// Entries that are given to a worker that was switched off meanwhile go to the others.
TEST_P(asked, while_workers_are_inactive) {
  if (std::get<1>(GetParam()) == "asking_one") GTEST_SKIP() << "counts on all its workers";
  heddle::runtime rt(options());
  std::atomic<bool> over{false};
  heddle::thread_options there;
  there.where = &rt;
  heddle::thread switching(there, [&] {
    for (unsigned n = 1; !over.load(); n = n % static_cast<unsigned>(rt.workers()) + 1) {
      rt.set_active_workers(n);
      heddle::this_thread::yield();
    }
    rt.set_active_workers(static_cast<unsigned>(rt.workers()));
  });
  for (int i = 0; i < 10 * heddle_test::stress(); ++i) do_everything(rt);
  over = true;
  switching.join();
}

INSTANTIATE_TEST_SUITE_P(workers, asked,
                         testing::Combine(testing::Values(1u, 2u, 4u, 8u), testing::Values("asking", "asking_one")),
                         heddle_test::runtime_name);

// Lets a test see what the mechanism tells: of two workers, the one that has nothing asks the other.
class telling final : public policy {
 public:
  telling() { wants_.asks = true; }
  void start(scheduler& host) override {
    policy::start(host);
    at = &host;
  }
  entry acquire(unsigned self, effort how) noexcept override {
    if (host_->workers() != 2) return 0;
    // the owner may see that it is asked before its next fork does
    if (how == effort::insist) return host_->steal(self, 1 - self, how);
    host_->ask(self, 1 - self);
    return host_->given(self);
  }
  static inline scheduler* at{nullptr};
};

TEST(asking, an_owner_sees_who_asks_and_what_it_has) {
  static const bool added = [] {
    add({"telling", "of a test", [](parameters&) -> std::unique_ptr<policy> { return create<telling>(); }});
    return true;
  }();
  static_cast<void>(added);
  heddle::runtime rt({.workers = 2, .policy = "telling"});
  const auto rank = [] { return heddle::worker::worker::current().rank; };
  std::atomic<unsigned> other{0};
  rt.run([&] {
    const unsigned self = rank();
    // It may have been given this very fork; then it asks anew when that has ended.
    heddle::parallel_invoke(
        [&] {
          while (telling::at->askers(self) == 0) heddle::this_thread::pause();
          EXPECT_EQ(telling::at->askers(self), 1u);
          EXPECT_EQ(heddle::detail::loop_askers(), 1u);
          EXPECT_TRUE(telling::at->asks(1 - self, self));
          EXPECT_FALSE(telling::at->ask(self, self)) << "nobody robs himself";
          // It gets the next fork, too: by name, or by force if its request was counted before it could be seen.
          heddle::parallel_invoke(
              [&] {
                while (other.load() == 0) heddle::this_thread::pause();
              },
              [&] { other = rank() + 1; });
          EXPECT_EQ(other.load(), 2 - self);
        },
        [] {});
  });
}

TEST(asking, tells_length_and_oldest_entry) {
  static const bool added = [] {
    add({"telling_one", "of a test", [](parameters&) -> std::unique_ptr<policy> { return create<telling>(); }});
    return true;
  }();
  static_cast<void>(added);
  heddle::runtime rt({.workers = 1, .policy = "telling_one"});
  rt.run([&] {
    heddle::task_group group;
    int ran = 0;
    for (int i = 0; i < 3; ++i) group.run([&] { ++ran; });
    EXPECT_EQ(telling::at->queued(0), 3u);
    group.wait();
    EXPECT_EQ(ran, 3);
    EXPECT_EQ(telling::at->queued(0), 0u);
    EXPECT_EQ(telling::at->oldest(0), 0u);
  });
}

// A policy that has not said that it asks.
struct silent final : policy {
  void start(scheduler& host) override {
    policy::start(host);
    at = &host;
  }
  entry acquire(unsigned, effort) noexcept override { return 0; }
  static inline scheduler* at{nullptr};
};

TEST(asking, is_to_be_wanted) {
  add({"silent", "of a test", [](parameters&) -> std::unique_ptr<policy> { return create<silent>(); }});
  const heddle::runtime rt({.workers = 2, .policy = "silent"});
  EXPECT_FALSE(silent::at->ask(0, 1));
  EXPECT_FALSE(silent::at->asks(0, 1));
  EXPECT_FALSE(silent::at->withdraw(0, 1));
  EXPECT_EQ(silent::at->askers(1), 0u);
  EXPECT_EQ(silent::at->given(0), 0u);
}

}  // namespace
}  // namespace asking_test
