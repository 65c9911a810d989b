// An overview of heddle in one program: docs/guide/getting_started.md.
#include <heddle/heddle.hpp>

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <vector>

bool loops() {
  std::vector<double> x(100000);
  heddle::parallel_for(0, 100000, [&](int i) { x[i] = i % 100; });
  heddle::parallel_for(x, [](double& value) { value += 1; });
  const double sum = heddle::parallel_reduce(x.begin(), x.end(), 0.0, std::plus<>());
  heddle::parallel_sort(x);
  heddle::parallel_scan(x);  // prefix sums in place
  return sum == 5050000 && x.back() == sum;
}

// A tree of unknown shape: one child a branch.
void visit(int depth, heddle::channel<int>& leaves) {
  if (depth == 0) {
    leaves.send(1);
    return;
  }
  heddle::task_group children;
  for (int i = 0; i < 3; ++i) children.run([depth, &leaves] { visit(depth - 1, leaves); });
  children.wait();
}

bool threads() {
  heddle::channel<int> leaves(8);
  auto count = heddle::async([&] {
    int n = 0;
    for (int leaf : leaves) n += leaf;
    return n;
  });
  heddle::thread producer([&] { visit(5, leaves); });
  producer.join();
  leaves.close();
  return count.then([](int n) { return n == 243; }).get();
}

bool exceptions() {
  try {
    heddle::parallel_for(0, 1000, [](int i) {
      if (i == 500) throw std::runtime_error("iteration 500");
    });
  } catch (const std::runtime_error&) {
    return true;
  }
  return false;
}

int main() {
  const bool good = loops() && threads() && exceptions();
  std::puts(good ? "ok" : "wrong");
  return good ? 0 : 1;
}
