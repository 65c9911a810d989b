// Tells the cost of four bytes, "all" of its work, or nothing; then computes.
#include <cmath>
#include <cstdio>
#include <cstring>

#include <heddle/cost.hpp>
#include <heddle/parallel_for.hpp>

int main(int argc, char** argv) {
  const bool all = argc > 1 && std::strcmp(argv[1], "all") == 0;
  constexpr int turns = 1'000'000, pieces = 64;
  double sums[pieces] = {};
  heddle::cost::read(sums, 4);
  heddle::parallel_for(0, pieces, [&](int piece) {
    if (all) heddle::cost::cycles(20.0 * turns);
    double sum = 0;
    for (int i = 0; i < turns; ++i) sum += std::sqrt(static_cast<double>(i + piece));
    sums[piece] = sum;
  });
  std::printf("%g\n", sums[0]);
}
