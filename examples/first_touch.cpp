// Arrays whose pages lie with the workers that use them, over all nodes in turn, or on one node.
#include <heddle/first_touch.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/runtime.hpp>

#include <cstdio>
#include <memory>
#include <span>
#include <vector>

int main() {
  heddle::runtime_options options;
  options.policy = "adws";  // lays equal loops out in the same way
  heddle::runtime runtime(options);

  const double sum = runtime.run([] {
    // The pages are placed before the vector is used.
    std::vector<double, heddle::first_touch_allocator<double>> a(1'000'000);
    // The same for other memory: the workers of a loop over it touch it first, and then it is filled.
    const std::unique_ptr<double[]> memory(new double[1'000'000]);
    const std::span<double> b(memory.get(), 1'000'000);
    heddle::first_touch(b);

    heddle::parallel_for(std::size_t{0}, a.size(), [&](std::size_t i) { a[i] = b[i] = 1; },
                         {.bytes_per_iteration = 2 * sizeof(double)});
    for (int iteration = 0; iteration < 10; ++iteration) {
      heddle::parallel_for(std::size_t{0}, a.size(), [&](std::size_t i) { a[i] += b[i]; },
                           {.bytes_per_iteration = 2 * sizeof(double)});
    }
    return a.front() + a.back();
  });

  // Data that all workers use equally.
  std::vector<float, heddle::interleaved_allocator<float>> table(100'000);
  table[0] = 1;
  // The memory of one node, if there is a node of that number; otherwise the system chooses.
  if (!heddle::place_pages(table.data(), table.size() * sizeof(float), heddle::page_placement::bind, 1))
    std::puts("there is no node 1");

  return sum == 22 && table[0] == 1 ? 0 : 1;
}
