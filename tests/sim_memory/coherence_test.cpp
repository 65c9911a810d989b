// The costs that arise because a line has an owner: cases whose time is a formula of the machine's figures.
//
// The protocol is MESI (Papamarcos and Patel, ISCA 1984): a block is modified in one core's caches, or shared, or
// clean. A request for a block that another core has modified is served out of that core's caches, and a write to a
// shared one waits until the others' copies are gone. David, Guerraoui and Trigonakis (SOSP 2013) measure that a line
// goes from core to core one request after the other, each taking the latency of the way: one operation on a line that
// bounces takes the latency of a transfer, whatever the number of cores.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sim/flat_machine.hpp"
#include "sim/memory_model.hpp"

namespace heddle::sim {
namespace coherence_test {
namespace {

using machine::group_kind;

constexpr double l1 = 1, l2 = 5, l3 = 20, memory = 90, link = 60;
constexpr double transfer = 45, upgrade = 40, far_transfer = 115, far_upgrade = 120;

// Two sockets of eight cores: a third level for each, no limits of bandwidth.
machine::model two_sockets(double wire = 0) {
  const cache_form forms[] = {
      {group_kind::l1, 4096, 4}, {group_kind::l2, 65536, 8}, {group_kind::l3, std::uint64_t{1} << 20, 16}};
  machine::model m = bare_machine("pack:2 [numa] l3:1 l2:8 l1:1 pu:1", forms);
  m.caches = {{group_kind::l1, l1}, {group_kind::l2, l2}, {group_kind::l3, l3, {transfer, upgrade}}};
  m.nodes = {{0, memory, 0, 1}, {1, memory, 0, 1}};
  m.links = {{0, 1, link, wire, {far_transfer, far_upgrade}}, {1, 0, link, wire, {far_transfer, far_upgrade}}};
  m.overlap = 10;
  return m;
}

// Units write to addresses of their own, `each` times, whoever is behind first; returns when the last has done.
template <class Address>
double written(memory_model& model, const std::vector<unsigned>& units, unsigned each, Address&& address) {
  std::vector<double> clocks(units.size(), 0);
  std::vector<unsigned> done(units.size(), 0);
  while (true) {
    std::size_t next = units.size();
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (done[i] != each && (next == units.size() || clocks[i] < clocks[next])) next = i;
    }
    if (next == units.size()) break;
    clocks[next] += model.access(units[next], address(next), 8, true, clocks[next]);
    ++done[next];
  }
  return *std::max_element(clocks.begin(), clocks.end());
}

// n increments by k cores cost n transfers, one after the other, whatever k is: time = n * transfer. A core that has
// the line and is the first to ask again at the same time writes once more before the line goes, so a few of n cost
// nothing.
TEST(ownership, a_contended_counter_costs_a_transfer_an_increment) {
  for (const unsigned cores : {2u, 4u, 8u}) {
    memory_model model(two_sockets());
    std::vector<unsigned> units(cores);
    for (unsigned i = 0; i < cores; ++i) units[i] = i;
    constexpr unsigned each = 1000;
    const double took = written(model, units, each, [](std::size_t) { return 0; });
    EXPECT_NEAR(took, cores * each * transfer, 0.05 * cores * each * transfer) << cores;
  }
}

// The same from both sockets, whose cores take turns: of sixteen increments, one after the other, two cross the link if
// those who wait are served in the order in which they came.
TEST(ownership, a_counter_of_two_sockets_pays_the_link_where_it_crosses) {
  memory_model model(two_sockets());
  std::vector<unsigned> units(16);
  for (unsigned i = 0; i < 16; ++i) units[i] = i;
  constexpr unsigned each = 1000;
  const double took = written(model, units, each, [](std::size_t) { return 0; });
  const double formula = each * (14 * transfer + 2 * far_transfer);
  EXPECT_NEAR(took, formula, 0.02 * formula);
}

// Two cores that write to one line in turns: a transfer a write, by where they meet.
TEST(ownership, ping_pong_costs_a_transfer_by_where_the_cores_meet) {
  memory_model model(two_sockets());
  double time = model.access(0, 0, 8, true, 0);
  EXPECT_DOUBLE_EQ(time, memory);
  for (int i = 0; i < 20; ++i) {
    const double took = model.access(i % 2 == 0 ? 1 : 0, 0, 8, true, time);
    EXPECT_DOUBLE_EQ(took, transfer);
    time += took;
  }
  for (int i = 0; i < 20; ++i) {
    const double took = model.access(i % 2 == 0 ? 8 : 0, 0, 8, true, time);
    EXPECT_DOUBLE_EQ(took, far_transfer);
    time += took;
  }
  EXPECT_EQ(model.reach_of(8).transfers, 10u);
  EXPECT_EQ(model.reach_of(8).from_caches, 10u);
  EXPECT_EQ(model.reach_of(8).local + model.reach_of(8).remote, 0u) << "memory was not asked";
}

// Words of their own in one line against lines of their own: transfer against a line in the innermost cache.
TEST(ownership, false_sharing_costs_what_sharing_does) {
  constexpr unsigned each = 1000;
  const std::vector<unsigned> units{0, 1};
  memory_model shared(two_sockets()), apart(two_sockets());
  const double one_line = written(shared, units, each, [](std::size_t i) { return 8 * i; });
  const double two_lines = written(apart, units, each, [](std::size_t i) { return 64 * i; });
  EXPECT_NEAR(one_line, 2 * each * transfer, 0.05 * 2 * each * transfer);
  EXPECT_NEAR(two_lines, each * l1 + memory, 0.01 * each * l1);
}

// A core that reads a modified line gets it from the other core's caches, and leaves it shared.
TEST(ownership, a_read_of_a_modified_line_is_a_transfer_and_the_next_is_not) {
  memory_model model(two_sockets());
  model.access(0, 0, 8, true, 0);
  EXPECT_DOUBLE_EQ(model.access(1, 0, 8, false, 1000), transfer);
  EXPECT_DOUBLE_EQ(model.access(2, 0, 8, false, 2000), l3) << "shared: the common cache has it";
  EXPECT_DOUBLE_EQ(model.access(0, 0, 8, false, 3000), l1);
  model.access(0, 64, 8, true, 4000);
  EXPECT_DOUBLE_EQ(model.access(8, 64, 8, false, 5000), far_transfer) << "less than the memory of the other node";
  EXPECT_DOUBLE_EQ(model.access(9, 64, 8, false, 6000), l3);
}

// A line that its owner's own caches have lost is where it was written back to.
TEST(ownership, a_modified_line_that_was_pushed_out_is_found_further_out) {
  memory_model model(two_sockets());
  model.access(0, 0, 8, true, 0);
  for (std::uint64_t at = 4096; at < 4096 + 2 * 65536; at += 64) model.access(0, at, 8, false, 1000);
  EXPECT_DOUBLE_EQ(model.access(1, 0, 8, false, 2000), l3) << "out of the second level, in the third";
}

// A write waits for the copy that is farthest away; the writer's own look-up is part of that time.
TEST(ownership, an_upgrade_costs_the_way_to_the_farthest_copy) {
  memory_model model(two_sockets());
  model.access(0, 0, 8, false, 0);
  EXPECT_DOUBLE_EQ(model.access(0, 0, 8, true, 100), l1) << "nobody else has it";
  model.access(0, 64, 8, false, 200);
  for (unsigned unit = 1; unit < 8; ++unit) model.access(unit, 64, 8, false, 300);
  EXPECT_DOUBLE_EQ(model.access(0, 64, 8, true, 1000), upgrade);
  EXPECT_DOUBLE_EQ(model.access(0, 64, 8, true, 2000), l1) << "it is modified here now";
  model.access(0, 128, 8, false, 3000);
  model.access(1, 128, 8, false, 3100);
  model.access(8, 128, 8, false, 3200);
  EXPECT_DOUBLE_EQ(model.access(0, 128, 8, true, 4000), far_upgrade);
  EXPECT_EQ(model.reach_of(0).upgrades, 2u);
}

// Reads of a shared line cost nothing more, however many.
TEST(ownership, readers_do_not_wait_for_each_other) {
  memory_model model(two_sockets());
  model.access(0, 0, 8, false, 0);
  for (unsigned unit = 1; unit < 8; ++unit) EXPECT_DOUBLE_EQ(model.access(unit, 0, 8, false, 1000), l3);
  for (unsigned unit = 0; unit < 8; ++unit) EXPECT_DOUBLE_EQ(model.access(unit, 0, 8, false, 2000), l1);
}

// Lines of one call overlap when they are transferred, too: n lines take n / overlap transfers.
TEST(ownership, transfers_of_several_lines_overlap) {
  memory_model model(two_sockets());
  constexpr unsigned lines = 40;
  model.access(0, 0, lines * 64, true, 0);
  EXPECT_DOUBLE_EQ(model.access(1, 0, lines * 64, false, 10'000), transfer * lines / 10);
}

// Data from a cache of the other socket use the link like data from its memory: bytes / bandwidth.
TEST(ownership, transfers_between_sockets_share_the_link) {
  constexpr double wire = 2;
  memory_model model(two_sockets(wire));
  constexpr std::uint64_t bytes = 32768;
  model.access(0, 0, bytes, true, 0);
  const double took = model.access(8, 0, bytes, false, 100'000);
  EXPECT_NEAR(took, bytes / wire, 0.02 * bytes / wire);
}

// A call that was overtaken by a later one does not wait for it.
TEST(ownership, a_request_of_an_earlier_time_does_not_wait_for_a_later_one) {
  memory_model model(two_sockets());
  model.access(0, 0, 8, true, 0);
  EXPECT_DOUBLE_EQ(model.access(1, 0, 8, true, 50'000), transfer);
  EXPECT_DOUBLE_EQ(model.access(2, 0, 8, true, 40'000), transfer);
  EXPECT_DOUBLE_EQ(model.access(3, 0, 8, true, 50'000), 2 * transfer);
}

}  // namespace
}  // namespace coherence_test
}  // namespace heddle::sim
