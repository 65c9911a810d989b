// Kernels that compute and touch little memory: what they compute, and the same results on heddle.
#include <gtest/gtest.h>

#include <vector>

#include "backend/heddle.hpp"
#include "backend/serial.hpp"
#include "captured.hpp"
#include "checkers/checkers.hpp"
#include "cholesky/cholesky.hpp"
#include "ga/ga.hpp"
#include "knapsack/knapsack.hpp"
#include "mandelbrot/mandelbrot.hpp"

namespace heddle::bench {
namespace cpu_kernels_test {
namespace {

std::uint64_t positions(const checkers_board& b, unsigned depth) {
  if (depth == 0) return 1;
  const checkers_moves moves(b);
  std::uint64_t sum = 0;
  for (int i = 0; i < moves.size(); ++i) sum += positions(moves[i], depth - 1);
  return sum;
}
int plain_value(const checkers_board& b, unsigned depth) {
  if (depth == 0) return checkers_value(b);
  const checkers_moves moves(b);
  int best = checkers_lost;
  for (int i = 0; i < moves.size(); ++i) best = std::max(best, -plain_value(moves[i], depth - 1));
  return best;
}

// The published counts of English draughts.
TEST(checkers, has_the_known_number_of_games) {
  const std::uint64_t known[] = {1, 7, 49, 302, 1469, 7361, 36768, 179740, 845931};
  for (unsigned depth = 0; depth < std::size(known); ++depth) EXPECT_EQ(positions({}, depth), known[depth]) << depth;
}

TEST(checkers, must_jump_and_jumps_on) {
  const auto at = [](std::initializer_list<int> squares) {
    std::uint32_t all = 0;
    for (const int s : squares) all |= std::uint32_t{1} << s;
    return all;
  };
  // A man on 9 jumps over 14 to 18, and from there over 22 or 23.
  const checkers_board b{at({0, 9}), at({14, 22, 23}), 0};
  const checkers_moves moves(b);
  ASSERT_EQ(moves.size(), 2);
  for (int i = 0; i < 2; ++i) {
    const checkers_board after = turned(moves[i]);
    EXPECT_EQ(std::popcount(after.mine), 2);
    EXPECT_EQ(std::popcount(after.theirs), 1);
    EXPECT_EQ(after.kings, 0u);
  }
  // A man that is crowned stops, and a king goes back.
  const checkers_board near{at({24}), at({0}), 0};
  const checkers_moves crowned(near);
  ASSERT_GT(crowned.size(), 0);
  for (int i = 0; i < crowned.size(); ++i) EXPECT_EQ(std::popcount(crowned[i].kings), 1);
  EXPECT_GT(checkers_moves({at({28}), at({0}), at({28})}).size(), 0);
  EXPECT_EQ(checkers_moves({at({28}), at({0}), 0}).size(), 0) << "a man does not";
}

TEST(checkers, alpha_beta_has_the_value_of_plain_search) {
  for (unsigned depth = 0; depth < 8; ++depth) {
    const int expected = plain_value({}, depth);
    for (unsigned parallel = 0; parallel < 4; ++parallel)
      EXPECT_EQ(checkers_task<serial_backend>({}, depth, parallel).value, expected) << depth;
  }
  EXPECT_LT(checkers_task<serial_backend>({}, 8, 0).positions, 845931u) << "it leaves some out";
}

TEST(cholesky, factor_times_itself_is_the_matrix) {
  for (const std::size_t n : {1, 50, 150, 200}) {
    const std::vector<double> input = cholesky::matrix(n);
    std::vector<double> r = input;
    cholesky_tasks<serial_backend>::factor(r.data(), n, n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i; j < n; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k <= i; ++k) sum += r[k * n + i] * r[k * n + j];
        ASSERT_NEAR(sum, input[i * n + j], 1e-9) << i << " " << j;
      }
    }
    digest known;
    for (std::size_t i = n; i-- > 0;) known.add((i % 7 + 1) * 1'000'000);
    EXPECT_EQ(cholesky::solved(input, r, n), known.value());
    r[(n / 2) * n + n - 1] += 1e-2;
    EXPECT_NE(cholesky::solved(input, r, n), known.value());
  }
}

TEST(mandelbrot, knows_points_inside_and_outside) {
  for (const auto& [re, im] : {std::pair(0.0, 0.0), {-1.0, 0.0}, {-0.1, 0.7}, {0.25, 0.0}})
    EXPECT_EQ(mandelbrot_steps(re, im), mandelbrot_limit) << re;
  EXPECT_EQ(mandelbrot_steps(3, 0), 1u);
  EXPECT_EQ(mandelbrot_steps(1, 0), 3u);  // 0, 1, 2, 5
  EXPECT_LT(mandelbrot_steps(0.3, 0.6), mandelbrot_limit);
  std::vector<std::uint32_t> above(64), below(64);
  mandelbrot_row(64, 10, above.data());
  mandelbrot_row(64, 53, below.data());
  EXPECT_EQ(above, below) << "the set is symmetric";
}

TEST(knapsack, finds_what_a_table_of_all_loads_has) {
  for (const std::size_t n : {1, 2, 12, 13, 20, 30}) {
    knapsack_problem problem(n);
    problem.solve<serial_backend>();
    std::vector<std::uint64_t> best(problem.room() + 1);
    for (const knapsack_item& item : problem.items())
      for (std::size_t room = problem.room(); room >= item.weight; --room)
        best[room] = std::max(best[room], best[room - item.weight] + item.value);
    EXPECT_EQ(problem.best(), best[problem.room()]) << n;
  }
}

TEST(ga, counts_the_pairs_of_a_cut) {
  const ga_graph graph;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::uint64_t side = mix64(seed);
    std::uint32_t pairs = 0;
    for (unsigned i = 0; i < 64; ++i)
      for (unsigned j = 0; j < i; ++j) pairs += graph.joins(i, j) && (side >> i & 1) != (side >> j & 1) ? 1 : 0;
    EXPECT_EQ(graph.cut(side), pairs);
    EXPECT_EQ(graph.cut(~side), pairs);
  }
}

