// fib N, annotated: what its calls cost is told, so that a simulated run is the same each time.
#include <cstdio>
#include <cstdlib>

#include <heddle/cost.hpp>
#include <heddle/parallel_invoke.hpp>

namespace {

long fib(int n) {
  if (n < 2) {
    heddle::cost::cycles(20);
    return n;
  }
  const auto [a, b] = heddle::parallel_invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  heddle::cost::cycles(10);
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  const long value = fib(argc > 1 ? std::atoi(argv[1]) : 20);
  std::printf("%ld\n", value);
}
