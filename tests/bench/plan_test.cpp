#include "bench/driver/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace heddle::bench {
namespace plan_test {
namespace {

using testing::ElementsAre;

std::map<std::string, program> programs() {
  const auto make = [](const char* runtime, std::map<std::string, kernel_size> kernels) {
    return program{runtime, std::string("/nowhere/heddle-bench-") + runtime, "", "", std::move(kernels)};
  };
  return {{"serial", make("serial", {{"fib", {35, 0}}, {"rendezvous", {20000, 0}}})},
          {"heddle", make("heddle", {{"fib", {35, 0}}, {"rendezvous", {20000, 0}}})},
          {"tbb", make("tbb", {{"fib", {32, 0}}, {"rendezvous", {20000, 0}}})},
          {"boost_fiber", make("boost_fiber", {{"fib", {20, 22}}})},
          {"futex", make("futex", {{"rendezvous", {20000, 0}}})}};
}

request asked(std::vector<std::string> rivals, std::vector<unsigned> workers) {
  request r;
  r.rivals = std::move(rivals);
  r.workers = std::move(workers);
  return r;
}

std::vector<std::string> described(const std::vector<job>& jobs) {
  std::vector<std::string> names;
  for (const job& j : jobs)
    names.push_back(j.executable->runtime + "/" + std::to_string(j.workers) + "/" + std::to_string(j.n) +
                    (j.policy.empty() ? "" : "/" + j.policy) + (j.reference ? "/reference" : ""));
  return names;
}

TEST(plan, heddle_and_serial_run_without_being_asked_for) {
  const auto all = programs();
  EXPECT_THAT(described(plan("fib", asked({}, {1, 2}), all)), ElementsAre("serial/1/35", "heddle/1/35", "heddle/2/35"));
}

TEST(plan, every_size_has_a_serial_result) {
  const auto all = programs();
  EXPECT_THAT(described(plan("fib", asked({"all"}, {2}), all)),
              ElementsAre("serial/1/35", "heddle/2/35", "boost_fiber/2/20", "tbb/2/32", "serial/1/20/reference",
                          "serial/1/32/reference"));
}

TEST(plan, a_given_size_is_cut_to_what_a_runtime_can_take) {
  const auto all = programs();
  request r = asked({"all"}, {1});
  r.n = 30;
  EXPECT_THAT(described(plan("fib", r, all)),
              ElementsAre("serial/1/30", "heddle/1/30", "boost_fiber/1/22", "tbb/1/30", "serial/1/22/reference"));
}

TEST(plan, policies_are_heddles_alone) {
  const auto all = programs();
  request r = asked({"tbb"}, {2});
  r.policies = {"random_ws", "adws"};
  r.n = 10;
  EXPECT_THAT(described(plan("fib", r, all)),
              ElementsAre("serial/1/10", "heddle/2/10/random_ws", "heddle/2/10/adws", "tbb/2/10"));
}

TEST(plan, the_rendezvous_takes_two_workers_and_the_floor) {
  const auto all = programs();
  EXPECT_THAT(described(plan("rendezvous", asked({"none"}, {1, 2}), all)),
              ElementsAre("serial/1/20000", "heddle/2/20000", "futex/2/20000"));
}

TEST(plan, unknown_names_are_told_with_the_valid_ones) {
  const auto all = programs();
  request r;
  r.kernels = {"fob"};
  try {
    check(r, all);
    FAIL() << "fob passed";
  } catch (const unknown_name& e) {
    EXPECT_EQ(e.argument, "KERNEL");
    EXPECT_EQ(e.given, "fob");
    EXPECT_THAT(e.valid, ElementsAre("fib", "rendezvous"));
  }
  r.kernels = {"fib"};
  r.rivals = {"tbd"};
  try {
    check(r, all);
    FAIL() << "tbd passed";
  } catch (const unknown_name& e) {
    EXPECT_EQ(e.argument, "--rivals");
    EXPECT_THAT(e.valid, testing::Contains("tbb"));
    EXPECT_THAT(e.valid, testing::Not(testing::Contains("serial")));
  }
  r.rivals = {"all"};
  EXPECT_NO_THROW(check(r, all));
}

TEST(plan, a_job_passes_everything_on) {
  const auto all = programs();
  request r = asked({}, {2});
  r.policies = {"adws"};
  r.samples = 3;
  r.iterations = 7;
  r.columns = 50;
  r.leaf = 4;
  r.input = "a.mtx";
  r.level = "-0.5";
  r.variant = "hot";
  const auto jobs = plan("fib", r, all);
  EXPECT_THAT(jobs[1].arguments(r),
              ElementsAre("--kernel", "fib", "--n", "35", "--workers", "2", "--samples", "3", "--warmup", "1",
                          "--iterations", "7", "--columns", "50", "--leaf", "4", "--input", "a.mtx", "--level", "-0.5",
                          "--policy", "adws", "--variant", "hot"));
}

TEST(rejoined_policies, keep_their_parameters) {
  EXPECT_THAT(rejoined_policies({"sb:sigma=0.5", "mu=0.2", "random_ws", "x:a=1"}),
              ElementsAre("sb:sigma=0.5,mu=0.2", "random_ws", "x:a=1"));
  EXPECT_THAT(rejoined_policies({}), ElementsAre());
  EXPECT_THAT(rejoined_policies({"a=1"}), ElementsAre("a=1"));
}

TEST(job, passes_placement_and_wrong_hints_on) {
  request r;
  job j;
  j.kernel = "heat2d";
  const auto has = [&](const std::string& text) {
    const auto all = j.arguments(r);
    return std::find(all.begin(), all.end(), text) != all.end();
  };
  EXPECT_FALSE(has("--touch"));
  EXPECT_FALSE(has("--alpha"));
  r.touch = "interleave";
  r.alpha = "random:10";
  EXPECT_TRUE(has("--touch") && has("interleave"));
  EXPECT_TRUE(has("--alpha") && has("random:10"));
  EXPECT_FALSE(has("--shrink") || has("--leaf-rate"));
  r.shrink = 8;
  r.leaf_rate = 32;
  EXPECT_TRUE(has("--shrink") && has("8") && has("--leaf-rate") && has("32"));
}

}  // namespace
}  // namespace plan_test
}  // namespace heddle::bench
