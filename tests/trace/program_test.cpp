// Programs of known structure, traced with every fork: what the runtime emits is what analyse needs.
#include <heddle/heddle.hpp>
#include <heddle/trace.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/trace/dag.hpp"
#include "tools/trace/reading.hpp"

namespace heddle::trace {
namespace program_test {
namespace {

class traced_program : public ::testing::TestWithParam<unsigned> {
 protected:
  // Runs f on a runtime of its own and returns what was recorded.
  template <class F>
  recording traced(F f, const char* forks = "on") {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string("heddle_program_") + test->name() + ".heddle";
    for (char& c : name) c = c == '/' ? '_' : c;
    const std::string path = (std::filesystem::path(::testing::TempDir()) / name).string();
    setenv("HEDDLE_TRACE_FORKS", forks, 1);
    {
      runtime_options options;
      options.workers = GetParam();
      options.trace = path;
      heddle::runtime home(options);
      home.run(f);
    }
    unsetenv("HEDDLE_TRACE_FORKS");
    recording what = load(path);
    std::filesystem::remove(path);
    return what;
  }
};

std::size_t count(const recording& what, event e) {
  std::size_t n = 0;
  for (const worker_log& log : what.workers) {
    for (const record& r : log.records) n += r.event == e;
  }
  return n;
}

long fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = parallel_invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

TEST_P(traced_program, every_fork_of_fib_is_there_and_joined) {
  long result = 0;
  const recording what = traced([&] { result = fib(12); });
  EXPECT_EQ(result, 144);
  EXPECT_EQ(count(what, event::fork), 232u);  // calls of fib(12) with n >= 2
  EXPECT_EQ(count(what, event::join), 232u);
  // Each other half was either run in place or begun as a task.
  EXPECT_EQ(count(what, event::second_half) + count(what, event::task_begin), 232u);
  EXPECT_EQ(count(what, event::task_begin), count(what, event::task_end));
  const dag_summary d = analyse(what);
  EXPECT_EQ(d.forks, 232u);
  EXPECT_TRUE(d.forks_traced);
  EXPECT_LE(d.span_ns, d.work_ns);
  // a path of at least six forks is the shortest there is
  EXPECT_GE(d.burdened_span_ns, d.span_ns + 11 * 2000.0 * 0.5);
}

TEST_P(traced_program, results_and_exceptions_are_the_same_with_forks_traced) {
  long sum = 0;
  bool thrown = false, second = false;
  const recording what = traced([&] {
    std::vector<long> cells(10'000);
    parallel_for(std::size_t{0}, cells.size(), [&](std::size_t i) { cells[i] = static_cast<long>(i); }, {.grain = 16});
    sum = parallel_reduce(std::size_t{0}, cells.size(), 0L, [&](std::size_t i) { return cells[i]; }, std::plus<>());
    for (int repeat = 0; repeat < 50; ++repeat) {
      try {
        parallel_invoke([] { parallel_invoke([] { throw std::runtime_error("x"); }, [] {}); }, [] {});
      } catch (const std::runtime_error&) {
        thrown = true;
      }
      try {
        parallel_invoke([] {}, [] { throw std::runtime_error("y"); });
      } catch (const std::runtime_error&) {
        second = true;
      }
    }
    for (int repeat = 0; repeat < 2000; ++repeat)
      parallel_for(0, 20, [&](int i) { cells[static_cast<std::size_t>(i)] += 1; });
    sum += cells[7] - 7;
  });
  EXPECT_EQ(sum, 10'000L * 9'999 / 2 + 2000);
  EXPECT_TRUE(thrown);
  EXPECT_TRUE(second);
  const dag_summary d = analyse(what);
  EXPECT_GT(d.forks, 100u);
  EXPECT_LE(d.span_ns, d.work_ns * 1.0001);
}

TEST_P(traced_program, loops_and_workers_begin_and_end) {
  int begun = 0;
  const recording what = traced(
      [&] {
        for (int repeat = 0; repeat < 3; ++repeat) {
          parallel_for(0, 1000, [](int) {}, {.grain = 100});
          try {
            parallel_for(0, 500,
                         [](int i) {
                           if (i == 7) throw std::runtime_error("x");
                         },
                         {.grain = 50});
          } catch (const std::runtime_error&) {
            ++begun;
          }
        }
      },
      "off");
  EXPECT_EQ(begun, 3);
  EXPECT_GE(count(what, event::loop_begin), 2u);  // a loop of a site whose loops are known to be tiny is none
  EXPECT_EQ(count(what, event::loop_begin), count(what, event::loop_end));
  for (const worker_log& log : what.workers) {
    for (const record& r : log.records) {
      if (r.event != event::loop_begin) continue;
      EXPECT_EQ(r.a, 10 * r.b) << "iterations, and how many a chunk";
    }
  }
  EXPECT_EQ(count(what, event::worker_stop), GetParam());
}

// The loop ends only if a second worker takes part.
void sweep(std::atomic<unsigned>& seen, const loop_options& how) {
  const auto body = [&seen](int) {
    seen.fetch_or(1u << heddle::runtime::current().worker_rank());
    while (std::popcount(seen.load()) < 2) {
    }
  };
  parallel_for(0, 1000, body, how);
}

TEST_P(traced_program, workers_that_join_a_loop_run_its_body) {
  if (GetParam() == 1) GTEST_SKIP() << "nobody joins";
  const loop_options hows[] = {{},
                               {.grain = 1},
                               {.schedule = schedule::dynamic(1)},
                               {.schedule = schedule::fixed()},
                               {.schedule = schedule::window(100)}};
  for (const loop_options& how : hows) {
    std::atomic<unsigned> seen{0};
    const recording what = traced([&] { sweep(seen, how); }, "off");
    std::size_t joined = 0;
    for (const worker_log& log : what.workers) {
      for (const record& r : log.records) {
        if (r.event != event::task_begin) continue;
        ++joined;
        EXPECT_THAT(what.symbols.at(r.b), ::testing::HasSubstr("sweep(")) << "schedule " << &how - hows;
      }
    }
    EXPECT_GE(joined, 1u) << "schedule " << &how - hows;
  }
}

TEST_P(traced_program, answers_to_requests_are_there) {
  const recording what = traced(
      [] {
        for (int repeat = 0; runtime::current().workers() > 1 && repeat < 100; ++repeat) {
          std::atomic<bool> begun{false};
          parallel_invoke(
              [&] {
                while (!begun) parallel_invoke([] {}, [] {});  // looks at requests
              },
              [&] { begun = true; });
        }
      },
      "off");
  EXPECT_EQ(count(what, event::request_answer) > 0, GetParam() > 1);
}

TEST_P(traced_program, children_of_groups_are_there_with_their_hints) {
  const recording what = traced(
      [] {
        for (int repeat = 0; repeat < 5; ++repeat) {
          task_group g(6.0);
          for (int i = 1; i <= 3; ++i) g.run([] { this_thread::yield(); }, static_cast<double>(i));
          g.wait();
          g.run([] {}, 1.0);  // used again
          g.wait();
        }
      },
      "off");
  EXPECT_EQ(count(what, event::spawn), 20u);
  EXPECT_EQ(count(what, event::group_begin), 10u);
  EXPECT_EQ(count(what, event::group_end), 10u);
  EXPECT_GE(count(what, event::task_begin), 20u);
  EXPECT_EQ(count(what, event::task_begin), count(what, event::task_end));
  EXPECT_EQ(analyse(what).spawns, 20u);
}

TEST_P(traced_program, regions_and_pieces_are_told) {
  const recording what = traced(
      [] {
        parallel_for(0, 64,
                     [](int i) {
                       const region r("row");
                       piece("grid", 0, static_cast<std::uint32_t>(i), 10, static_cast<std::uint32_t>(i) + 1);
                       piece("tree", tree_node().child(1, 2).child(0, 4));
                     },
                     {.grain = 1});
      },
      "off");
  EXPECT_EQ(count(what, event::region_begin), 64u);
  EXPECT_EQ(count(what, event::region_end), 64u);
  EXPECT_EQ(count(what, event::piece), 64u);
  EXPECT_EQ(count(what, event::tree_piece), 64u);
  EXPECT_THAT(what.texts, ::testing::IsSupersetOf({"row", "grid", "tree"}));
  EXPECT_EQ(what.attributes.at("clock"), "real");
  for (const worker_log& log : what.workers) {
    for (const record& r : log.records) {
      if (r.event != event::tree_piece) continue;
      EXPECT_EQ(r.b, 2u);
      EXPECT_EQ(r.a >> 32, 0xffffffffu / 2);
    }
  }
}

// With one worker the order is certain: the second thread finds the lock held, and the first one hands it on.
TEST_P(traced_program, waits_for_locks_are_told_with_who_asked_and_who_held) {
  if (GetParam() != 1) GTEST_SKIP() << "the order is certain with one worker only";
  mutex m;
  const recording what = traced(
      [&] {
        m.lock();
        heddle::thread second([&] {
          m.lock();
          m.unlock();
        });
        for (int i = 0; i < 100; ++i) this_thread::yield();  // it waits now
        m.unlock();
        second.join();
      },
      "off");
  const auto object = reinterpret_cast<std::uintptr_t>(&m);
  unsigned waits = 0, passes = 0;
  for (const worker_log& log : what.workers) {
    for (const record& r : log.records) {
      if (r.event == event::wait_begin && r.a == object) {
        ++waits;
        EXPECT_EQ(what.texts.at(r.arg), "mutex");
        EXPECT_TRUE(what.places.contains(r.b));
      }
      if (r.event == event::lock_passed && r.a == object) {
        ++passes;
        EXPECT_TRUE(what.places.contains(r.b));
      }
    }
  }
  EXPECT_EQ(waits, 1u);
  EXPECT_EQ(passes, 1u);
}

TEST(region, costs_nothing_to_say_where_nothing_is_traced) {
  const region r("not told");
  piece("grid", 0, 1);
  EXPECT_FALSE(detail::is_recording());
}

TEST(tree_node, children_share_their_parent) {
  constexpr tree_node root;
  EXPECT_EQ(root.child(0, 3).low(), 0u);
  EXPECT_EQ(root.child(0, 3).high(), root.child(1, 3).low());
  EXPECT_EQ(root.child(2, 3).high(), root.high());
  EXPECT_EQ(root.child(2, 3).depth(), 1u);
  EXPECT_EQ(root.share(1, 2, 4).low(), root.share(0, 1, 4).high());
  EXPECT_EQ(root.share(3, 1, 4).high(), root.high());
}

INSTANTIATE_TEST_SUITE_P(workers, traced_program, ::testing::Values(1, 2, 4));

}  // namespace
}  // namespace program_test
}  // namespace heddle::trace
