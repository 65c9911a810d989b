// Pages: who touches them, and where they are said to go.
#include <heddle/first_touch.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/runtime.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace first_touch_test {
namespace {

constexpr std::size_t page = 4096;

// Takes the simulator's place behind heddle_cost: who touched which page first, and what was placed.
struct recorder {
  static inline std::mutex mutex;
  static inline std::map<std::uintptr_t, int> toucher;
  struct placed {
    const void* address;
    std::size_t bytes;
    int policy, node;
  };
  static inline std::vector<placed> placements, forgotten;

  static void access(const void* address, std::size_t, int write) {
    const std::lock_guard hold(mutex);
    EXPECT_EQ(write, 1);
    toucher.try_emplace(reinterpret_cast<std::uintptr_t>(address) / page, heddle::runtime::current().worker_rank());
  }
  static int place(const void* address, std::size_t bytes, int policy, int node) {
    placements.push_back({address, bytes, policy, node});
    return node < 2 ? 1 : 0;
  }
  static void forget(const void* address, std::size_t bytes) { forgotten.push_back({address, bytes, 0, 0}); }

  recorder() {
    toucher.clear(), placements.clear(), forgotten.clear();
    heddle_cost = &model;
  }
  ~recorder() { heddle_cost = nullptr; }
  static constexpr heddle_cost_model model{[](double) {}, access, 0, place, forget, nullptr};
};

heddle::runtime_options deterministic(unsigned workers) {
  heddle::runtime_options o;
  o.workers = workers;
  o.policy = "adws:steal=off";
  return o;
}

// Which worker runs each element of a loop over n of them.
std::vector<int> workers_of_loop(std::vector<double>& v) {
  std::vector<int> rank(v.size(), -1);
  heddle::parallel_for_range(v.data(), v.data() + v.size(),
                             [&](double* low, double* high) {
                               const int mine = heddle::runtime::current().worker_rank();
                               for (double* x = low; x != high; ++x)
                                 rank[static_cast<std::size_t>(x - v.data())] = mine;
                             },
                             {.grain = 512});
  return rank;
}

TEST(first_touch, pages_go_to_the_workers_of_the_loop_over_the_same_range) {
  for (const unsigned workers : {1u, 2u, 4u, 7u}) {
    heddle::runtime runtime(deterministic(workers));
    std::vector<double> v(200'000);
    std::vector<int> rank;
    {
      recorder records;
      runtime.run([&] { heddle::first_touch(v, {.grain = 512}); });
      rank = runtime.run([&] { return workers_of_loop(v); });
      const auto begin = reinterpret_cast<std::uintptr_t>(v.data()), end = begin + v.size() * sizeof(double);
      for (std::uintptr_t at = begin; at < end; at = (at / page + 1) * page) {
        ASSERT_TRUE(recorder::toucher.contains(at / page));
        // A page belongs to the chunk in which it begins.
        const std::size_t first = (at - begin + sizeof(double) - 1) / sizeof(double);
        if (first < v.size() && first * sizeof(double) + begin == at) {
          EXPECT_EQ(recorder::toucher[at / page], rank[first]) << "element " << first << ", " << workers << " workers";
        }
      }
      EXPECT_LE(recorder::toucher.size(), v.size() * sizeof(double) / page + 2);
    }
    std::sort(rank.begin(), rank.end());
    rank.erase(std::unique(rank.begin(), rank.end()), rank.end());
    EXPECT_EQ(rank.size(), workers) << "else the test says nothing";
  }
}

TEST(first_touch, keeps_what_is_there) {
  heddle::runtime runtime(deterministic(2));
  std::vector<int> v(100'000);
  std::iota(v.begin(), v.end(), 0);
  const std::vector<int> before = v;
  runtime.run([&] { heddle::first_touch(v); });
  EXPECT_EQ(v, before);
  std::vector<int> none;
  heddle::first_touch(none);
  std::vector<char> one(1, 'x');
  heddle::first_touch(one);  // from a foreign thread
  EXPECT_EQ(one[0], 'x');
  struct wide {
    char bytes[10'000];
  };
  std::vector<wide> wides(50);
  wides[49].bytes[9'999] = 'y';
  heddle::first_touch(wides);
  EXPECT_EQ(wides[49].bytes[9'999], 'y');
}

TEST(first_touch, pieces_touch_each_page_once) {
  const recorder records;
  struct odd {
    char bytes[1'234];
  };
  alignas(8) static char memory[64 * page];
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::size_t count = (sizeof memory - 100) / sizeof(odd);
  heddle::detail::touch_work work{begin + 100, sizeof(odd), page};
  std::size_t touched = 0;
  auto result = work.nothing();
  for (std::size_t low = 0; low < count; low += 3) {
    recorder::toucher.clear();
    work(result, low, std::min(low + 3, count));
    touched += recorder::toucher.size();
  }
  const std::uintptr_t first = (begin + 100) / page, last = (begin + 100 + count * sizeof(odd) - 1) / page;
  EXPECT_EQ(touched, last - first + 1);
}

TEST(place_pages, says_whole_pages_only) {
  const recorder records;
  alignas(4096) static char memory[4 * page];
  EXPECT_TRUE(heddle::place_pages(memory + 1, 3 * page, heddle::page_placement::interleave));
  ASSERT_EQ(recorder::placements.size(), 1u);
  EXPECT_EQ(recorder::placements[0].address, memory + page);
  EXPECT_EQ(recorder::placements[0].bytes, 2 * page);
  EXPECT_EQ(recorder::placements[0].policy, 1);
  EXPECT_TRUE(heddle::place_pages(memory + 1, page, heddle::page_placement::interleave)) << "no whole page";
  EXPECT_EQ(recorder::placements.size(), 1u);
  EXPECT_TRUE(heddle::place_pages(memory, page, heddle::page_placement::bind, 1));
  EXPECT_EQ(recorder::placements[1].policy, 2);
  EXPECT_FALSE(heddle::place_pages(memory, page, heddle::page_placement::bind, 2)) << "no such node";
}

TEST(place_pages, on_this_machine) {
  std::vector<char, heddle::interleaved_allocator<char>> v(10 * page);
  EXPECT_EQ(v[5 * page], 0);
  v[5 * page] = 1;
  void* const memory = heddle::detail::map_pages(8 * page);
  ASSERT_NE(memory, nullptr);
  EXPECT_FALSE(heddle::place_pages(memory, 8 * page, heddle::page_placement::bind, 4000)) << "no such node";
  EXPECT_FALSE(heddle::place_pages(memory, 8 * page, heddle::page_placement::bind, -1));
  // A sandbox may refuse to bind at all; memory works all the same.
  (void)heddle::place_pages(memory, 8 * page, heddle::page_placement::bind, 0);
  static_cast<char*>(memory)[3 * page] = 7;
  heddle::detail::unmap_pages(memory, 8 * page);
}

TEST(first_touch_allocator, vectors_are_as_others) {
  heddle::runtime runtime(deterministic(3));
  runtime.run([] {
    std::vector<int, heddle::first_touch_allocator<int>> v(100'000);
    EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 0) << "fresh pages are zero";
    std::iota(v.begin(), v.end(), 0);
    v.push_back(-1);
    v.insert(v.begin() + 5, 1000, 4);
    EXPECT_EQ(v[4], 4);
    EXPECT_EQ(v[1005], 5);
    EXPECT_EQ(v.back(), -1);
    auto copy = v;
    EXPECT_EQ(copy, v);
    std::vector<std::vector<int>, heddle::first_touch_allocator<std::vector<int>>> nested(10, {1, 2});
    nested.resize(5000, {3});
    EXPECT_EQ(nested[9][1], 2);
    EXPECT_EQ(nested[4999][0], 3);
  });
  heddle::first_touch_allocator<int> a;
  EXPECT_THROW((void)a.allocate(static_cast<std::size_t>(-1) / 4), std::bad_alloc);
}

TEST(first_touch_allocator, tells_a_simulation_what_it_gives_back) {
  const recorder records;
  {
    const std::vector<double, heddle::first_touch_allocator<double>> v(10 * page / sizeof(double));
    EXPECT_EQ(recorder::toucher.size(), 10u);
  }
  ASSERT_EQ(recorder::forgotten.size(), 1u);
  EXPECT_EQ(recorder::forgotten[0].bytes, 10 * page);
}

}  // namespace
}  // namespace first_touch_test
