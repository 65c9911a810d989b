// Latency, overlap, and what waiting for memory and links adds.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sim/flat_machine.hpp"
#include "sim/memory_model.hpp"

namespace heddle::sim {
namespace time_test {
namespace {

using machine::group_kind;

constexpr std::uint64_t kB = 1024, MB = 1024 * kB;

// Two nodes of four cores.
machine::model two_nodes() {
  const cache_form forms[] = {{group_kind::l1, 4 * kB, 4}, {group_kind::l2, 64 * kB, 8}};
  machine::model m = bare_machine("pack:2 [numa] l2:4 l1:1 pu:1", forms);
  m.caches = {{group_kind::l1, 1}, {group_kind::l2, 5}};
  m.nodes = {{0, 100, 0, 4}, {1, 110, 0, 4}};
  m.links = {{0, 1, 60, 0}, {1, 0, 70, 0}};
  return m;
}

TEST(latency, is_that_of_the_level_where_the_line_is_found) {
  memory_model model(two_nodes());
  model.place(0, MB, page_policy::bind, 0);
  model.place(MB, MB, page_policy::bind, 1);
  EXPECT_DOUBLE_EQ(model.access(0, 0, 8, false, 0), 100);
  EXPECT_DOUBLE_EQ(model.access(0, 0, 8, false, 0), 1);
  EXPECT_DOUBLE_EQ(model.access(0, MB, 8, false, 0), 110 + 70) << "data comes over the link from node 1 to node 0";
  EXPECT_DOUBLE_EQ(model.access(4, MB + 4 * kB, 8, false, 0), 110);
  EXPECT_DOUBLE_EQ(model.access(4, 0, 8, false, 0), 100 + 60);
  for (std::uint64_t at = 64; at < 8 * kB; at += 64) model.access(0, at, 8, false, 0);
  EXPECT_DOUBLE_EQ(model.access(0, 0, 8, false, 0), 5) << "pushed out of the first level only";
  EXPECT_DOUBLE_EQ(model.access(0, 0, 0, false, 0), 0);
  EXPECT_DOUBLE_EQ(model.access(0, 60, 8, false, 0), 1 + 5)
      << "two lines, the second from the second level; they do not overlap";
}

TEST(latency, of_consecutive_lines_overlaps) {
  machine::model m = two_nodes();
  for (const unsigned overlap : {1u, 4u, 10u}) {
    m.overlap = overlap;
    memory_model model(m);
    constexpr unsigned lines = 40;
    EXPECT_DOUBLE_EQ(model.access(0, 0, lines * 64, false, 0), 100.0 * lines / overlap);
    EXPECT_DOUBLE_EQ(model.access(0, 0, lines * 64, false, 0), 1.0 * lines / overlap);
    // Lines of separate calls do not overlap: one may depend on the other.
    double time = 0;
    for (unsigned i = 0; i < lines; ++i) time += model.access(1, i * 64, 8, false, time);
    EXPECT_DOUBLE_EQ(time, 100.0 * lines);
  }
}

// Elements that are told one by one cost what the array told at once does: a line its part of the overlap, and its
// other elements nothing. Time of a line: latency / overlap.
TEST(latency, of_a_stream_of_elements_is_that_of_the_range) {
  using goes_on = memory_model::goes_on;
  machine::model m = two_nodes();
  m.overlap = 10;
  constexpr unsigned lines = 60;  // of the 64 of the first level
  for (const std::uint64_t element : {8u, 64u}) {
    memory_model model(m);
    const auto by_elements = [&] {
      double time = model.access(0, 0, element, false, 0);
      for (std::uint64_t at = element; at < lines * 64; at += element)
        time += model.access(0, at, element, false, time, at % 64 == 0 ? goes_on::next_line : goes_on::same_line);
      return time;
    };
    EXPECT_NEAR(by_elements(), 100 + 100.0 * (lines - 1) / 10, 1e-9) << "from memory";
    EXPECT_NEAR(by_elements(), 1 + 1.0 * (lines - 1) / 10, 1e-9) << "from the first level";
    memory_model whole(m);
    EXPECT_NEAR(whole.access(0, 0, lines * 64, false, 0), 100.0 * lines / 10, 1e-9);
  }
  // A line that somebody else has taken meanwhile takes its time again.
  m.nodes[0].coherence = {60, 60};
  memory_model model(m);
  model.access(0, 0, 8, false, 0);
  model.access(1, 0, 8, true, 500);
  EXPECT_DOUBLE_EQ(model.access(0, 8, 8, false, 1000, goes_on::same_line), 60);
}

// Cores read their own memory in calls of `chunk` bytes, the earliest one first; bytes per ns of all together.
double streamed(memory_model& model, const std::vector<unsigned>& units, std::uint64_t chunk, std::uint64_t bytes_each,
                bool write = false) {
  std::vector<double> clocks(units.size(), 0);
  std::vector<std::uint64_t> done(units.size(), 0);
  while (true) {
    const auto first = static_cast<std::size_t>(std::min_element(clocks.begin(), clocks.end()) - clocks.begin());
    if (done[first] == bytes_each) break;
    clocks[first] += model.access(units[first], (first + 1) << 32 | done[first], chunk, write, clocks[first]);
    done[first] += chunk;
  }
  return static_cast<double>(bytes_each * units.size()) / *std::max_element(clocks.begin(), clocks.end());
}

machine::model limited(double node, double link) {
  machine::model m = two_nodes();
  m.overlap = 16;
  for (auto& n : m.nodes) n.bandwidth = node;
  for (auto& l : m.links) l.bandwidth = link;
  return m;
}

TEST(bandwidth, cores_together_get_that_of_the_node) {
  for (const std::uint64_t chunk : {64 * kB, 4 * kB, 256 * kB}) {
    memory_model model(limited(20, 0));
    for (unsigned i = 0; i < 4; ++i) model.place(std::uint64_t{i + 1} << 32, 64 * MB, page_policy::bind, 0);
    EXPECT_NEAR(streamed(model, {0, 1, 2, 3}, chunk, 8 * MB), 20, 0.2) << chunk;
  }
}

TEST(bandwidth, one_core_is_bound_by_its_overlap) {
  memory_model model(limited(100, 0));
  EXPECT_NEAR(streamed(model, {0}, MB, 8 * MB), 16 * 64 / 100.0, 0.1);
}

TEST(bandwidth, of_two_nodes_adds_up) {
  memory_model model(limited(20, 0));  // first touch: each core has its own
  EXPECT_NEAR(streamed(model, {0, 1, 2, 3, 4, 5, 6, 7}, 4 * kB, 4 * MB), 40, 0.4);
}

// A stream of writes moves each line twice: it is read, since the whole line is not known to be written, and written
// back when the last level loses it. So memory of bandwidth b takes writes at b / 2; what the caches keep (64 KB of
// each core's 4 MB) is not yet written back.
TEST(bandwidth, of_writes_is_half_of_that_of_reads) {
  memory_model model(limited(20, 0));
  EXPECT_NEAR(streamed(model, {0, 1, 2, 3}, 4 * kB, 4 * MB, true), 10, 0.3);
  const std::uint64_t kept = 4 * (64 * kB);
  EXPECT_EQ(model.nodes()[0].written_bytes, 16 * MB - kept);
  EXPECT_EQ(model.nodes()[0].local_bytes, 16 * MB);
}

// The two directions of a link are two links: reads come over one, write-backs go over the other.
TEST(bandwidth, of_writes_to_remote_memory_is_that_of_one_direction_of_the_link) {
  memory_model model(limited(20, 8));
  for (unsigned i = 0; i < 4; ++i) model.place(std::uint64_t{i + 1} << 32, 64 * MB, page_policy::bind, 1);
  EXPECT_NEAR(streamed(model, {0, 1, 2, 3}, 4 * kB, 4 * MB, true), 8, 0.1);
}

// Nobody waits for a write-back but who comes after it.
TEST(bandwidth, a_write_back_does_not_delay_the_line_that_drives_it_out) {
  memory_model model(limited(1, 0));
  model.access(0, 0, 64 * kB, true, 0);
  for (std::uint64_t i = 0; i < 16; ++i)
    EXPECT_DOUBLE_EQ(model.access(0, MB + i * 64, 8, true, 1e6 + 1e4 * static_cast<double>(i)), 100);
  EXPECT_GT(model.nodes()[0].written_bytes, 0u);
}

TEST(bandwidth, of_remote_memory_is_that_of_the_link) {
  memory_model model(limited(20, 8));
  for (unsigned i = 0; i < 4; ++i) model.place(std::uint64_t{i + 1} << 32, 64 * MB, page_policy::bind, 1);
  EXPECT_NEAR(streamed(model, {0, 1, 2, 3}, 4 * kB, 4 * MB), 8, 0.08);
  EXPECT_EQ(model.nodes()[1].remote_bytes, 16 * MB);
}

TEST(bandwidth, of_one_channel_limits_who_hits_only_that) {
  // Every fourth line of a page lies on the same of four channels.
  memory_model model(limited(20, 0));
  std::vector<double> clocks(4, 0);
  constexpr std::uint64_t lines = 20'000;
  for (std::uint64_t i = 0; i < lines; ++i) {
    for (unsigned core = 0; core < 4; ++core) {
      for (unsigned together = 0; together < 2; ++together) {
        const std::uint64_t at = (std::uint64_t{core + 1} << 32) + (2 * i + together) * 256;
        clocks[core] =
            std::max(clocks[core], clocks[core] + (together == 0 ? 0 : model.access(core, at, 8, false, clocks[core])));
      }
    }
  }
  // Latency-bound: 4 cores, one line per 100 ns. No waiting to speak of.
  EXPECT_NEAR(clocks[0], lines * 100.0, lines * 15.0);
  memory_model crowded(limited(1, 0));  // a channel serves a quarter of a byte per ns
  double time = 0, first = 0;
  for (int i = 0; i < 100; ++i) {
    time = crowded.access(0, static_cast<std::uint64_t>(i) * 256, 8, false, 0);
    if (i == 0) first = time;
  }
  EXPECT_NEAR(first, 100, 1e-9);
  EXPECT_NEAR(time, 100 + 99 * 64 / 0.25, 1e-2) << "the hundredth waits for ninety-nine lines";
}

// A long call does not keep others out of memory at times that it hardly uses.
TEST(waiting, is_for_what_happens_at_the_same_time) {
  memory_model model(limited(100, 0));
  const double alone = model.access(0, 1ull << 32, 4 * MB, false, 0);
  EXPECT_NEAR(alone, 4.0 * MB * 100 / (16 * 64), alone * 0.01);
  const double beside = model.access(1, 2ull << 32, 64 * kB, false, 1000);
  EXPECT_NEAR(beside, 64.0 * kB * 100 / (16 * 64), beside * 0.02);
}

TEST(waiting, calls_that_come_too_late_are_served_in_the_history) {
  memory_model model(limited(1, 0));
  model.access(0, 0, 64, false, 1e9);
  EXPECT_DOUBLE_EQ(model.access(0, 4 * kB, 8, false, 0), 100);
  EXPECT_DOUBLE_EQ(model.access(0, 8 * kB, 8, false, 1e9 + 500), 100);
}

}  // namespace
}  // namespace time_test
}  // namespace heddle::sim
