// A policy at each level of the machine: programs get what they compute, each task runs once, what has gone down to a
// memory group stays in it, and whole groups share what is above.
#include <heddle/iteration.hpp>
#include <heddle/latch.hpp>
#include <heddle/mutex.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "machine/topology.hpp"
#include "policy/levels/machine_part.hpp"
#include "policy/registry.hpp"
#include "support/fib.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"
#include "tools/trace/reading.hpp"

namespace levels_test {
namespace {

using heddle::policy::groups_of_kind;
using heddle::policy::machine_part;
using ::testing::HasSubstr;
namespace machine = heddle::machine;

constexpr std::size_t mb = std::size_t{1} << 20;
// 2 packages with a NUMA node, 2 third caches and 8 workers each
constexpr const char* two_by_two_by_four = "synthetic:pack:2 numa:1 l3:2(size=8388608) l2:4(size=1048576) core:1 pu:1";
constexpr const char* two_by_four = "synthetic:pack:2 l3:1(size=8388608) l2:4(size=1048576) core:1 pu:1";

// --- a part of a machine -----------------------------------------------------------------------------------------

TEST(machine_part, of_a_cache_has_its_workers_and_what_is_below) {
  const auto whole = machine::topology::from_synthetic("pack:2 l3:1(size=8388608) l2:4(size=1048576) core:1 pu:1");
  const std::vector<unsigned> caches = groups_of_kind(whole.view(), 0, machine::group_kind::l3);
  ASSERT_EQ(caches.size(), 2u);
  const machine_part part(whole.view(), caches[1]);
  const machine::view seen = part.view();
  EXPECT_EQ(seen.workers(), 4u);
  EXPECT_EQ(seen.levels(), 2u);
  EXPECT_EQ(seen.root().parent, machine::no_group);
  EXPECT_EQ(seen.root().capacity, machine::unlimited);
  EXPECT_EQ(seen.unit_of(0).number, whole.view().unit_of(4).number);
  for (unsigned w = 0; w < 4; ++w) {
    EXPECT_TRUE(seen.leaf_of(w).has(w));
    EXPECT_EQ(seen.leaf_of(w).capacity, mb);
    EXPECT_EQ(seen.group(seen.leaf_of(w).parent).id, 0u);
  }
  EXPECT_EQ(seen.distance(0, 3), 1u);
}

TEST(machine_part, above_members_has_a_worker_for_each) {
  const auto whole =
      machine::topology::from_synthetic("pack:2 numa:1 l3:2(size=8388608) l2:4(size=1048576) core:1 pu:1");
  const std::vector<unsigned> caches = groups_of_kind(whole.view(), 0, machine::group_kind::l3);
  ASSERT_EQ(caches.size(), 4u);
  const machine_part part(whole.view(), 0, caches);
  const machine::view seen = part.view();
  EXPECT_EQ(seen.workers(), 4u);
  for (unsigned w = 0; w < 4; ++w) {
    EXPECT_TRUE(seen.leaf_of(w).has(w));
    EXPECT_EQ(seen.leaf_of(w).worker_count, 1u);
    EXPECT_EQ(seen.leaf_of(w).kind, machine::group_kind::l3);
    EXPECT_EQ(seen.leaf_of(w).capacity, 8 * mb);
  }
  EXPECT_GT(seen.distance(0, 2), seen.distance(0, 1));
  EXPECT_EQ(seen.unit_of(1).number, whole.view().unit_of(4).number);
}

TEST(machine_part, a_worker_outside_every_such_group_stands_for_itself) {
  const auto whole = machine::topology::from_synthetic("pack:2 l3:1(size=8388608) l2:4(size=1048576) core:1 pu:1");
  EXPECT_EQ(groups_of_kind(whole.view(), 0, machine::group_kind::l5).size(), 8u);
}

// --- what can be given -------------------------------------------------------------------------------------------

std::string refusal(const std::string& text) {
  try {
    heddle::policy::make(text);
  } catch (const std::invalid_argument& wrong) {
    return wrong.what();
  }
  return "";
}

TEST(levels_lines, say_what_cannot_be) {
  EXPECT_EQ(refusal("levels"), "");
  EXPECT_EQ(refusal("levels:l3=random_ws,l2=adws"), "");
  EXPECT_THAT(refusal("levels:l3=adws"), HasSubstr("is one level"));
  EXPECT_THAT(refusal("levels:l3=adws,l2=serial"), HasSubstr("l2=serial is not one of none|random_ws|"));
  EXPECT_THAT(refusal("levels:l3=levels,l2=random_ws"), HasSubstr("is not one of"));
  EXPECT_THAT(refusal("levels:l3=adws,l2=constrained_ws"), HasSubstr("nobody's child"));
  EXPECT_THAT(refusal("levels:l3=adws,l2=locality_ws"), HasSubstr("l2=locality_ws: it tells iterations"));
  EXPECT_EQ(refusal("levels:l3=constrained_ws,l2=random_ws"), "");
  EXPECT_EQ(refusal("levels:l3=locality_ws,l2=random_ws"), "");
  EXPECT_THAT(refusal("levels:numa=adws,l4=adws,l3=adws,l2=adws,l1=adws"), HasSubstr("at most 4"));
  EXPECT_THAT(refusal("levels:l3=adws,l2=random_ws,l7=adws"), HasSubstr("no parameter 'l7'"));
}

// --- programs ----------------------------------------------------------------------------------------------------

std::string name_of(std::string text) {
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return text;
}

heddle::runtime_options on(const std::string& policy, const char* where) {
  heddle::runtime_options options;
  options.policy = policy;
  options.machine = where;
  return options;
}

class levels : public testing::TestWithParam<std::tuple<std::string, const char*>> {
 protected:
  heddle::runtime_options options() const { return on(std::get<0>(GetParam()), std::get<1>(GetParam())); }
};

// Groups in forks in loops in groups; every leaf counts once.
void nest(int depth, std::vector<std::atomic<int>>& leaves, std::size_t from, std::size_t to, bool hints) {
  const std::size_t part = (to - from) / 4;
  if (part == 0) {
    for (std::size_t i = from; i < to; ++i) leaves[i].fetch_add(1);
    return;
  }
  const auto quarter = [&](std::size_t q) {
    nest(depth + 1, leaves, from + q * part, q == 3 ? to : from + (q + 1) * part, hints);
  };
  if (depth % 3 == 0) {
    heddle::task_group group(hints ? 4 : 0.0 / 0.0, hints ? (to - from) * 65536 : 0);
    for (std::size_t q = 0; q < 3; ++q) group.run([&quarter, q] { quarter(q); }, hints ? 1 : 0.0 / 0.0);
    group.run_and_wait([&] { quarter(3); });
  } else if (depth % 3 == 1) {
    heddle::parallel_invoke([&] { quarter(0); }, [&] { quarter(1); }, [&] { quarter(2); }, [&] { quarter(3); });
  } else {
    heddle::parallel_for(std::size_t{0}, std::size_t{4}, quarter, {.grain = 1});
  }
}

TEST_P(levels, run_every_task_of_nested_forks_groups_and_loops_once) {
  heddle_test::watchdog guard("levels");
  heddle::runtime rt(options());
  for (const bool hints : {false, true}) {
    for (int run = 0; run < 10; ++run) {
      std::vector<std::atomic<int>> leaves(2000);
      rt.run([&] { nest(run, leaves, 0, leaves.size(), hints); });
      for (std::size_t i = 0; i < leaves.size(); ++i) ASSERT_EQ(leaves[i].load(), 1) << i;
      guard.progress();
    }
  }
  EXPECT_EQ(rt.run([] { return heddle_test::fib(20); }), 6765);
}

TEST_P(levels, serve_many_roots_waits_between_tasks_and_exceptions) {
  heddle_test::watchdog guard("levels");
  heddle::runtime rt(options());
  std::vector<std::thread> outside;
  std::atomic<int> ran{0};
  for (int t = 0; t < 3; ++t) {
    outside.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        rt.run([&] {
          heddle::latch all(6);
          heddle::mutex lock;
          heddle::task_group group(6, 64 * mb);
          for (int k = 0; k < 6; ++k) {
            group.run(
                [&] {
                  all.arrive_and_wait();  // none of them ends before all have begun
                  heddle::parallel_for(0, 8, [&](int) { ran.fetch_add(1); }, {.grain = 1});
                  std::lock_guard hold(lock);
                  heddle::this_thread::yield();
                },
                1);
          }
          group.wait();
        });
        guard.progress();
      }
    });
  }
  for (std::thread& t : outside) t.join();
  EXPECT_EQ(ran.load(), 3 * 10 * 6 * 8);
  rt.run([&] {
    heddle::task_group group(4, 32 * mb);
    for (int k = 0; k < 4; ++k) {
      group.run(
          [k] {
            heddle::parallel_invoke([] {},
                                    [k] {
                                      if (k == 2) throw std::runtime_error("one");
                                    });
          },
          1);
    }
    EXPECT_THROW(group.wait(), std::runtime_error);
    heddle::thread waiter([&] { EXPECT_EQ(heddle_test::fib(10), 55); });
    waiter.join();
  });
}

