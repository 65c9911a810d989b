// The rules for a policy at a tick (policy/policy.hpp): all of heddle's policies keep them, and an audit build stops
// one that does not.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>

#include "base/audit.hpp"
#include "policy/registry.hpp"
#include "support/runtimes.hpp"

namespace audit_test {
namespace {

using namespace std::chrono_literals;
using heddle::preemption;

enum class carelessness { none, in_pick, in_ready, in_acquire };
carelessness kind = carelessness::none;

void allocate_if(carelessness where) {
  if (kind != where) return;
  void* volatile block = std::malloc(24);
  std::free(block);
}

// Of a user: one list for all is not needed here, the mechanism's own queues do.
class users_policy final : public heddle::policy::policy {
 public:
  heddle::policy::placement started(unsigned, const heddle::policy::task_info& info) noexcept override {
    info.made.tag = this;  // ready is called for it
    return heddle::policy::placement::stay;
  }
  heddle::policy::entry pick(unsigned, bool) noexcept override {
    allocate_if(carelessness::in_pick);
    return 0;
  }
  heddle::policy::placement ready(unsigned, heddle::policy::task&) noexcept override {
    allocate_if(carelessness::in_ready);
    return heddle::policy::placement::stay;
  }
  heddle::policy::entry acquire(unsigned self, heddle::policy::effort how) noexcept override {
    allocate_if(carelessness::in_acquire);
    for (unsigned victim = 0; victim < host_->workers(); ++victim) {
      if (victim == self) continue;
      if (const auto item = host_->steal(self, victim, how); item != 0) return item;
    }
    return 0;
  }
};

heddle::runtime_options options(const char* policy, unsigned workers) {
  heddle::runtime_options o;
  o.workers = workers;
  o.policy = policy;
  o.preempt = preemption::klt_switching;
  o.preempt_interval = 100us;
  return o;
}

// Two that spin for each other and one that sleeps now and then: ticks choose between ready threads and fire timers.
void spin_and_sleep(const char* policy, unsigned workers) {
  heddle::runtime rt(options(policy, workers));
  std::atomic<int> turn{0};
  heddle::thread_options o;
  o.where = &rt;
  std::vector<heddle::thread> all;
  for (int who = 0; who < 2; ++who) {
    all.emplace_back(o, [&, who] {
      for (int i = 0; i < 20; ++i) {
        while (turn.load() % 2 != who) {
        }
        turn.fetch_add(1);
      }
    });
  }
  all.emplace_back(o, [] {
    for (int i = 0; i < 20; ++i) heddle::this_thread::sleep_for(50us);
  });
  for (auto& t : all) t.join();
  EXPECT_EQ(turn.load(), 40);
}

void add_users_policy() {
  static const bool once = [] {
    heddle::policy::add(
        {"users", "of a test", [](heddle::policy::parameters&) -> std::unique_ptr<heddle::policy::policy> {
           return heddle::policy::create<users_policy>();
         }});
    return true;
  }();
  static_cast<void>(once);
}

TEST(policies_at_ticks, a_users_policy_works) {
  if (heddle_test::thread_sanitized) GTEST_SKIP() << "no preemption under ThreadSanitizer";
  add_users_policy();
  for (const unsigned workers : {1u, 2u, 3u}) spin_and_sleep("users", workers);
}

// In audit builds this aborts when one allocates.
TEST(policies_at_ticks, none_of_heddles_allocates) {
  if (heddle_test::thread_sanitized) GTEST_SKIP() << "no preemption under ThreadSanitizer";
  for (const std::string& policy : heddle_test::all_policies) {
    SCOPED_TRACE(policy);
    const unsigned workers = policy == "serial" ? 1 : 3;
    spin_and_sleep(policy.c_str(), workers);
    heddle::runtime rt(options(policy.c_str(), workers));
    rt.run([] {
      struct tree {
        static long leaves(int depth) {
          if (depth == 0) {
            for (volatile int spin = 0; spin < 2000;) spin = spin + 1;
            return 1;
          }
          long sum = 0;
          heddle::task_group g;
          long parts[3] = {};
          for (int i = 0; i < 3; ++i) g.run([&parts, i, depth] { parts[i] = leaves(depth - 1); });
          g.wait();
          for (const long p : parts) sum += p;
          const auto [a, b] =
              heddle::parallel_invoke([depth] { return leaves(depth - 1); }, [depth] { return leaves(depth - 1); });
          return sum + a + b;
        }
      };
      EXPECT_EQ(tree::leaves(4), 625);
    });
  }
}

#if defined(HEDDLE_AUDITS_MALLOC)
constexpr const char* caught = "malloc\\(\\) was called by .*what a policy may do there";

class careless_policies : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
  static void run(carelessness how) {
    add_users_policy();
    kind = how;
    spin_and_sleep("users", how == carelessness::in_acquire ? 3 : 1);
  }
};

TEST_F(careless_policies, end_in_pick) { EXPECT_DEATH(run(carelessness::in_pick), caught); }
TEST_F(careless_policies, end_in_ready) { EXPECT_DEATH(run(carelessness::in_ready), caught); }
TEST_F(careless_policies, end_in_acquire) { EXPECT_DEATH(run(carelessness::in_acquire), caught); }
#endif

}  // namespace
}  // namespace audit_test
