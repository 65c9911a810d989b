// The first program of docs/guide/getting_started.md.
#include <heddle/heddle.hpp>

#include <cstdio>

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = heddle::parallel_invoke([&] { return fib(n - 1); }, [&] { return fib(n - 2); });
  return a + b;
}

int main() {
  const long result = fib(30);
  std::printf("fib(30) = %ld on %u workers\n", result, heddle::runtime::global().workers());
  return result == 832040 ? 0 : 1;
}