// Eight pieces of 4 MB, each of which fits into a third cache and is cut up there: by groups, forks and loops in turn.
TEST_P(levels, keep_in_its_memory_group_what_has_gone_down) {
  heddle_test::watchdog guard("levels");
  heddle::runtime rt(options());
  const unsigned group_size = 4;  // workers that share a third cache, on both machines
  std::set<unsigned> all_groups;
  for (int run = 0; run < 12; ++run) {
    std::vector<std::set<unsigned>> groups(8);
    std::vector<int> leaves(8);
    std::mutex noting;  // held for an instant
    rt.run([&] {
      heddle::task_group whole(8, 64 * mb);
      heddle::latch two(2);  // so that they run at the same time
      for (std::size_t k = 0; k < 8; ++k) {
        whole.run(
            [&, k] {
              if (k % 7 == 0) two.arrive_and_wait();
              const auto leaf = [&] {
                for (volatile int spin = 0; spin < 3000;) spin = spin + 1;
                const std::lock_guard hold(noting);
                groups[k].insert(static_cast<unsigned>(rt.worker_rank()) / group_size);
                ++leaves[k];
              };
              if ((static_cast<std::size_t>(run) + k) % 3 == 0) {
                heddle::parallel_for(0, 16, [&](int) { leaf(); }, {.grain = 1});
              } else {
                const std::function<void(int)> cut = [&](int n) {
                  if (n == 1) return leaf();
                  if ((run + n) % 3 == 1) return heddle::parallel_invoke([&] { cut(n / 2); }, [&] { cut(n / 2); });
                  heddle::task_group group;
                  group.run([&] { cut(n / 2); });
                  group.run([&] { cut(n / 2); });
                  group.wait();
                };
                cut(16);
              }
            },
            1);
      }
      whole.wait();
    });
    for (std::size_t k = 0; k < 8; ++k) {
      EXPECT_EQ(leaves[k], 16) << "piece " << k;
      EXPECT_EQ(groups[k].size(), 1u) << "piece " << k << " of run " << run << " left its memory group";
      all_groups.insert(groups[k].begin(), groups[k].end());
    }
    guard.progress();
  }
  EXPECT_GT(all_groups.size(), 1u) << "the level above gave everything to one group";
}

