// Dependence graphs of random clauses of all kinds against what the standard says of each pair of siblings.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "omp/core/tasks/depend_graph.hpp"
#include "omp/task_support.hpp"
#include "support/runtimes.hpp"

namespace depend_test {
namespace {

using namespace heddle_test;

[[maybe_unused]] const bool is_set = [] { return setenv("HEDDLE_WORKERS", "2", 1) == 0; }();

class depend : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(teams, depend, testing::Values(1, 2, 4, 8));

struct record {
  std::vector<depend_item> items;
  std::atomic<std::uint64_t> begun{0}, ended{0};
};

enum class relation { none, ordered, excluded };

bool same_place(const depend_item& a, const depend_item& b) {
  return a.address == b.address || a.address == nullptr || b.address == nullptr;
}

relation between(const record& a, const record& b) {
  relation r = relation::none;
  for (const depend_item& x : a.items) {
    for (const depend_item& y : b.items) {
      if (!same_place(x, y)) continue;
      if (x.kind == y.kind && x.kind == depend_kind::mutexinoutset) {
        if (r == relation::none) r = relation::excluded;
      } else if (x.kind != y.kind || x.kind == depend_kind::out) {
        return relation::ordered;
      }
    }
  }
  return r;
}

// With few addresses sets are long; with many their places are dropped while tasks come and go.
TEST_P(depend, random_graphs) {
  int addresses[300];
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  for (int round = 0; round < 60 * stress(); ++round) {
    const unsigned different = round % 5 == 4 ? 300 : 6;
    const unsigned count = different == 6 ? 20 + below(130) : 200 + below(500);
    const std::unique_ptr<record[]> tasks(new record[count]);
    for (unsigned i = 0; i < count; ++i) {
      const unsigned items = below(4);
      for (unsigned k = 0; k < items; ++k) {
        const bool all = below(10 * different) == 0;
        const auto kind = static_cast<depend_kind>(below(4));
        tasks[i].items.push_back({all ? nullptr : &addresses[below(different)], all ? depend_kind::out : kind});
      }
    }
    const unsigned waits = below(3);  // 0 means never; 1 now and then for all; 2 now and then for some
    std::atomic<std::uint64_t> clock{0};
    std::atomic<int> early{0};
    single_in_team(GetParam(), [&](thread& self) {
      for (unsigned i = 0; i < count; ++i) {
        record& r = tasks[i];
        spawn(self, r.items, [&r, &clock, i](thread& on) {
          r.begun.store(clock.fetch_add(1) + 1);
          if (i % 5 == 0) spawn(on, [](thread&) {});
          for (unsigned spin = 0; spin < 30; ++spin) clock.load();
          r.ended.store(clock.fetch_add(1) + 1);
        });
        if (waits == 1 && i % 40 == 39) heddle::omp::taskwait(self);
        if (waits == 2 && i % 20 == 19) {
          record mine;
          mine.items = {{&addresses[below(different)], static_cast<depend_kind>(below(4))}};
          heddle::omp::wait_for_predecessors(self, list_of(mine.items));
          for (unsigned j = 0; j <= i; ++j)
            if (between(tasks[j], mine) == relation::ordered && tasks[j].ended.load() == 0) early.fetch_add(1);
        }
      }
    });
    EXPECT_EQ(early.load(), 0);
    for (unsigned i = 0; i < count; ++i) {
      ASSERT_NE(tasks[i].ended.load(), 0u);
      for (unsigned j = i + 1; j < count; ++j) {
        const bool in_order = tasks[i].ended.load() < tasks[j].begun.load();
        const bool reverse = tasks[j].ended.load() < tasks[i].begun.load();
        switch (between(tasks[i], tasks[j])) {
          case relation::ordered: ASSERT_TRUE(in_order) << i << " " << j << " in round " << round; break;
          case relation::excluded: ASSERT_TRUE(in_order || reverse) << i << " " << j << " in round " << round; break;
          case relation::none: break;
        }
      }
    }
  }
}

TEST_P(depend, a_wavefront_has_the_serial_result) {
  constexpr int n = 60;
  std::vector<std::uint32_t> cells((n + 1) * (n + 1), 1), serial = cells;
  const auto at = [](int i, int j) { return i * (n + 1) + j; };
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= n; ++j) serial[at(i, j)] = serial[at(i - 1, j)] * 3 + serial[at(i, j - 1)];
  single_in_team(GetParam(), [&](thread& self) {
    for (int i = 1; i <= n; ++i) {
      for (int j = 1; j <= n; ++j) {
        std::uint32_t *up = &cells[at(i - 1, j)], *left = &cells[at(i, j - 1)], *here = &cells[at(i, j)];
        spawn(self, {{up, depend_kind::in}, {left, depend_kind::in}, {here, depend_kind::out}},
              [=](thread&) { *here = *up * 3 + *left; });
      }
    }
  });
  EXPECT_EQ(cells, serial);
}

// Nodes are used again while their tasks come and go; the graph's memory does not grow with the number of tasks.
TEST_P(depend, a_chain_of_many) {
  std::uint64_t x = 1, expected = 1;
  constexpr int count = 20000;
  for (int i = 0; i < count; ++i) expected = expected * 5 + static_cast<std::uint64_t>(i);
  single_in_team(GetParam(), [&](thread& self) {
    for (int i = 0; i < count; ++i)
      spawn(self, {{&x, depend_kind::out}}, [&x, i](thread&) { x = x * 5 + static_cast<std::uint64_t>(i); });
  });
  EXPECT_EQ(x, expected);
}

// [depend:4] As many places as tasks, but few of tasks that have not ended: all may run at once.
TEST_P(depend, places_of_ended_tasks_are_dropped) {
  constexpr std::size_t count = 30000;
  std::vector<std::uint32_t> values(count);
  const std::uint32_t read_by_all = 1;
  std::size_t room = 0, used = 0;
  single_in_team(GetParam(), [&](thread& self) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto kind = i % 7 == 0 ? depend_kind::mutexinoutset : depend_kind::out;
      spawn(self, {{&read_by_all, depend_kind::in}, {&values[i], kind}}, [&, i](thread&) { values[i] = read_by_all; });
    }
    const heddle::omp::dependences* const graph = self.running->depends;
    if (graph != nullptr) room = graph->locations.size(), used = graph->locations.used();
  });
  if (GetParam() > 1) {
    EXPECT_NE(used, 0u);
  }
  // A table has at least a third of its places in use after it has grown, and few more tasks are unfinished than that.
  EXPECT_LE(room, 4 * std::size_t{heddle::omp::most_ahead});
  EXPECT_EQ(values, std::vector<std::uint32_t>(count, 1));
}

}  // namespace
}  // namespace depend_test
