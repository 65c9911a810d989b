// Reductions that the program declares, for a structure and for a class with constructors.
#include "check.h"

struct range {
  int low = 1000000, high = -1000000;
};

static void widen(range& into, const range& other) {
  if (other.low < into.low) into.low = other.low;
  if (other.high > into.high) into.high = other.high;
}
#pragma omp declare reduction(widen:range : widen(omp_out, omp_in))

class total {
 public:
  explicit total(long v) : value(v) {}
  total(const total&) = default;
  total& operator+=(const total& other) {
    value += other.value;
    return *this;
  }
  long value;
};
#pragma omp declare reduction(+ : total : omp_out += omp_in) initializer(omp_priv = total(0))

int main() {
  for (int round = 0; round < 10; ++round) {
    range r;
    total t(7);
#pragma omp parallel for reduction(widen : r) reduction(+ : t) schedule(dynamic, 3)
    for (int i = -40; i < 300; ++i) {
      widen(r, range{i, i});
      t += total(i);
    }
    CHECK_EQUAL(r.low, -40);
    CHECK_EQUAL(r.high, 299);
    CHECK_EQUAL(t.value, 7 + (299L * 300 / 2 - 40 * 41 / 2));
  }
  return FINISHED();
}