INSTANTIATE_TEST_SUITE_P(
    combinations, levels,
    testing::Combine(testing::Values("levels:l3=adws,l2=random_ws", "levels:l3=ml-adws,l2=random_ws",
                                     "levels:l3=random_ws,l2=adws", "levels:l3=pdf,l2=work_sharing",
                                     "levels:l3=hierarchical_ws,l2=sb", "levels:l3=constrained_ws,l2=pws",
                                     "levels:numa=random_ws,l3=adws,l2=pdf", "levels:numa=adws,l3=adws,l2=ml-adws"),
                     testing::Values(two_by_four, two_by_two_by_four)),
    [](const auto& info) {
      const bool large = std::string(std::get<1>(info.param)).find("numa") != std::string::npos;
      return name_of(std::get<0>(info.param).substr(7)) + (large ? "_on_16" : "_on_8");
    });

// Above, ADWS gives each of two equal halves to a group of its own; nobody steals, for both groups are busy.
TEST(levels_map, adws_above_lays_out_over_groups) {
  heddle_test::watchdog guard("levels");
  heddle::runtime rt(on("levels:l3=adws,l2=random_ws", two_by_four));
  for (int run = 0; run < 10; ++run) {
    std::atomic<unsigned> first{99}, second{99};
    rt.run([&] {
      heddle::latch both(2);
      heddle::task_group whole(2, 16 * mb);
      const auto half = [&](std::atomic<unsigned>& where) {
        where.store(static_cast<unsigned>(rt.worker_rank()) / 4);
        both.arrive_and_wait();
      };
      whole.run([&] { half(first); }, 1);
      whole.run([&] { half(second); }, 1);
      whole.wait();
    });
    EXPECT_EQ(first.load(), 1u) << "the upper half of the line";
    EXPECT_EQ(second.load(), 0u);
    guard.progress();
  }
}

