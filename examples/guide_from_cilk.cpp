// The right-hand sides of docs/guide/from_cilk.md.
#include <heddle/heddle.hpp>

#include <cstdio>
#include <functional>
#include <list>
#include <stdexcept>

// cilk_spawn in a loop, then cilk_sync.
int safe(const int* columns, int row, int column) {
  for (int r = 0; r < row; ++r) {
    const int d = columns[r] - column;
    if (d == 0 || d == row - r || d == r - row) return 0;
  }
  return 1;
}
int queens(int n, int row, const int* columns) {
  if (row == n) return 1;
  int solutions[16] = {};
  heddle::task_group group;
  for (int c = 0; c < n; ++c) {
    if (safe(columns, row, c) == 0) continue;
    group.run([=, &solutions] {  // by value: this frame goes on while the child runs
      int mine[16];
      for (int r = 0; r < row; ++r) mine[r] = columns[r];
      mine[row] = c;
      solutions[c] = queens(n, row + 1, mine);
    });
  }
  group.wait();
  int sum = 0;
  for (int s : solutions) sum += s;
  return sum;
}

// int cilk_reducer(zero, plus) sum; cilk_for ... sum += f(i);
long sum_of_squares(int n) {
  return heddle::parallel_reduce(0, n, 0L, [](int i) { return long(i) * i; }, std::plus<>());
}

// A list-append reducer: combine keeps the order of the iterations, so the list is that of the serial program.
std::list<int> odd_numbers(int n) {
  auto append = [](std::list<int> a, std::list<int> b) {
    a.splice(a.end(), b);
    return a;
  };
  return heddle::parallel_reduce(
      0, n, std::list<int>(), [](int i) { return i % 2 ? std::list<int>{i} : std::list<int>{}; }, append);
}

// An exception of a spawned child is thrown by the sync.
bool exception_at_sync() {
  heddle::task_group group;
  group.run([] { throw std::runtime_error("child"); });
  try {
    group.wait();
  } catch (const std::runtime_error&) {
    return true;
  }
  return false;
}

int main() {
  const int none[16] = {};
  const std::list<int> odd = odd_numbers(1000);
  int expected = 1;
  bool ordered = odd.size() == 500;
  for (int v : odd) ordered = ordered && v == expected, expected += 2;
  const bool good = queens(8, 0, none) == 92 && sum_of_squares(1000) == 332833500 && ordered && exception_at_sync();
  std::puts(good ? "ok" : "wrong");
  return good ? 0 : 1;
}
