// A parallel loop, a reduction that gives the same bits with any number of workers, a scan and two sorts.
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_reduce.hpp>
#include <heddle/parallel_scan.hpp>
#include <heddle/parallel_sort.hpp>

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

int main() {
  const int n = 100'000;
  std::vector<double> x(n);
  heddle::parallel_for(0, n, [&](int i) { x[i] = std::sin(0.001 * i); });

  const double energy =
      heddle::parallel_reduce(0, n, 0.0, [&](int i) { return x[i] * x[i]; }, std::plus<>{}, {.deterministic = true});
  std::printf("mean square %.3f\n", energy / n);

  std::vector<long> starts(n, 3);
  heddle::parallel_exclusive_scan(starts.begin(), starts.end(), starts.begin(), 0L);
  std::printf("last start %ld\n", starts.back());

  heddle::parallel_sort(x, std::greater<>{});
  std::printf("largest %.3f, smallest %.3f\n", x.front(), x.back());

  std::vector<std::string> words{"weft", "warp", "heddle", "loom", "shed", "reed"};
  heddle::parallel_stable_sort(words, [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  for (const std::string& word : words) std::printf("%s ", word.c_str());
  std::printf("\n");
}
