// Loops whose iterations take unlike times, annotated, by several schedules. Prints for each loop and schedule: its
// work in microseconds of the fastest core, and the median and the longest of the loops that follow the first ten.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <heddle/cost.hpp>
#include <heddle/loop_options.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>

namespace {

constexpr int loops = 30, not_counted = 10;
constexpr double cycles_per_microsecond = 3000;

struct named {
  const char* name;
  heddle::loop_schedule how;
};
const named schedules[] = {{"adaptive", heddle::schedule::adaptive},
                           {"static", heddle::schedule::fixed()},
                           {"dynamic", heddle::schedule::dynamic()},
                           {"dynamic,64", heddle::schedule::dynamic(64)},
                           {"guided", heddle::schedule::guided()}};

// splitmix64
std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Iteration i takes cycles(i).
template <class Cycles>
void run(const char* name, std::size_t n, const Cycles& cycles) {
  using clock = std::chrono::steady_clock;
  double work = 0;
  for (std::size_t i = 0; i < n; ++i) work += static_cast<double>(cycles(i)) / cycles_per_microsecond;
  for (const named& s : schedules) {
    std::vector<double> took;
    for (int k = 0; k < loops; ++k) {
      std::vector<char> ran(n);
      const auto begin = clock::now();
      heddle::parallel_for(std::size_t{0}, n,
                           [&](std::size_t i) {
                             heddle::cost::cycles(static_cast<double>(cycles(i)));
                             ++ran[i];
                           },
                           {.schedule = s.how});
      if (k >= not_counted) took.push_back(std::chrono::duration<double, std::micro>(clock::now() - begin).count());
      if (std::count(ran.begin(), ran.end(), 1) != static_cast<std::ptrdiff_t>(n)) std::puts("not each once");
    }
    std::sort(took.begin(), took.end());
    std::printf("%s %s %.3f %.3f %.3f\n", name, s.name, work, took[took.size() / 2], took.back());
  }
}

}  // namespace

int main() {
  heddle::detail::run_in_runtime([] {
    run("even", 1000, [](std::size_t) { return 500; });
    run("short", 100'000, [](std::size_t) { return 4; });
    run("triangle", 3000, [](std::size_t i) { return 2 * i; });
    run("turned", 3000, [](std::size_t i) { return 2 * (3000 - i); });
    run("spike", 1000, [](std::size_t i) { return i >= 985 ? 48'000 : 16; });
    run("first", 1000, [](std::size_t i) { return i == 0 ? 480'000 : 480; });
    run("last", 1000, [](std::size_t i) { return i == 999 ? 480'000 : 480; });
    run("tail", 1000, [](std::size_t i) { return 48 * 1024 / (1 + mixed(i) % 1024); });
    return 0;
  });
}