// A loop inside the outermost group is many iterations for the policy above if it is marked.
TEST(levels_map, marks_reach_the_outermost_policy) {
  heddle_test::watchdog guard("levels");
  const std::string file = testing::TempDir() + "levels_marks.heddle";
  for (const bool marked : {false, true}) {
    std::atomic<int> ran{0};
    {
      heddle::runtime_options options = on("levels:l3=constrained_ws,l2=random_ws", two_by_four);
      options.trace = file;
      heddle::runtime rt(options);
      rt.run([&] {
        heddle::task_group outermost;
        heddle::latch begun(1);  // as long as that child lives nothing is recorded
        outermost.run([&] {
          ran.fetch_add(1);
          begun.count_down();
        });
        begun.wait();
        for (int i = 0; i < 40; ++i) {
          if (marked) heddle::next_iteration();
          heddle::task_group group(8, 64 * mb);
          for (int k = 0; k < 8; ++k)
            group.run([&] { heddle::parallel_for(0, 8, [&](int) { ran.fetch_add(1); }, {.grain = 1}); }, 1);
          group.wait();
        }
        outermost.wait();
      });
    }
    EXPECT_EQ(ran.load(), 1 + 40 * 64);
    int iterations = 0;
    const auto recording = heddle::trace::load(file);
    for (const auto& log : recording.workers) {
      for (const auto& r : log.records)
        iterations += r.event == heddle::trace::event::policy_note &&
                              recording.texts.at(r.arg) == "constrained_ws: RelWS iteration; pieces that moved"
                          ? 1
                          : 0;
    }
    EXPECT_EQ(iterations > 0, marked);
    guard.progress();
  }
  std::remove(file.c_str());
}

// Without bytes, a program is cut into pieces by its structure, and all groups get some.
TEST(levels_map, without_bytes_all_groups_take_part) {
  heddle_test::watchdog guard("levels");
  heddle::runtime rt(on("levels:l3=random_ws,l2=random_ws", two_by_four));
  std::set<unsigned> groups;
  for (int run = 0; run < 200 && groups.size() < 2; ++run) {
    std::mutex noting;
    rt.run([&] {
      heddle::parallel_for(0, 256,
                           [&](int) {
                             for (volatile int spin = 0; spin < 3000;) spin = spin + 1;
                             const std::lock_guard hold(noting);
                             groups.insert(static_cast<unsigned>(rt.worker_rank()) / 4);
                           },
                           {.grain = 1});
    });
    guard.progress();
  }
  EXPECT_EQ(groups.size(), 2u);
}

TEST(levels_map, a_machine_without_such_levels_has_the_last_policy_alone) {
  heddle_test::watchdog guard("levels");
  heddle::runtime rt(on("levels:l3=adws,l2=random_ws", "synthetic:l3:1(size=8388608) l2:4(size=1048576) core:1 pu:1"));
  std::set<int> ranks;
  for (int run = 0; run < 200 && ranks.size() < 2; ++run) {
    std::mutex noting;
    rt.run([&] {
      heddle::parallel_for(0, 64,
                           [&](int) {
                             for (volatile int spin = 0; spin < 3000;) spin = spin + 1;
                             const std::lock_guard hold(noting);
                             ranks.insert(rt.worker_rank());
                           },
                           {.grain = 1});
    });
    guard.progress();
  }
  EXPECT_GT(ranks.size(), 1u);
}

}  // namespace
}  // namespace levels_test
