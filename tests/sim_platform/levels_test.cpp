// A policy at each level, on simulated machines of four sockets: results, what stays in a socket, and that a run can be
// repeated.
#include <gtest/gtest.h>

#include <atomic>
#include <cctype>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <heddle/heddle.hpp>

#include "platform/sim/engine.hpp"
#include "sim/session.hpp"
#include "tests/support/fib.hpp"

namespace heddle::sim {
namespace levels_test {
namespace {

constexpr std::size_t mb = std::size_t{1} << 20;

struct outcome {
  std::vector<int> ranks;  // of each leaf
  std::vector<int> times;  // how often it ran
  long fib{0};

  bool operator==(const outcome&) const = default;
};

// 16 pieces that fit into a socket's cache, each a loop of 64 leaves; then forks without hints.
outcome simulated(const std::string& policy) {
  session_options o;
  o.machine = "skylake-4x16";
  o.charge = charging::annotations;
  const session simulation(o);
  runtime home({.workers = 64, .policy = policy, .seed = 7});
  outcome got;
  got.ranks.resize(16 * 64, -1);
  got.times.resize(16 * 64);
  home.run([&] {
    for (int iteration = 0; iteration < 3; ++iteration) {
      task_group whole(16, 256 * mb);
      for (std::size_t piece = 0; piece < 16; ++piece) {
        whole.run(
            [&got, &home, piece] {
              parallel_for(std::size_t{0}, std::size_t{64},
                           [&](std::size_t leaf) {
                             active->charge(activity::program, 20'000'000);  // 20 us
                             got.ranks[piece * 64 + leaf] = home.worker_rank();
                             ++got.times[piece * 64 + leaf];
                           },
                           {.grain = 1});
            },
            1);
      }
      whole.wait();
    }
    got.fib = heddle_test::fib(16);
  });
  return got;
}

class levels : public testing::TestWithParam<std::string> {};

TEST_P(levels, keep_pieces_in_their_socket_and_can_be_repeated) {
  const outcome got = simulated(GetParam());
  EXPECT_EQ(got.fib, 987);
  std::set<int> sockets, workers;
  for (std::size_t piece = 0; piece < 16; ++piece) {
    std::set<int> of_piece;
    for (std::size_t leaf = 0; leaf < 64; ++leaf) {
      EXPECT_EQ(got.times[piece * 64 + leaf], 3);
      of_piece.insert(got.ranks[piece * 64 + leaf] / 16);
      workers.insert(got.ranks[piece * 64 + leaf]);
    }
    EXPECT_EQ(of_piece.size(), 1u) << "piece " << piece;
    sockets.insert(of_piece.begin(), of_piece.end());
  }
  EXPECT_EQ(sockets.size(), 4u) << "every socket has pieces";
  EXPECT_GT(workers.size(), 32u) << "and its workers share them";
  EXPECT_EQ(simulated(GetParam()), got) << "the same seed";
}

INSTANTIATE_TEST_SUITE_P(combinations, levels,
                         testing::Values("levels:l3=adws,l2=random_ws", "levels:l3=random_ws,l2=adws",
                                         "levels:l3=ml-adws,l2=hierarchical_ws", "levels:l3=pdf,l2=work_sharing"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) {
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace levels_test
}  // namespace heddle::sim
