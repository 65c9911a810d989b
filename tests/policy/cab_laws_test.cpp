// The properties that CAB and LAWS alone have: subtrees that stay within a socket, one at a time; places that
// iterations keep; programs that change.
#include <heddle/iteration.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace cab_laws_test {
namespace {

constexpr const char* two_pairs = "pack:2 l3:1(size=65536) l2:2(size=4096) core:1 pu:1";

heddle::runtime_options on(const std::string& policy, const char* machine = two_pairs) {
  heddle::runtime_options options;
  options.policy = policy;
  options.machine = std::string("synthetic:") + machine;
  return options;
}

// Leaves [first, first + count) of a binary tree; work(leaf) on each.
template <class Work>
void halves(unsigned first, unsigned count, std::size_t bytes, const Work& work) {
  if (count == 1) return work(first);
  heddle::parallel_invoke(
      heddle::work_hint{1, 1, bytes}, [&] { halves(first, count / 2, bytes / 2, work); },
      [&] { halves(first + count / 2, count - count / 2, bytes / 2, work); });
}

class one_subtree : public testing::TestWithParam<std::string> {};

// A subtree of eight leaves is a leaf inter-socket task here: all its leaves run on one socket.
TEST_P(one_subtree, stays_within_a_socket) {
  heddle_test::watchdog guard("cab");
  heddle::runtime rt(on(GetParam()));
  ASSERT_EQ(rt.workers(), 4u);
  for (int iteration = 0; iteration < 100; ++iteration) {
    std::vector<int> socket(32, -1);
    rt.run([&] {
      halves(0, 32, 1 << 18, [&](unsigned leaf) {
        ASSERT_EQ(socket[leaf], -1) << "each leaf runs once";
        socket[leaf] = rt.worker_rank() / 2;
      });
    });
    for (unsigned leaf = 0; leaf < 32; ++leaf) EXPECT_EQ(socket[leaf], socket[leaf / 8 * 8]) << leaf;
    guard.progress();
  }
}

// Level 3 of 256 KB has 64 KB, which is what a socket's cache holds.
INSTANTIATE_TEST_SUITE_P(policies, one_subtree,
                         testing::Values("cab-fto", "cab-fto:level=3", "cab-fto:bytes=262144", "cab-gto:cmpi=0",
                                         "cab-gto:soid=declared,cmpi=0", "cab-gto:soid=branching,cmpi=0"),
                         [](const auto& info) { return "of_" + std::to_string(info.index); });

TEST(cab, cuts_where_each_socket_has_a_task_though_all_fits_into_one_cache) {
  heddle_test::watchdog guard("cab");
  for (const char* policy : {"cab-gto", "cab-fto"}) {
    heddle::runtime rt(on(policy));
    std::atomic<int> arrived{0};
    rt.run([&] {
      halves(0, 2, 512, [&](unsigned) {  // the two leaves meet: two sockets run them
        arrived.fetch_add(1);
        while (arrived.load() < 2) {
        }
      });
    });
    EXPECT_EQ(arrived.load(), 2) << policy;
    guard.progress();
  }
}

// The book's partition has no such bound: what fits into one cache stays within one socket.
TEST(cab, literally_keeps_small_programs_within_one_socket) {
  heddle::runtime rt(on("cab-gto:bound=0,cmpi=0"));
  for (int iteration = 0; iteration < 50; ++iteration) {
    std::vector<int> socket(8, -1);
    rt.run([&] { halves(0, 8, 512, [&](unsigned leaf) { socket[leaf] = rt.worker_rank() / 2; }); });
    for (const int s : socket) EXPECT_EQ(s, socket[0]);
  }
}

// Level 0 and one socket are plain stealing: all workers may meet.
TEST(cab, is_plain_stealing_where_there_is_nothing_to_cut) {
  heddle_test::watchdog guard("cab");
  for (const char* policy : {"cab-fto:level=0", "cab-fto:sockets=1", "cab-gto:sockets=1", "laws:sockets=1"}) {
    heddle::runtime rt(on(policy));
    std::atomic<int> arrived{0};
    rt.run([&] {
      halves(0, 4, 1 << 20, [&](unsigned) {
        arrived.fetch_add(1);
        while (arrived.load() < 4) {
        }
      });
    });
    EXPECT_EQ(arrived.load(), 4) << policy;
    guard.progress();
  }
}

// A program that touches no memory that anybody knows of: after some iterations it is left to plain stealing, where all
// workers may meet in what had been one socket's subtree.
TEST(cab_laws, programs_that_compute_are_left_to_plain_stealing) {
  heddle_test::watchdog guard("cab");
  for (const char* policy : {"cab-gto", "cab-gto:soid=profile", "laws", "laws-nc"}) {
    heddle::runtime rt(on(policy));
    for (int iteration = 0; iteration < 12; ++iteration) {
      rt.run([&] { halves(0, 64, 0, [](unsigned) {}); });
      guard.progress();
    }
    std::atomic<int> arrived{0};
    rt.run([&] {
      halves(0, 4, 0, [&](unsigned) {
        arrived.fetch_add(1);
        while (arrived.load() < 4) {
        }
      });
    });
    EXPECT_EQ(arrived.load(), 4) << policy;
    guard.progress();
  }
}

// Inter-socket tasks above the cut wait for their children, on every socket at once.
TEST(cab, sockets_do_not_wait_for_each_other) {
  heddle_test::watchdog guard("cab");
  for (const char* policy : {"cab-fto:level=4", "cab-gto:soid=branching,bytes=524288"}) {
    heddle::runtime rt(on(policy));
    for (int iteration = 0; iteration < 100; ++iteration) {
      std::atomic<int> leaves{0};
      const auto grow = [&](const auto& self, int levels) -> void {
        if (levels == 0) return static_cast<void>(leaves.fetch_add(1));
        heddle::task_group group;
        for (int i = 0; i < 2; ++i) group.run([&] { self(self, levels - 1); });
        group.wait();
      };
      rt.run([&] { grow(grow, 5); });
      EXPECT_EQ(leaves.load(), 32);
      guard.progress();
    }
  }
}

// A leaf inter-socket task waits for one that its busy socket could not begin.
TEST(cab, tasks_that_wait_for_each_other_otherwise_than_by_groups_go_on) {
  heddle_test::watchdog guard("cab");
  for (const char* policy : {"cab-fto", "cab-gto:soid=declared", "laws", "laws-nc"}) {
    heddle::runtime rt(on(policy));
    for (int iteration = 0; iteration < 20; ++iteration) {
      heddle::semaphore ready(0);
      std::atomic<int> done{0};
      rt.run([&] {
        heddle::task_group group;
        group.expect(4);
        for (int i = 0; i < 3; ++i) {
          group.run([&] {
            ready.acquire();
            done.fetch_add(1);
          });
        }
        group.run([&] { ready.release(3); });
        group.wait();
      });
      EXPECT_EQ(done.load(), 3) << policy;
      guard.progress();
    }
  }
}

class laws_places : public testing::TestWithParam<std::string> {};

// The first half of the leaves belongs to the first socket, in every iteration, the first one included.
TEST_P(laws_places, stay_the_same) {
  heddle_test::watchdog guard("laws");
  heddle::runtime rt(on(GetParam()));
  unsigned elsewhere = 0;
  rt.run([&] {
    for (int iteration = 0; iteration < 40; ++iteration) {
      std::vector<int> socket(32, -1);
      halves(0, 32, 1 << 18, [&](unsigned leaf) { socket[leaf] = rt.worker_rank() / 2; });
      for (unsigned leaf = 0; leaf < 32; ++leaf) {
        if (iteration == 0) {
          EXPECT_EQ(socket[leaf], static_cast<int>(leaf / 16)) << leaf;
        } else {
          elsewhere += socket[leaf] != static_cast<int>(leaf / 16) ? 1 : 0;  // stolen as whole subtrees
        }
      }
      guard.progress();
    }
  });
  EXPECT_LT(elsewhere, 39u * 32) << "not all of them";
}

INSTANTIATE_TEST_SUITE_P(policies, laws_places,
                         testing::Values("laws:cmpi=0", "laws:repeats=1,cmpi=0", "laws:repeats=0,cmpi=0",
                                         "laws-nc:cmpi=0"),
                         [](const auto& info) { return "of_" + std::to_string(info.index); });

// By groups, whose number of children is told or known from the iteration before.
TEST(laws, places_children_of_groups_by_their_numbers) {
  heddle_test::watchdog guard("laws");
  heddle::runtime rt(on("laws"));
  rt.run([&] {
    std::vector<int> socket(8, -1);
    heddle::task_group group;
    group.expect(8);
    for (unsigned i = 0; i < 8; ++i) group.run([&, i] { socket[i] = rt.worker_rank() / 2; });
    group.wait();
    for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(socket[i], static_cast<int>(i / 4)) << i;
    guard.progress();
  });
}

// Shapes that change from one iteration to the next, marked or not; several programs at once.
TEST(cab_laws, programs_that_change_lose_nothing) {
  heddle_test::watchdog guard("laws");
  for (const char* policy : {"laws:repeats=1", "laws-nc:pieces=1", "cab-gto:soid=profile", "cab-fto:level=4"}) {
    heddle::runtime rt(on(policy));
    for (const bool marked : {false, true}) {
      std::atomic<unsigned> leaves{0};
      unsigned expected = 0;
      rt.run([&] {
        for (unsigned iteration = 0; iteration < 30; ++iteration) {
          if (marked) heddle::next_iteration();
          const unsigned n = 1 + iteration * 7 % 23;
          halves(0, n, 1 << 16, [&](unsigned) { leaves.fetch_add(1); });
          heddle::task_group group;
          for (unsigned i = 0; i < n; ++i) {
            group.run([&] { heddle::parallel_for(0, 40, [&](int) { leaves.fetch_add(1); }); });
          }
          group.wait();
          expected += 41 * n;
          guard.progress();
        }
      });
      EXPECT_EQ(leaves.load(), expected) << policy;
    }
  }
}

// Counts of workers that no number of sockets divides, among them one.
TEST(cab_laws, any_number_of_workers_will_do) {
  heddle_test::watchdog guard("laws");
  for (const unsigned workers : {1u, 2u, 3u, 4u, 8u}) {
    for (const char* policy : {"laws:sockets=2,repeats=1", "laws-nc:sockets=3", "cab-gto:sockets=2,soid=profile",
                               "cab-gto:sockets=3", "cab-fto:sockets=2", "cab-fto:sockets=4,level=5"}) {
      heddle::runtime rt({.workers = workers, .policy = heddle_test::fitting(policy, workers)});
      std::atomic<unsigned> leaves{0};
      rt.run([&] {
        for (int iteration = 0; iteration < 10; ++iteration)
          halves(0, 37, 1 << 16, [&](unsigned) { leaves.fetch_add(1); });
      });
      EXPECT_EQ(leaves.load(), 370u) << policy << ", " << workers << " workers";
      guard.progress();
    }
  }
}

TEST(cab_laws, several_programs_run_at_once) {
  heddle_test::watchdog guard("laws");
  for (const char* policy : {"laws", "laws-nc", "cab-gto:soid=profile", "cab-fto"}) {
    heddle::runtime rt(on(policy));
    std::atomic<unsigned> leaves{0};
    std::vector<heddle::thread> threads;
    heddle::thread_options where;
    where.where = &rt;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back(where, [&] {
        for (int iteration = 0; iteration < 20; ++iteration) {
          halves(0, 16, 1 << 18, [&](unsigned) { leaves.fetch_add(1); });
          guard.progress();
        }
      });
    }
    for (heddle::thread& t : threads) t.join();
    EXPECT_EQ(leaves.load(), 6u * 20 * 16) << policy;
  }
}

