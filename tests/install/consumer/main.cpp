// Uses what is installed: fork-join, a loop, a reduction, and an exception that crosses the
// boundary of the library.
#include <heddle/heddle.hpp>

#include <cstdio>
#include <stdexcept>
#include <vector>

namespace {

long fib(int n) {
  if (n < 2) return n;
  long a = 0;
  long b = 0;
  heddle::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

}  // namespace

int main() {
  if (fib(20) != 6765) return std::puts("fib(20) is wrong"), 1;

  std::vector<int> squares(1000);
  heddle::parallel_for(0, 1000, [&](int i) { squares[i] = i * i; });
  const long sum = heddle::parallel_reduce(
      0, 1000, 0L, [&](int i) { return static_cast<long>(squares[i]); }, [](long a, long b) { return a + b; });
  if (sum != 332833500L) return std::puts("the sum of squares is wrong"), 1;

  try {
    heddle::parallel_invoke([] {}, [] { throw std::runtime_error("from a task"); });
    return std::puts("the exception did not reach the join"), 1;
  } catch (const std::runtime_error&) {
  }
  return 0;
}
