// Constrained work stealing: what is recorded is what is replayed; where the record does not fit, nothing is lost.
#include <heddle/heddle.h>
#include <heddle/iteration.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "support/watchdog.hpp"
#include "tools/trace/reading.hpp"

namespace constrained_ws_test {
namespace {

// --- replay ------------------------------------------------------------------------------------------------------

enum class shape { forks, groups, loops };

// 4^depth leaves; who ran them. Leaves of an iteration with `share` set wait until another worker has one, all of them
// together for a while at most: what is not recorded is not shared.
struct program {
  static constexpr std::chrono::milliseconds patience{100};

  heddle::runtime& rt;
  shape how;
  std::vector<int> at;
  std::atomic<int> first_worker{-1};
  std::atomic<bool> shared{true};
  std::atomic<int> ran{0};
  std::chrono::steady_clock::time_point until{};

  program(heddle::runtime& home, shape s, int depth) : rt(home), how(s), at(std::size_t{1} << (2 * depth), -1) {}

  void leaf(std::size_t i) {
    const int me = rt.worker_rank();
    at[i] = me;
    ran.fetch_add(1);
    int none = -1;
    if (!first_worker.compare_exchange_strong(none, me) && none != me) shared.store(true);
    for (volatile int k = 0; k < 1000;) k = k + 1;  // no tiny loop, which its worker would keep from the policy
    while (rt.workers() > 1 && !shared.load() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  }
  void run(std::size_t from, std::size_t to) {
    if (to - from == 1) return leaf(from);
    if (how == shape::loops) {
      heddle::parallel_for(from, to, [&](std::size_t i) { leaf(i); }, {.grain = 1});
      return;
    }
    const std::size_t part = (to - from) / 4;
    const auto quarter = [this, from, part](std::size_t i) { run(from + i * part, from + (i + 1) * part); };
    if (how == shape::forks) {
      heddle::parallel_invoke([&] { quarter(0); }, [&] { quarter(1); }, [&] { quarter(2); }, [&] { quarter(3); });
    } else {
      heddle::task_group group;
      for (std::size_t i = 0; i < 4; ++i) group.run([&quarter, i] { quarter(i); });
      group.wait();
    }
  }
  void prepare(bool share) {
    first_worker.store(-1);
    shared.store(!share);
    until = std::chrono::steady_clock::now() + patience;
  }
  void iterate(bool share = false) {
    std::fill(at.begin(), at.end(), -1);
    ran.store(0);
    prepare(share);
    run(0, at.size());
    ASSERT_EQ(ran.load(), static_cast<int>(at.size()));
  }
};

class constrained_ws : public testing::TestWithParam<std::tuple<unsigned, shape>> {};

// All in one root, or one root an iteration: then the root is sent to where it was.
TEST_P(constrained_ws, strict_replay_has_the_recorded_worker_for_every_task) {
  heddle_test::watchdog guard("constrained_ws");
  const auto [workers, how] = GetParam();
  for (const char* policy :
       {"constrained_ws:relws=0", "constrained_ws:relws=3", "constrained_ws:replay=stuws,relws=1"}) {
    const int recorded = policy[std::string(policy).find("relws=") + 6] - '0';
    for (const bool one_root : {true, false}) {
      heddle::runtime rt({.workers = workers, .policy = policy});
      program p(rt, how, 3);
      std::vector<std::vector<int>> maps;
      const auto iterate = [&] {
        p.iterate(static_cast<int>(maps.size()) <= recorded);
        maps.push_back(p.at);
        guard.progress();
      };
      if (one_root) {
        rt.run([&] {
          for (int i = 0; i < recorded + 7; ++i) iterate();
        });
      } else {
        for (int i = 0; i < recorded + 7; ++i) rt.run(iterate);
      }
      for (std::size_t i = static_cast<std::size_t>(recorded) + 1; i < maps.size(); ++i) {
        ASSERT_EQ(maps[i], maps[static_cast<std::size_t>(recorded)])
            << policy << ", one root: " << one_root << ", iteration " << i;
      }
      if (workers > 1) {
        EXPECT_GT(std::set<int>(p.at.begin(), p.at.end()).size(), 1u)
            << policy << ", one root: " << one_root << ": nothing was stolen, this says little";
      }
    }
  }
}

// Leaves, and how deep, differ in each iteration; afterwards they do not, and are replayed.
TEST_P(constrained_ws, changing_programs_lose_nothing) {
  heddle_test::watchdog guard("constrained_ws");
  const auto [workers, how] = GetParam();
  for (const char* policy : {"constrained_ws:relws=0", "constrained_ws", "constrained_ws:replay=stuws,relws=0",
                             "constrained_ws:replay=relws"}) {
    heddle::runtime rt({.workers = workers, .policy = policy});
    rt.run([&, how = how] {
      const std::function<int(int, unsigned)> tree = [&](int depth, unsigned seed) -> int {
        if (depth == 0) return 1;
        std::atomic<int> leaves{0};
        const unsigned children = 1 + seed % 4;
        const auto child = [&](unsigned i) { leaves += tree(depth - 1, seed * 1103515245u + 12345u * (i + 1)); };
        if (how == shape::groups) {
          heddle::task_group group;
          for (unsigned i = 0; i < children; ++i) group.run([&child, i] { child(i); });
          group.wait();
        } else if (how == shape::loops) {
          heddle::parallel_for(0u, children, [&](unsigned i) { child(i); }, {.grain = 1});
        } else {
          heddle::parallel_invoke([&] { child(0); },
                                  [&] {
                                    if (children > 1) child(1);
                                  },
                                  [&] {
                                    if (children > 2) child(2);
                                  });
        }
        return leaves.load();
      };
      const std::function<int(int, unsigned)> serial = [&](int depth, unsigned seed) -> int {
        if (depth == 0) return 1;
        int leaves = 0;
        unsigned children = 1 + seed % 4;
        if (how == shape::forks) children = std::min(children, 3u);
        for (unsigned i = 0; i < children; ++i) leaves += serial(depth - 1, seed * 1103515245u + 12345u * (i + 1));
        return leaves;
      };
      for (unsigned i = 0; i < 40; ++i) {
        const unsigned seed = i < 25 ? i * 2654435761u : i < 32 ? 3u : 7u;
        const int depth = 1 + static_cast<int>(i < 25 ? i % 6 : 5);
        ASSERT_EQ(tree(depth, seed), serial(depth, seed)) << policy << ", iteration " << i;
        guard.progress();
      }
    });
  }
}

TEST_P(constrained_ws, exceptions_and_cancellation_end_an_iteration_and_no_more) {
  heddle_test::watchdog guard("constrained_ws");
  const auto [workers, how] = GetParam();
  heddle::runtime rt({.workers = workers, .policy = "constrained_ws:relws=1"});
  rt.run([&, how = how] {
    for (int i = 0; i < 60; ++i) {
      std::atomic<int> ran{0};
      const auto piece = [&](int k) {
        ran.fetch_add(1);
        heddle::parallel_invoke([&] { ran.fetch_add(1); }, [&] { ran.fetch_add(1); });
        if (i % 3 == 1 && k == i % 8) throw std::runtime_error("one of them");
      };
      const auto iterate = [&] {
        if (how == shape::groups) {
          heddle::task_group group;
          for (int k = 0; k < 8; ++k) {
            group.run([&, k] { piece(k); });
            if (i % 3 == 2 && k == 4) group.cancel();
          }
          group.wait();
        } else if (how == shape::loops) {
          heddle::parallel_for(0, 8, piece, {.grain = 1});
        } else {
          heddle::parallel_invoke(
              [&] {
                piece(0);
                piece(1);
              },
              [&] {
                piece(2);
                piece(3);
              },
              [&] {
                piece(4);
                piece(5);
              },
              [&] {
                piece(6);
                piece(7);
              });
        }
      };
      if (i % 3 == 1) {
        EXPECT_THROW(iterate(), std::runtime_error);
      } else {
        iterate();
      }
      if (i % 3 == 0) {
        EXPECT_EQ(ran.load(), 24);
      }
      guard.progress();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(shapes, constrained_ws,
                         testing::Combine(testing::Values(1u, 2u, 3u, 4u, 8u, 16u),
                                          testing::Values(shape::forks, shape::groups, shape::loops)),
                         [](const auto& info) {
                           const shape how = std::get<1>(info.param);
                           return (how == shape::forks    ? "forks_"
                                   : how == shape::groups ? "groups_"
                                                          : "loops_") +
                                  std::to_string(std::get<0>(info.param));
                         });

// The policy's notes in a trace, in the order of time.
std::vector<std::string> notes_in(const std::string& file) {
  std::vector<std::pair<std::uint64_t, std::string>> notes;
  const auto recording = heddle::trace::load(file);
  for (const auto& log : recording.workers) {
    for (const auto& r : log.records) {
      if (r.event == heddle::trace::event::policy_note) notes.emplace_back(r.ns, recording.texts.at(r.arg));
    }
  }
  std::sort(notes.begin(), notes.end());
  std::vector<std::string> texts;
  for (auto& [ns, text] : notes) texts.push_back(std::move(text));
  return texts;
}

// --- marks -------------------------------------------------------------------------------------------------------

// A program whose outermost group encloses its loop: it has a child that was there before. Each iteration forks twice.
// With marks, iterations are added until one is replayed, for none is recorded as long as that child lives, which the
// first one may see.
std::vector<std::vector<int>> enclosed(heddle::runtime& rt, bool marked, shape how, heddle_test::watchdog& guard) {
  program p(rt, how, 3);
  std::vector<std::vector<int>> maps;
  // Not inlined: the place that marks tells loops apart, and this is one loop.
  const auto iterate = [&](bool share) __attribute__((noinline)) {
    if (marked) heddle::next_iteration();
    p.iterate(share);
    maps.push_back(p.at);
    p.iterate();
    maps.back().insert(maps.back().end(), p.at.begin(), p.at.end());
    guard.progress();
  };
  rt.run([&] {
    heddle::task_group outermost;
    std::atomic<bool> over{false};
    outermost.run([&over] {
      heddle::parallel_invoke([] {}, [] {});
      over.store(true);
    });
    const auto repeats = [&] {
      const std::size_t n = maps.size();
      return n > 2 && maps[n - 1] == maps[n - 2] && maps[n - 2] == maps[n - 3];
    };
    iterate(false);
    while (!over.load()) std::this_thread::yield();
    while (maps.size() < (marked ? 2000u : 4u) && !repeats()) iterate(true);
    for (int i = 0; i < 6; ++i) iterate(false);
    outermost.wait();
  });
  return maps;
}

int count_of(const std::string& file, const std::string& note) {
  int n = 0;
  for (const std::string& text : notes_in(file)) n += text == note ? 1 : 0;
  return n;
}

TEST(constrained_ws_marks, make_a_loop_inside_the_outermost_group_replay) {
  heddle_test::watchdog guard("constrained_ws");
  const std::string file = testing::TempDir() + "constrained_ws_marks.heddle";
  const char* const recorded = "constrained_ws: first iteration recorded; pieces";
  for (const shape how : {shape::forks, shape::groups, shape::loops}) {
    for (const unsigned workers : {2u, 4u}) {
      const auto run = [&, how = how](bool marked) {
        heddle::runtime rt({.workers = workers, .policy = "constrained_ws:relws=0", .trace = file});
        return enclosed(rt, marked, how, guard);
      };
      const std::vector<std::vector<int>> maps = run(true);
      for (std::size_t i = maps.size() - 6; i < maps.size(); ++i)
        EXPECT_EQ(maps[i], maps[maps.size() - 7]) << "iteration " << i << " of " << maps.size();
      EXPECT_EQ(count_of(file, recorded), 2) << "what the group began, and the loop's first";
      EXPECT_EQ(count_of(file, "constrained_ws: strict replay from here on; pieces"), 1);
      EXPECT_EQ(count_of(file, "constrained_ws: record abandoned, RelWS again; tasks unknown or missing"), 0);
      run(false);
      EXPECT_EQ(count_of(file, recorded), 1) << "the whole run is one iteration";
      EXPECT_EQ(count_of(file, "constrained_ws: strict replay from here on; pieces"), 0);
    }
  }
  std::remove(file.c_str());
}

TEST(constrained_ws_marks, elsewhere_do_nothing) {
  heddle_test::watchdog guard("constrained_ws");
  heddle::next_iteration();  // a foreign thread
  heddle_next_iteration(nullptr);
  for (const char* policy : {"constrained_ws:relws=0", "random_ws", "adws"}) {
    heddle::runtime rt({.workers = 3, .policy = policy});
    std::atomic<int> ran{0};
    rt.run([&] {
      heddle::next_iteration();
      heddle::next_iteration(&ran);
      for (int i = 0; i < 20; ++i) {
        heddle_next_iteration(nullptr);
        heddle::parallel_invoke(
            [&] {
              heddle::next_iteration();  // within a fork of its own
              heddle::parallel_invoke([&] { ran.fetch_add(1); }, [&] { ran.fetch_add(1); });
            },
            [&] {
              heddle::next_iteration();  // somebody's child
              ran.fetch_add(1);
            });
        heddle::task_group group;
        group.run([&] { ran.fetch_add(1); });
        if (i % 2 == 0) heddle::next_iteration();
        group.run([&] { ran.fetch_add(1); });
        group.wait();
        guard.progress();
      }
      heddle::next_iteration();
    });
    EXPECT_EQ(ran.load(), 100);
  }
}

// The trace tells what was recorded, replayed and abandoned.
TEST(constrained_ws, says_in_the_trace_what_happens_to_the_record) {
  heddle_test::watchdog guard("constrained_ws");
  const std::string file = testing::TempDir() + "constrained_ws_test.heddle";
  {
    heddle::runtime rt({.workers = 4, .policy = "constrained_ws:relws=1", .trace = file});
    program p(rt, shape::groups, 2);
    rt.run([&] {
      for (int i = 0; i < 8; ++i) {
        const std::size_t children = i < 5 ? 8 : 9;  // one more than is known
        p.prepare(i < 2);
        heddle::task_group group;
        for (std::size_t k = 0; k < children; ++k) group.run([&p, k] { p.leaf(k); });
        group.wait();
      }
    });
  }
  std::string all;
  for (const std::string& text : notes_in(file)) all += text + "\n";
  std::remove(file.c_str());
  const auto place = [&](const char* part) { return all.find(part); };
  EXPECT_LT(place("first iteration recorded"), place("RelWS iteration")) << all;
  EXPECT_LT(place("RelWS iteration"), place("strict replay")) << all;
  EXPECT_LT(place("strict replay"), place("record abandoned")) << all;
  EXPECT_NE(place("record abandoned"), std::string::npos) << all;
}

}  // namespace
}  // namespace constrained_ws_test
