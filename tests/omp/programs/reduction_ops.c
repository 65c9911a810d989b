// Every operator of a reduction, on a loop, a region and sections; several variables at a time.
// link: -latomic
#include <complex.h>
#include <stdbool.h>

#include "check.h"

int main(void) {
  for (int round = 0; round < 10; ++round) {
    int sum = 5, minus = 0, product = 1, all = -1, any = 0, odd = 0, least = 1000, most = -1000;
    bool land = true, lor = false;
    double real = 0.5;
    double complex z = 0;
    unsigned char small = 0;
#pragma omp parallel for reduction(+ : sum, real, z, small) reduction(- : minus) reduction(* : product)   \
    reduction(& : all) reduction(| : any) reduction(^ : odd) reduction(min : least) reduction(max : most) \
    reduction(&& : land) reduction(|| : lor)
    for (int i = 0; i < 100; ++i) {
      sum += i;
      minus -= i;
      product *= i % 10 == 9 ? 2 : 1;
      all &= ~(i == 33 ? 8 : 0);
      any |= i == 44 ? 16 : 0;
      odd ^= i;
      if (i - 50 < least) least = i - 50;
      if (i - 50 > most) most = i - 50;
      land = land && i < 100;
      lor = lor || i == 77;
      real += 0.25;
      z += 1 - I;
      small += 1;
    }
    CHECK_EQUAL(sum, 4955);
    CHECK_EQUAL(minus, -4950);
    CHECK_EQUAL(product, 1024);
    CHECK_EQUAL(all, ~8);
    CHECK_EQUAL(any, 16);
    CHECK_EQUAL(odd, 0);
    CHECK_EQUAL(least, -50);
    CHECK_EQUAL(most, 49);
    CHECK(land && lor);
    CHECK(real == 25.5);
    CHECK(creal(z) == 100 && cimag(z) == -100);
    CHECK_EQUAL(small, 100);
    int members = 0, size = 0;
#pragma omp parallel reduction(+ : members) reduction(max : size)
    {
      members = 1;
      size = omp_get_num_threads();
    }
    CHECK_EQUAL(members, size);
    int parts = 1;
#pragma omp parallel sections reduction(* : parts)
    {
      parts *= 2;
#pragma omp section
      parts *= 3;
#pragma omp section
      parts *= 5;
    }
    CHECK_EQUAL(parts, 30);
    // Without a barrier the result is there after the next one.
    int loose = 0;
#pragma omp parallel
    {
#pragma omp for nowait reduction(+ : loose)
      for (int i = 0; i < 100; ++i) loose += i;
#pragma omp barrier
      CHECK_EQUAL(loose, 4950);
    }
  }
  return FINISHED();
}
