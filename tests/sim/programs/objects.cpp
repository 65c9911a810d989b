// objects CHILDREN ITERATIONS: the same group again and again. Of its children the first quarter computes four times as
// long as the others, and each talks to its neighbour. Prints how long the first iteration took and the last, in us.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <heddle/communication.hpp>
#include <heddle/cost.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>

int main(int argc, char** argv) {
  const int children = argc > 1 ? std::atoi(argv[1]) : 64;
  const int iterations = argc > 2 ? std::atoi(argv[2]) : 4;
  double first = 0, last = 0;
  heddle::runtime::global().run([&] {
    for (int iteration = 0; iteration < iterations; ++iteration) {
      const auto start = std::chrono::steady_clock::now();
      heddle::task_group group;
      group.expect(static_cast<unsigned>(children));
      for (int i = 0; i < children; ++i) {
        group.run([=] {
          heddle::cost::cycles(i < children / 4 ? 1.2e6 : 3e5);
          heddle::communicates(static_cast<unsigned>(i ^ 1));
        });
      }
      group.wait();
      last = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
      if (iteration == 0) first = last;
    }
  });
  std::printf("%.3f %.3f\n", first, last);
}
