// The usual tree of forks.
#pragma once

#include <heddle/parallel_invoke.hpp>

namespace heddle_test {

inline long fib(long n) {
  if (n < 2) return n;
  const auto [a, b] = heddle::parallel_invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

}  // namespace heddle_test
