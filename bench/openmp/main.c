// heddle-openmp-<compiler> [--construct NAME]... [--threads T] [--n N] [--samples K] [--seconds S]: the time of a task
// or region, a line of JSON for each construct. The first run of each is not counted; no sample is begun after S
// seconds but the first. Exit status 1: a result was wrong.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

static const struct construct constructs[] = {
    {"fib", "task", 27, fib},
    {"wavefront", "task", 256, wavefront},
    {"tasks-of-one", "task", 200000, tasks_of_one},
    {"tasks-of-all", "task", 200000, tasks_of_all},
    {"taskloop-ones", "task", 200000, taskloop_of_ones},
    {"taskloop", "taskloop", 5000, taskloop_whole},
    {"nested-regions", "region", 200, nested_regions},
    {"nested-loops", "region", 200, nested_loops},
};
enum { count = sizeof constructs / sizeof *constructs, most_samples = 1000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int measure(const struct construct* c, int threads, size_t n, int samples, double seconds) {
  printf("{\"construct\": \"%s\", \"unit\": \"ns per %s\", \"threads\": %d, \"n\": %zu, \"samples\": [", c->name,
         c->unit, threads, n);
  int status = 0;
  const double first = now();
  for (int i = -1; i < samples && (i < 1 || now() - first < seconds); ++i) {
    size_t units = 1;
    const double begin = now();
    if (!c->body(threads, n, &units)) {
      fprintf(stderr, "heddle-openmp: %s with %d threads: the result is wrong\n", c->name, threads);
      status = 1;
    }
    const double taken = now() - begin;
    if (i >= 0) printf("%s%.2f", i > 0 ? ", " : "", 1e9 * taken / (double)units);
  }
  printf("]}\n");
  fflush(stdout);
  return status;
}

static int usage(void) {
  fprintf(stderr,
          "usage: heddle-openmp [--construct NAME]... [--threads T] [--n N] [--samples K] [--seconds S]; constructs:");
  for (int i = 0; i < count; ++i) fprintf(stderr, " %s", constructs[i].name);
  fprintf(stderr, "\n");
  return 2;
}

int main(int argc, char** argv) {
  bool wanted[count] = {false};
  bool all = true;
  int threads = 2, samples = 5;
  size_t n = 0;
  double seconds = 5;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return usage();
    const char* const value = argv[i + 1];
    if (strcmp(argv[i], "--construct") == 0) {
      int k = 0;
      while (k < count && strcmp(constructs[k].name, value) != 0) ++k;
      if (k == count) return usage();
      wanted[k] = true;
      all = false;
    } else if (strcmp(argv[i], "--threads") == 0) {
      threads = atoi(value);
    } else if (strcmp(argv[i], "--samples") == 0) {
      samples = atoi(value);
    } else if (strcmp(argv[i], "--seconds") == 0) {
      seconds = atof(value);
    } else if (strcmp(argv[i], "--n") == 0) {
      n = (size_t)strtoull(value, NULL, 10);
    } else {
      return usage();
    }
  }
  if (threads < 1 || samples < 1 || samples > most_samples) return usage();
  int status = 0;
  for (int k = 0; k < count; ++k)
    if (all || wanted[k]) status |= measure(&constructs[k], threads, n != 0 ? n : constructs[k].n, samples, seconds);
  return status;
}
