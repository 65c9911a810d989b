// Calls that block in the kernel, on two workers: sixteen threads wait in read() while the computation goes on.
#include <heddle/blocking.hpp>
#include <heddle/parallel_reduce.hpp>
#include <heddle/runtime.hpp>
#include <heddle/thread.hpp>

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <vector>

int main() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return 1;
  heddle::runtime runtime({.workers = 2});
  std::atomic<int> received{0};
  const long sum = runtime.run([&] {
    std::vector<heddle::jthread> readers;
    for (int i = 0; i < 16; ++i) {
      readers.emplace_back([&] {
        char c = 0;
        // The worker of this thread runs other threads; without blocking() it would sleep in read(), too.
        if (heddle::blocking([&] { return read(ends[0], &c, 1); }) == 1) received += c;
      });
    }
    const long result =
        heddle::parallel_reduce(0, 1000000, 0L, [](int i) { return static_cast<long>(i); }, std::plus<>());
    for (int i = 0; i < 16; ++i) {
      const char c = 1;
      if (write(ends[1], &c, 1) != 1) return 0L;
    }
    return result;
  });
  std::printf("sum %ld, %d bytes received\n", sum, received.load());
  return sum == 499999500000 && received == 16 ? 0 : 1;
}
