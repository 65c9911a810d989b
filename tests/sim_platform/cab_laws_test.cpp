// CAB and LAWS on a modelled machine of four sockets: what is measured decides where the cut lies and whether there is
// one, subtrees come back to their sockets, and data that is used again is found there.
#include <gtest/gtest.h>

#include <heddle/cost.hpp>
#include <heddle/heddle.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "sim/session.hpp"

namespace heddle::sim {
namespace cab_laws_test {
namespace {

constexpr unsigned parts = 32;
constexpr std::size_t bytes_a_part = 256 << 10;  // 8 MB altogether; a socket has 6 MB

struct program {
  std::size_t bytes = bytes_a_part;  // that each leaf reads of its part; 0 means that it computes
  double cycles = 20'000;
  bool tells = false;  // groups tell their bytes
  int iterations = 12;
};

struct outcome {
  std::vector<std::vector<int>> sockets;  // of each iteration, of each leaf
  picoseconds last{0};                    // the second half of the iterations

  // Sockets that ran a leaf of quarter `q`.
  std::size_t sockets_of(std::size_t iteration, unsigned q) const {
    const std::vector<int>& all = sockets[iteration];
    return std::set<int>(all.begin() + q * parts / 4, all.begin() + (q + 1) * parts / 4).size();
  }
};

outcome run(const std::string& policy, const program& p) {
  session_options o;
  o.machine = "opteron-8380-4x4";
  o.charge = charging::annotations;
  const session simulation(o);
  runtime_options r;
  r.workers = 16;
  r.bind = "on";
  r.policy = policy;
  r.seed = 7;
  runtime home(r);
  std::vector<char> data(parts * bytes_a_part + 64);
  char* const first = data.data() + (64 - reinterpret_cast<std::uintptr_t>(data.data()) % 64) % 64;
  outcome all;
  home.run([&] {
    for (int i = 0; i < p.iterations; ++i) {
      std::vector<int> socket(parts, -1);
      const auto halves = [&](const auto& self, unsigned from, unsigned count) -> void {
        if (count == 1) {
          socket[from] = home.worker_rank() / 4;
          if (p.bytes != 0) cost::read(first + from * bytes_a_part, p.bytes);
          cost::cycles(p.cycles);
          return;
        }
        task_group group(count, p.tells ? count * p.bytes : 0);
        group.expect(2);
        group.run([&, from, count] { self(self, from, count / 2); });
        group.run([&, from, count] { self(self, from + count / 2, count / 2); });
        group.wait();
      };
      const picoseconds start = active->now();
      halves(halves, 0, parts);
      if (2 * i >= p.iterations) all.last += active->now() - start;
      all.sockets.push_back(socket);
    }
  });
  return all;
}

TEST(cab_on_four_sockets, subtrees_come_back_to_their_sockets) {
  for (const char* policy : {"cab-fto", "cab-gto", "cab-gto:soid=profile"}) {
    program p;
    p.tells = true;
    const outcome o = run(policy, p);
    for (std::size_t i = 6; i < o.sockets.size(); ++i) EXPECT_EQ(o.sockets[i], o.sockets[5]) << policy << " " << i;
    for (unsigned q = 0; q < 4; ++q) EXPECT_EQ(o.sockets_of(6, q), 1u) << policy;
    EXPECT_LT(o.last, run("random_ws", p).last) << policy;
  }
}

// The measured sizes are those of the leaves' data: with caches of little more than 1 MB four leaves are a subtree.
TEST(cab_on_four_sockets, what_is_measured_decides_where_the_cut_lies) {
  program p;
  const outcome whole = run("cab-gto:soid=profile,cache=1100000", p);  // 1 MB and the tasks' own lines
  for (unsigned leaf = 0; leaf < parts; ++leaf)
    EXPECT_EQ(whole.sockets[8][leaf], whole.sockets[8][leaf / 4 * 4]) << "four leaves are a subtree of 1 MB";
  const outcome literal = run("cab-gto:soid=profile,bound=0,cache=1e9", p);
  for (std::size_t i = 1; i < literal.sockets.size(); ++i) {
    EXPECT_EQ(std::set<int>(literal.sockets[i].begin(), literal.sockets[i].end()).size(), 1u)
        << "without the bound, what fits into one cache stays within one socket";
  }
}

TEST(cab_on_four_sockets, programs_that_compute_run_under_plain_stealing) {
  program computes;
  computes.bytes = 0;
  computes.iterations = 14;
  program reads = computes;
  reads.bytes = bytes_a_part;
  for (const char* policy : {"cab-gto:soid=profile", "laws", "laws-nc"}) {
    const auto spread = [&](const program& p) {
      const outcome o = run(policy, p);
      std::size_t most = 0;
      for (std::size_t i = 9; i < o.sockets.size(); ++i) {
        for (unsigned q = 0; q < 4; ++q) most = std::max(most, o.sockets_of(i, q));
      }
      return most;
    };
    EXPECT_GT(spread(computes), 1u) << policy;
    // laws-nc lets others steal its pieces, which are smaller.
    if (policy != std::string("laws-nc")) {
      EXPECT_EQ(spread(reads), 1u) << policy;
    }
  }
}

TEST(laws_on_four_sockets, data_is_used_where_it_was_first_touched) {
  const outcome o = run("laws", {});
  for (unsigned leaf = 0; leaf < parts; ++leaf) EXPECT_EQ(o.sockets[0][leaf], static_cast<int>(leaf / 8)) << leaf;
  EXPECT_EQ(o.sockets.back(), o.sockets[0]);
  EXPECT_LT(o.last, run("random_ws", {}).last);
}

}  // namespace
}  // namespace cab_laws_test
}  // namespace heddle::sim
