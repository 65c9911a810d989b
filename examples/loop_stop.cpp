// A search that ends its loop as soon as it has found something, and an exception that reaches the caller.
#include <heddle/parallel_for.hpp>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <stop_token>

int main() {
  std::stop_source found;
  std::atomic<long> divisor{0};
  const long number = 1'000'003L * 999'983L;
  heddle::parallel_for(2L, 1'100'000L,
                       [&](long d) {
                         if (number % d != 0 || divisor.exchange(d) != 0) return;
                         found.request_stop();
                       },
                       {.stop = found.get_token()});
  std::printf("divisor %s\n", divisor == 1'000'003 || divisor == 999'983 ? "found" : "not found");

  try {
    heddle::parallel_for(0, 1000, [](int i) {
      if (i == 123) throw std::runtime_error("iteration 123 failed");
    });
  } catch (const std::runtime_error& error) {
    std::printf("%s\n", error.what());
  }
}
