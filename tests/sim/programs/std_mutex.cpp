// A std::mutex held while costs are told, which lets other workers run.
#include <cstdio>
#include <mutex>

#include <heddle/cost.hpp>
#include <heddle/parallel_for.hpp>

int main() {
  std::mutex lock;
  long sum = 0;
  heddle::parallel_for(
      0, 200,
      [&](int i) {
        heddle::cost::cycles(1000);
        const std::lock_guard hold(lock);
        const long before = sum;
        heddle::cost::cycles(500);
        sum = before + i;
      },
      heddle::loop_options{.grain = 1});
  std::printf("%ld\n", sum);
}
