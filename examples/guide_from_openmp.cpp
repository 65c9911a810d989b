// The right-hand sides of docs/guide/from_openmp.md.
#include <heddle/heddle.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

// #pragma omp parallel for reduction(+ : sum) schedule(static, 256)
double dot(const std::vector<double>& x, const std::vector<double>& y) {
  return heddle::parallel_reduce(std::size_t{0}, x.size(), 0.0, [&](std::size_t i) { return x[i] * y[i]; },
                                 std::plus<>(), {.grain = 256, .deterministic = true});
}

// #pragma omp parallel for collapse(2)
void transpose(const std::vector<int>& from, std::vector<int>& to, int rows, int columns) {
  heddle::parallel_for(0, rows, [&](int i) {
    heddle::parallel_for(0, columns, [&, i](int j) { to[j * rows + i] = from[i * columns + j]; });
  });
}

// #pragma omp task, twice, and #pragma omp taskwait
void quicksort(int* first, int* last) {
  if (last - first < 64) return std::sort(first, last);
  const int pivot = first[(last - first) / 2];
  int* const below = std::partition(first, last, [pivot](int v) { return v < pivot; });
  int* const above = std::partition(below, last, [pivot](int v) { return v == pivot; });
  heddle::parallel_invoke([=] { quicksort(first, below); }, [=] { quicksort(above, last); });
}

// #pragma omp parallel num_threads(4), with barriers: threads that all exist at a time, on any number of workers.
bool team() {
  constexpr int members = 4;
  heddle::barrier all(members);
  std::vector<int> value(members), seen(members);
  {
    std::vector<heddle::jthread> team;
    for (int id = 0; id < members; ++id) {
      team.emplace_back([&, id] {
        value[id] = id + 1;
        all.arrive_and_wait();  // #pragma omp barrier
        seen[id] = value[(id + 1) % members];
      });
    }
  }
  return seen == std::vector<int>{2, 3, 4, 1};
}

// #pragma omp critical
int histogram_of_one(int n) {
  heddle::mutex guard;
  int count = 0;
  heddle::parallel_for(0, n, [&](int i) {
    if (i % 3 != 0) return;
    std::lock_guard hold(guard);
    ++count;
  });
  return count;
}

// #pragma omp task depend(out : x), depend(in : x)
int dependences() {
  auto x = heddle::async([] { return 20; });
  auto y = heddle::async([] { return 1; });
  return heddle::when_all(std::move(x), std::move(y))
      .then([](std::tuple<heddle::future<int>, heddle::future<int>> both) {
        return 2 * std::get<0>(both).get() + 2 * std::get<1>(both).get();
      })
      .get();
}

int main() {
  const std::vector<double> ones(10000, 1.0);
  std::vector<int> a{1, 2, 3, 4, 5, 6}, b(6), c(5000);
  transpose(a, b, 2, 3);
  for (int i = 0; i < 5000; ++i) c[i] = i * 7919 % 5000;
  quicksort(c.data(), c.data() + c.size());
  const bool good = dot(ones, ones) == 10000 && b == std::vector<int>{1, 4, 2, 5, 3, 6} &&
                    std::is_sorted(c.begin(), c.end()) && team() && histogram_of_one(3000) == 1000 &&
                    dependences() == 42;
  std::puts(good ? "ok" : "wrong");
  return good ? 0 : 1;
}
