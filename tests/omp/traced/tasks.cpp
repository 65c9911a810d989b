// Programs of OpenMP tasks whose work, span and number of tasks are known, in units of the cost of one leaf:
//   tree    64 leaves under a binary tree of 126 tasks: work 64, span 1
//   chain   20 tasks, each of which depends on the one before: work 20, span 20
//   rounds  10 rounds of a writer and 3 readers of its variable: 40 tasks, work 40, span 20
//   loop    a taskloop of 64 leaves in 16 tasks: work 64, span 4
//   group   a taskgroup around 8 tasks that make 8 each and do not wait, then one leaf more: 72 tasks, work 65, span 2
//   awaited 8 undeferred tasks, one after the other: work 8, span 8
// It is run by dag_test.py.
#include <cstdio>
#include <cstring>

#include <heddle/cost.hpp>

namespace {

volatile double sink;

// 100,000 cycles: on a modelled machine by what it says, elsewhere by adding numbers up.
void leaf() {
  heddle::cost::cycles(100'000);
  if (heddle::detail::cost_model() != nullptr) return;
  double sum = 0;
  for (int i = 0; i < 25'000; ++i) sum += i * 0.5;
  sink = sum;
}

void tree(int depth) {
  if (depth == 0) return leaf();
#pragma omp task
  tree(depth - 1);
#pragma omp task
  tree(depth - 1);
#pragma omp taskwait
}

void chain() {
  int link = 0;
  for (int i = 0; i < 20; ++i) {
#pragma omp task depend(inout : link)
    leaf();
  }
#pragma omp taskwait
}

void rounds() {
  int value = 0;
  for (int i = 0; i < 10; ++i) {
#pragma omp task depend(out : value)
    leaf();
    for (int k = 0; k < 3; ++k) {
#pragma omp task depend(in : value)
      leaf();
    }
  }
#pragma omp taskwait
}

void loop() {
#pragma omp taskloop grainsize(4)
  for (int i = 0; i < 64; ++i) leaf();
}

void group() {
#pragma omp taskgroup
  for (int i = 0; i < 8; ++i) {
#pragma omp task
    for (int k = 0; k < 8; ++k) {
#pragma omp task
      leaf();
    }
  }
  leaf();
}

void awaited() {
  for (int i = 0; i < 8; ++i) {
#pragma omp task if (0)
    leaf();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "tree";
#pragma omp parallel
#pragma omp single
  {
    if (std::strcmp(name, "tree") == 0) tree(6);
    else if (std::strcmp(name, "chain") == 0) chain();
    else if (std::strcmp(name, "rounds") == 0) rounds();
    else if (std::strcmp(name, "loop") == 0) loop();
    else if (std::strcmp(name, "group") == 0) group();
    else if (std::strcmp(name, "awaited") == 0) awaited();
    else std::fprintf(stderr, "no program '%s'\n", name);
  }
}
