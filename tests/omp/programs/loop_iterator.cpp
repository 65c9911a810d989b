// Loops over random access iterators and ranges.
#include <vector>

#include "check.h"

int main() {
  std::vector<int> v(777, 1);
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::vector<int>::iterator i = v.begin(); i < v.end(); ++i) sum += * i += 1;
  CHECK_EQUAL(sum, 1554);
#pragma omp parallel for schedule(dynamic, 10)
  for (int& x : v) x += 3;
  for (int x : v) CHECK_EQUAL(x, 5);
#pragma omp parallel for schedule(guided)
  for (auto i = v.end() - 1; i >= v.begin(); i -= 2) *i = 0;
  for (unsigned i = 0; i < v.size(); ++i) CHECK_EQUAL(v[i], i % 2 == 0 ? 0 : 5);
  return FINISHED();
}