TEST(policies, bad_parameters_of_cab_and_laws_are_named) {
  for (const char* text :
       {"cab-fto:levels=3", "cab-fto:level=65", "cab-gto:soid=guess", "cab-gto:bound=2", "laws:margin=1",
        "laws:pieces=2", "laws-nc:repeats=2", "cab-fto:sockets=-1", "cab-fto:sockets=0.5", "cab-fto:level=1.5",
        "cab-fto:branching=1", "cab-fto:level=1,level=1"}) {
    EXPECT_THROW(heddle::runtime({.workers = 1, .policy = text}), std::invalid_argument) << text;
  }
}

TEST(policies, parts_of_a_whole_number_are_refused_with_the_range) {
  try {
    const heddle::runtime rt({.workers = 1, .policy = "cab-fto:level=1.5"});
    ADD_FAILURE() << "it was accepted";
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), testing::MatchesRegex(".*level=1.50* is not a whole number from 0 to 64"));
  }
}

// A socket without a worker has no meaning, so the error names the largest number.
TEST(policies, more_sockets_than_workers_are_refused) {
  for (const char* policy : {"cab-fto", "cab-gto", "laws", "laws-nc"}) {
    const std::string text = std::string(policy) + ":sockets=";
    EXPECT_NO_THROW(heddle::runtime({.workers = 4, .policy = text + "4"})) << policy;
    for (const char* many : {"5", "99"}) {
      try {
        const heddle::runtime rt({.workers = 4, .policy = text + many});
        ADD_FAILURE() << text << many << " was accepted";
      } catch (const std::invalid_argument& e) {
        EXPECT_THAT(e.what(), testing::HasSubstr("sockets=" + std::string(many) + " is not a number from 1 to 4"));
      }
    }
  }
}

}  // namespace
}  // namespace cab_laws_test
