// AATS and its rivals: the tasks that workers of a host that is not real take (Algorithm 9), batches, divide and
// conquer, snatching.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <heddle/runtime.hpp>

#include "policy/asymmetric/aats.hpp"
#include "support/idle_host.hpp"

namespace aats_test {
namespace {

using namespace heddle::policy;

// --- what workers take ---

class unlike_host final : public heddle_test::idle_host {
 public:
  explicit unlike_host(std::vector<double> given)
      : idle_host(static_cast<unsigned>(given.size())), speeds(std::move(given)) {}
  double speed(unsigned worker) const noexcept override { return speeds[worker]; }
  entry entry_of(task& t) noexcept override { return reinterpret_cast<entry>(&t); }
  void interrupt(unsigned victim) noexcept override { interrupted.push_back(victim); }
  bool all_idle() const noexcept override { return idle; }
  bool wake(unsigned rank) noexcept override {
    woken.push_back(rank);
    return true;
  }
  void remark(unsigned, const char* text, std::uint64_t) noexcept override { remarks.emplace_back(text); }

  std::vector<unsigned> interrupted, woken;
  std::vector<std::string> remarks;
  bool idle{false};
  std::vector<double> speeds;
};

// A program over the policy: classes are labels, and a worker takes, ends and is asked by hand.
struct scene {
  explicit scene(std::vector<double> speeds, aats::across groups = aats::across::prefer) : host(std::move(speeds)) {
    aats::options o{};
    o.groups = groups;
    o.weights = class_weights::processor_time;
    o.classes = 16;
    o.hold = 3;
    o.step = 0.125;
    made = create<aats>(o);
    made->start(host);
  }
  aats& policy() { return static_cast<aats&>(*made); }

  task& spawn(const char& label, task* parent = nullptr) {
    tasks.push_back(std::make_unique<task>());
    task& t = *tasks.back();
    const task_info info{.made = t,
                         .parent = parent,
                         .label = &label,
                         .work = 0,
                         .group_work = 0,
                         .bytes = 0,
                         .index = 0,
                         .siblings = 0,
                         .group_data = nullptr};
    last = policy().spawn(0, info);
    if (last == placement::send) policy().enqueue(0, t);
    return t;
  }
  task* take(unsigned worker) { return reinterpret_cast<task*>(policy().acquire(worker, effort::insist)); }
  void end(unsigned worker, task& t, std::uint64_t time) {
    task_usage what;
    what.processor_time = {time, source::clock};
    policy().used(worker, t, what);
    policy().task_end(worker, t);
  }
  // `count` tasks of a class, dealt out to all workers, each as long as the worker's speed says.
  void teach(const char& label, std::uint64_t time, int count = 8) {
    for (int i = 0; i < count; ++i) {
      spawn(label);
      auto worker = static_cast<unsigned>(i) % host.workers();
      task* t = take(worker);
      // a worker that helps nobody leaves it to another one
      for (unsigned tried = 0; t == nullptr && tried < host.workers(); ++tried) t = take(worker = tried);
      ASSERT_NE(t, nullptr);
      end(worker, *t, static_cast<std::uint64_t>(static_cast<double>(time) / host.speed(worker)));
    }
    policy().beat();
  }