TEST(ga, islands_become_better_and_the_best_ones_travel) {
  const ga_graph graph;
  std::uint32_t before = 0;
  for (const std::size_t rounds : {0, 1, 10}) {
    std::uint32_t best = 0;
    for (const ga_island& i : ga::evolve<serial_backend>(graph, 8, rounds)) {
      EXPECT_EQ(graph.cut(i.best().bits), i.best().worth);
      best = std::max(best, i.best().worth);
    }
    EXPECT_GT(best, before);
    before = best;
  }
  // With a round as long as all together nobody travels: another result.
  ga_island alone(graph, 3);
  for (int round = 0; round < 10; ++round) alone.develop();
  EXPECT_NE(ga::evolve<serial_backend>(graph, 8, 10)[3].best().bits, alone.best().bits);
}

class cpu_kernels : public testing::TestWithParam<unsigned> {
 protected:
  template <class Kernel>
  static void expect_serial_results(std::size_t n, std::size_t iterations = 0) {
    const auto expected = measured<serial_backend, Kernel>(n, 1, iterations);
    const auto given = measured<heddle_backend, Kernel>(n, GetParam(), iterations);
    EXPECT_EQ(given.at("time").checksum, expected.at("time").checksum);
    EXPECT_NE((measured<serial_backend, Kernel>(n + 2, 1, iterations).at("time").checksum),
              expected.at("time").checksum);
  }
};
TEST_P(cpu_kernels, checkers) { expect_serial_results<checkers>(7); }
TEST_P(cpu_kernels, cholesky) { expect_serial_results<cholesky>(200); }
TEST_P(cpu_kernels, ga) { expect_serial_results<ga>(12, 3); }
TEST_P(cpu_kernels, knapsack) { expect_serial_results<knapsack>(26); }
TEST_P(cpu_kernels, mandelbrot) { expect_serial_results<mandelbrot>(65); }
INSTANTIATE_TEST_SUITE_P(workers, cpu_kernels, testing::Values(1u, 2u, 3u, 4u, 8u));

TEST(cpu_sizes, refuse_sizes_that_they_cannot_have) {
  EXPECT_THROW((measured<serial_backend, checkers>(41)), std::invalid_argument);
  EXPECT_THROW((measured<serial_backend, ga>(0)), std::invalid_argument);
  EXPECT_THROW((measured<serial_backend, knapsack>(0)), std::invalid_argument);
  EXPECT_THROW((measured<serial_backend, mandelbrot>(100'000)), std::invalid_argument);
  EXPECT_THROW((measured<serial_backend, mandelbrot>(20, 1, 3)), std::invalid_argument) << "no iterations";
}

}  // namespace
}  // namespace cpu_kernels_test
}  // namespace heddle::bench
