// A library that uses heddle's global runtime inside; built twice, as two independent libraries would be.
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>

#include <atomic>

namespace {

long fib(long n) {
  if (n < 2) return n;
  auto [x, y] = heddle::parallel_invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return x + y;
}

}  // namespace

extern "C" {

long plugin_work(long n) {
  std::atomic<long> sum{0};
  heddle::parallel_for(0, 100, [&](int i) { sum += i; });
  return fib(n) + sum.load();
}

const void* plugin_runtime() { return &heddle::runtime::global(); }

unsigned plugin_workers() { return heddle::runtime::global().workers(); }

}  // extern "C"
