// heddle-panels: LU, QR and Cholesky whose panels are factored by nested parallel regions with a barrier of the
// program's own. README.md.
#include <omp.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "bench/panels/factorisations.hpp"

namespace {

using namespace heddle::bench_panels;

[[noreturn]] void usage(const char* what) {
  std::fprintf(stderr,
               "heddle-panels: %s\n"
               "heddle-panels lu|qr|cholesky [--n N] [--block B] [--tile T] [--outer THREADS] [--inner THREADS]\n"
               "  [--waits spin|pause|yield|openmp] [--repeat TIMES]\n",
               what);
  std::exit(2);
}

waiting waiting_of(std::string_view word) {
  if (word == "spin") return waiting::spin;
  if (word == "pause") return waiting::pause;
  if (word == "yield") return waiting::yield;
  if (word == "openmp") return waiting::openmp;
  usage("--waits: expected spin, pause, yield or openmp");
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) usage("which factorisation?");
  const std::string_view which = words[1];
  shape s;
  int repeat = 5;
  for (int i = 2; i < count; i += 2) {
    const std::string_view option = words[i];
    if (i + 1 == count) usage("an option has no value");
    const int number = std::atoi(words[i + 1]);
    if (option == "--waits") s.how = waiting_of(words[i + 1]);
    else if (number <= 0) usage("expected a number above 0");
    else if (option == "--n") s.n = number;
    else if (option == "--block") s.block = number;
    else if (option == "--tile") s.tile = number;
    else if (option == "--outer") s.outer = number;
    else if (option == "--inner") s.inner = number;
    else if (option == "--repeat") repeat = number;
    else usage("no such option");
  }
  if (s.n % s.block != 0) usage("--n has to be a multiple of --block");
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  std::unique_ptr<factorisation> f;
  double operations = static_cast<double>(s.n) * s.n * s.n / 3;
  if (which == "lu") f = std::make_unique<lu>(s), operations *= 2;
  else if (which == "qr") f = std::make_unique<qr>(s), operations *= 4;
  else if (which == "cholesky") f = std::make_unique<cholesky>(s);
  else usage("expected lu, qr or cholesky");
  matrix a(s.n, s.n);
  a.fill(1, which == "cholesky" ? s.n : 0);
  bool right = true;
  for (int round = 0; round <= repeat; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    f->run(a);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (round == 0) {  // is not counted, and checked
      const double error = f->error(a);
      right = error < 1e-9;
      if (!right) std::printf("wrong: error %g\n", error);
      continue;
    }
    std::printf("%.*s %.6f s %.3f GFlop/s\n", static_cast<int>(which.size()), which.data(), took.count(),
                operations / took.count() / 1e9);
  }
  return right ? 0 : 1;
}