  unlike_host host;
  std::unique_ptr<heddle::policy::policy> made;
  std::vector<std::unique_ptr<task>> tasks;
  placement last{};
};

constexpr char heavy = 0, light = 0, middle = 0;

TEST(aats_takes, heavy_classes_on_fast_workers_and_light_ones_on_slow_workers) {
  scene s({1, 0.5});
  s.teach(heavy, 1000);
  s.teach(light, 200);
  task &a = s.spawn(light), &b = s.spawn(heavy);
  EXPECT_EQ(s.take(0), &b);
  EXPECT_EQ(s.take(1), &a);
}

// Algorithm 9: a worker whose cluster is empty helps the slower groups first, the next slower one before the others.
TEST(aats_takes, from_the_weaker_first) {
  scene s({1, 0.6, 0.3});
  s.teach(heavy, 1000, 12);
  s.teach(middle, 600, 12);
  s.teach(light, 300, 12);
  const auto made = [&] { return std::array{&s.spawn(heavy), &s.spawn(middle), &s.spawn(light)}; };
  auto [h, m, l] = made();
  EXPECT_EQ(s.take(0), h);
  EXPECT_EQ(s.take(0), m);
  EXPECT_EQ(s.take(0), l);
  std::tie(h, m, l) = std::tuple_cat(made());
  EXPECT_EQ(s.take(1), m);
  EXPECT_EQ(s.take(1), l);
  EXPECT_EQ(s.take(1), h);
  std::tie(h, m, l) = std::tuple_cat(made());
  EXPECT_EQ(s.take(2), l);
  EXPECT_EQ(s.take(2), m);
  EXPECT_EQ(s.take(2), h);
}

TEST(aats_np, leaves_other_groups_alone) {
  scene s({1, 0.5}, aats::across::none);
  s.teach(heavy, 1000);
  s.teach(light, 200);
  s.policy().beat();
  task& a = s.spawn(light);
  EXPECT_EQ(s.take(0), nullptr);
  EXPECT_FALSE(s.policy().may_find(0));
  EXPECT_TRUE(s.policy().may_find(1));
  EXPECT_EQ(s.host.woken.back(), 1u);
  EXPECT_EQ(s.take(1), &a);
}

TEST(aats_takes, from_any_pool_while_a_class_is_unknown) {
  scene s({1, 0.5}, aats::across::none);
  task& a = s.spawn(heavy);
  EXPECT_EQ(s.take(1), &a);
  s.end(1, a, 10);
  s.policy().beat();
  EXPECT_EQ(s.take(0), nullptr);
  task& b = s.spawn(heavy);
  EXPECT_EQ(s.take(1), &b) << "one group is not known yet";
}

// The long tasks of the own cluster first, so that short ones are left for slow workers that help at the end.
TEST(aats_takes, long_tasks_first_and_helps_faster_groups_with_short_ones) {
  scene s({1, 0.25});
  s.teach(heavy, 1000);
  s.teach(middle, 900);
  s.teach(light, 100);
  for (const char* label : {&middle, &heavy, &middle, &heavy}) s.spawn(*label);
  task* const first = s.take(0);
  EXPECT_EQ(static_cast<task_class*>(first->tag)->label, &heavy);
  task* const helped = s.take(1);
  EXPECT_EQ(static_cast<task_class*>(helped->tag)->label, &middle);
}

// A core has become as slow as the slowest ones, so there are two groups where there were three.
TEST(aats_np, leaves_no_class_behind_when_groups_change) {
  scene s({1, 0.6, 0.3}, aats::across::none);
  s.teach(heavy, 1000, 12);
  s.teach(middle, 600, 12);
  s.teach(light, 300, 12);
  s.host.speeds[1] = 0.3;
  s.policy().workers_changed();
  for (const char* label : {&heavy, &middle, &light}) s.spawn(*label);
  unsigned taken = 0;
  for (int round = 0; round < 3; ++round) {
    for (unsigned w = 0; w < 3; ++w) taken += s.take(w) != nullptr;
  }
  EXPECT_EQ(taken, 3u);
}

TEST(aats_takes, nothing_of_a_batch_before_it_is_made) {
  scene s({1, 0.5});
  s.teach(heavy, 1000);
  s.teach(light, 200);
  task owner;
  group_info group{.work = 0, .bytes = 0, .children = 0, .expected = 0, .owner = owner, .data = nullptr};
  s.policy().next_iteration(0, owner, &heavy);
  for (int i = 0; i < 8; ++i) s.spawn(light);
  s.spawn(heavy);
  EXPECT_EQ(s.take(0), nullptr);
  EXPECT_FALSE(s.policy().may_find(1));
  s.policy().group_wait(0, group);
  EXPECT_TRUE(s.policy().may_find(1));
  EXPECT_EQ(s.host.woken.back(), 1u);
  EXPECT_NE(s.take(0), nullptr);
}

// The maker of the batch waits for something else than its group.
TEST(aats_takes, from_a_batch_whose_maker_takes_too_long) {
  for (const bool idle : {false, true}) {
    scene s({1, 0.5});
    s.teach(heavy, 1000);
    task owner;
    s.policy().next_iteration(0, owner, &heavy);
    task& t = s.spawn(heavy);
    s.host.idle = idle;
    for (int i = 0; i < (idle ? 1 : 3); ++i) {
      EXPECT_EQ(s.take(0), nullptr);
      s.policy().beat();
    }
    EXPECT_EQ(s.take(0), &t);
  }
}

TEST(aats_leaves, divide_and_conquer_to_random_stealing) {
  scene s({1, 0.5});
  task& t = s.spawn(heavy);
  EXPECT_EQ(s.last, placement::send);
  EXPECT_EQ(s.take(0), &t);
  s.spawn(heavy, &t);
  EXPECT_EQ(s.last, placement::child_first);
  s.spawn(heavy);
  EXPECT_EQ(s.last, placement::child_first) << "the class is known for it";
  ASSERT_FALSE(s.host.remarks.empty());
  EXPECT_NE(s.host.remarks.back().find("their own class"), std::string::npos);
  s.spawn(light, &t);
  EXPECT_EQ(s.last, placement::send) << "another class is not";
}

TEST(aats_makes, tasks_parent_first_where_cores_are_alike) {
  scene s({1, 1, 0.95});
  s.spawn(heavy);
  EXPECT_EQ(s.last, placement::parent_first);
}

// The thief is idle, the slow worker's task is the longest, and it is interrupted for the thief.
TEST(aats_ts, snatches_the_longest_task_of_a_slower_worker) {
  scene s({1, 0.5, 0.5}, aats::across::snatch);
  s.teach(heavy, 1000, 12);
  s.teach(light, 200, 12);
  task &l = s.spawn(light), *const at_2 = s.take(2);
  task &h = s.spawn(heavy), *const at_1 = s.take(1);
  ASSERT_EQ(at_2, &l);
  ASSERT_EQ(at_1, &h);
  EXPECT_EQ(s.take(0), nullptr);
  ASSERT_EQ(s.host.interrupted, std::vector<unsigned>{1});
  EXPECT_EQ(s.policy().preempted(2, l), placement::stay) << "nobody claims it";
  ASSERT_EQ(s.policy().preempted(1, h), placement::send);
  s.policy().enqueue(1, h);
  EXPECT_EQ(s.host.woken.back(), 0u);
  EXPECT_EQ(s.take(0), &h);
  EXPECT_EQ(s.policy().preempted(2, l), placement::stay);
}

TEST(aats_ts, leaves_the_task_if_the_thief_has_found_something) {
  scene s({1, 0.5}, aats::across::snatch);
  s.teach(heavy, 1000);
  task &h = s.spawn(heavy), *const at_1 = s.take(1);
  ASSERT_EQ(at_1, &h);
  EXPECT_EQ(s.take(0), nullptr);
  s.spawn(heavy);
  EXPECT_NE(s.take(0), nullptr);
  EXPECT_EQ(s.policy().preempted(1, h), placement::stay);
}

TEST(aats_ts, says_which_tasks_cannot_be_snatched) {
  scene s({1, 0.5}, aats::across::snatch);
  s.teach(heavy, 1000);
  s.spawn(heavy);
  ASSERT_NE(s.take(1), nullptr);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(s.take(0), nullptr);
  EXPECT_TRUE(std::any_of(s.host.remarks.begin(), s.host.remarks.end(), [](const std::string& text) {
    return text.find("cannot be preempted") != std::string::npos;
  }));
}

TEST(aats_takes, threads_that_are_nobodys_children_on_the_fastest_workers) {
  scene s({0.5, 1});
  task root;
  s.policy().started(nobody, {.made = root,
                              .parent = nullptr,
                              .label = &heavy,
                              .work = 0,
                              .group_work = 0,
                              .bytes = 0,
                              .index = 0,
                              .siblings = 0,
                              .group_data = nullptr});
  s.policy().enqueue(nobody, root);
  EXPECT_EQ(s.host.woken.back(), 1u);
  EXPECT_EQ(s.policy().acquire(0, effort::glance), 0u);
  EXPECT_EQ(s.take(0), &root) << "if nobody faster comes";
}

// A program that calls run() again and again has a root each time, which is no task of a class.
TEST(aats_learns, nothing_of_roots) {
  scene s({1, 0.5}, aats::across::none);
  task root;
  s.policy().started(nobody, {.made = root,
                              .parent = nullptr,
                              .label = &middle,
                              .work = 0,
                              .group_work = 0,
                              .bytes = 0,
                              .index = 0,
                              .siblings = 0,
                              .group_data = nullptr});
  s.policy().enqueue(nobody, root);
  ASSERT_EQ(s.take(0), &root);
  s.end(0, root, 1'000'000);
  s.teach(heavy, 1000);
  s.teach(light, 200);
  task& a = s.spawn(light);
  EXPECT_EQ(s.take(0), nullptr) << "the warm-up is over, though a root is known on one group alone";
  EXPECT_EQ(s.take(1), &a);
}

TEST(aats_parameters, are_checked) {
  const auto message = [](const char* policy) -> std::string {
    try {
      heddle::runtime rt({.workers = 1, .policy = policy});
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message("aats:speeds=1:nan").find("speeds"), std::string::npos);
  EXPECT_NE(message("aats:speeds=1:0").find("above 0"), std::string::npos);
  EXPECT_NE(message("aats:weights=cpi").find("weights"), std::string::npos);
  EXPECT_NE(message("aats-np:hold=0").find("hold"), std::string::npos);
  EXPECT_EQ(message("aats:speeds=1:0.5"), "");
}

}  // namespace
}  // namespace aats_test
