// Rounds of a group of n children, one a cell of a torus: each reads its own block of a page and those of its four
// neighbours, and writes one in another array. Cells are numbered at random, in memory, too. Annotated. "deep": each
// child forks, and its halves read and write.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include <heddle/cost.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>

namespace {

constexpr std::size_t page = 512;  // doubles
std::vector<double> from, to;

void work(std::size_t cell, const std::size_t (&around)[4], std::size_t first, std::size_t last) {
  const std::size_t bytes = (last - first) * sizeof(double);
  heddle::cost::read(&from[cell * page + first], bytes);
  for (const std::size_t other : around) heddle::cost::read(&from[other * page + first], bytes);
  heddle::cost::write(&to[cell * page + first], bytes);
  heddle::cost::cycles(4.0 * static_cast<double>(last - first));
  for (std::size_t k = first; k < last; ++k) {
    double sum = from[cell * page + k];
    for (const std::size_t other : around) sum += from[other * page + k];
    to[cell * page + k] = sum;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t side = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 16;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 4;
  const bool deep = argc > 3 && std::strcmp(argv[3], "deep") == 0;
  const std::size_t n = side * side;
  std::vector<std::size_t> number(n), at(n);
  std::iota(number.begin(), number.end(), std::size_t{0});
  std::uint32_t random = 1;
  for (std::size_t i = n; i > 1; --i) {
    random = random * 1664525 + 1013904223;
    std::swap(number[i - 1], number[(random >> 8) % i]);
  }
  for (std::size_t place = 0; place < n; ++place) at[number[place]] = place;
  from.assign(n * page, 1), to.assign(n * page, 0);
  const auto one_round = [&] {
    heddle::task_group group;
    group.expect(static_cast<unsigned>(n));
    for (std::size_t cell = 0; cell < n; ++cell) {
      group.run([&, cell] {
        const std::size_t row = at[cell] / side, column = at[cell] % side;
        const std::size_t around[4] = {
            number[(row + 1) % side * side + column], number[(row + side - 1) % side * side + column],
            number[row * side + (column + 1) % side], number[row * side + (column + side - 1) % side]};
        if (!deep) return work(cell, around, 0, page);
        heddle::parallel_invoke([&] { work(cell, around, 0, page / 2); }, [&] { work(cell, around, page / 2, page); });
      });
    }
    group.wait();
    std::swap(from, to);
  };
  heddle::runtime::global().run([&] {
    for (int round = 0; round < rounds; ++round) one_round();
  });
  std::printf("%g\n", from[3 * page + 5]);
}
