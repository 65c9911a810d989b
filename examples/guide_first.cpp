// The first program of README.md and of docs/guide/getting_started.md.
#include <heddle/heddle.hpp>

#include <cstdio>

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = heddle::parallel_invoke([&] { return fib(n - 1); }, [&] { return fib(n - 2); });
  return a + b;
}

int main() { std::printf("fib(30) = %ld\n", fib(30)); }
