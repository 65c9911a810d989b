// divide WORK LEAF: divide and conquer over WORK microseconds of computation, told, down to leaves of at most LEAF
// microseconds. The halves are unlike: the first has between a fifth and four fifths, by a hash of where it is.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <heddle/cost.hpp>
#include <heddle/parallel_invoke.hpp>

namespace {

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr double cycles_a_microsecond = 3000;  // at 3 GHz

// Leaves below.
long divide(double work, double leaf, std::uint64_t place) {
  if (work <= leaf) {
    heddle::cost::cycles(work * cycles_a_microsecond);
    return 1;
  }
  const double part = 0.2 + 0.6 * static_cast<double>(mixed(place) >> 11) / 9007199254740992.0;
  const auto [a, b] = heddle::parallel_invoke([=] { return divide(work * part, leaf, 2 * place); },
                                              [=] { return divide(work * (1 - part), leaf, 2 * place + 1); });
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  const double work = argc > 1 ? std::atof(argv[1]) : 10000;
  const double leaf = argc > 2 ? std::atof(argv[2]) : 20;
  if (!(work > 0) || !(leaf > 0)) {
    std::fprintf(stderr, "divide: WORK and LEAF are microseconds above 0\n");
    return 2;
  }
  std::printf("%ld\n", divide(work, leaf, 1));
}
