// Loops whose work lies in the last 64th of their iterations, annotated.
#include <cstddef>
#include <cstdio>
#include <vector>

#include <heddle/cost.hpp>
#include <heddle/parallel_for.hpp>

int main() {
  constexpr std::size_t iterations = 1000, first_dear = iterations - iterations / 64;
  std::vector<int> times(iterations);
  for (int loop = 0; loop < 40; ++loop) {
    heddle::parallel_for(std::size_t{0}, iterations, [&](std::size_t i) {
      heddle::cost::cycles(i < first_dear ? 30 : 60'000);
      ++times[i];
    });
  }
  int once_a_loop = 0;
  for (const int n : times) once_a_loop += n == 40;
  std::printf("%d\n", once_a_loop);
}
