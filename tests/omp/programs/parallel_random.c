// Random regions, led by several kernel threads at once whose teams are new. Their sizes grow and shrink, and they
// nest. Each is a random sequence of constructs whose results are known. Programs of one construct each do not find
// errors between two constructs, or while a team is made. RANDOM_SEED asks for other sequences, RANDOM_ROUNDS and
// HEDDLE_STRESS for more.
// env: OMP_CANCELLATION=true OMP_MAX_ACTIVE_LEVELS=3
// link: -pthread
// oracle: not libomp: as cancel.c
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

enum { most_constructs = 6, leaders = 3, largest = 24 };

typedef unsigned long long u64;

static u64 draw(u64* state) {  // xorshift64*
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 0x2545f4914f6cdd1dull >> 33;
}

// The data that the members of one region share. `count` has an element for each construct, so that each is checked on
// its own.
struct shared {
  int members;
  int count[most_constructs];
  int other[most_constructs];
};

static void run_region(u64 seed, int depth);

static void ordered_loop(struct shared* s, int k, int trips) {
#pragma omp for ordered schedule(dynamic, 2)
  for (int i = 0; i < trips; ++i) {
#pragma omp ordered
    {
      CHECK_EQUAL(s->count[k], i);
      s->count[k] = i + 1;
    }
  }
  CHECK_EQUAL(s->count[k], trips);
}

static void doacross_loop(struct shared* s, int k, int trips) {
#pragma omp for ordered(1) schedule(dynamic)
  for (int i = 0; i < trips; ++i) {
#pragma omp ordered depend(sink : i - 1)
    CHECK_EQUAL(s->count[k], i);
    s->count[k] = i + 1;
#pragma omp ordered depend(source)
  }
  CHECK_EQUAL(s->count[k], trips);
}

static void nowait_loops(struct shared* s, int k, int trips) {
#pragma omp for schedule(guided) nowait
  for (int i = 0; i < trips; ++i) {
#pragma omp atomic
    s->count[k] += 1;
  }
#pragma omp for schedule(dynamic, 3) nowait
  for (int i = 0; i < trips; ++i) {
#pragma omp atomic
    s->count[k] += 1;
  }
#pragma omp barrier
  CHECK_EQUAL(s->count[k], 2 * trips);
}

static void reduced_tasks(struct shared* s, int k, int tasks) {
#pragma omp single nowait
  {
    int sum = 0;
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < tasks; ++i) {
#pragma omp task in_reduction(+ : sum)
      sum += i;
    }
    CHECK_EQUAL(sum, tasks * (tasks - 1) / 2);
    s->count[k] = 1;
  }
#pragma omp barrier
  CHECK_EQUAL(s->count[k], 1);
}

static void cancelled_loop(struct shared* s, int k, int trips) {
#pragma omp for schedule(dynamic)
  for (int i = 0; i < trips; ++i) {
    if (i == trips / 2) {
#pragma omp cancel for
    }
#pragma omp atomic
    s->count[k] += 1;
#pragma omp cancellation point for
  }
  int done;
#pragma omp atomic read
  done = s->count[k];
  CHECK(done < trips);
}

static void shares_of_one(struct shared* s, int k) {
  int told = 0;
#pragma omp single copyprivate(told)
  {
    s->count[k] += 1;
    told = 100 + k;
  }
  CHECK_EQUAL(told, 100 + k);
#pragma omp single nowait
  s->other[k] += 1;
#pragma omp barrier
  CHECK_EQUAL(s->count[k], 1);
  CHECK_EQUAL(s->other[k], 1);
}

static void some_sections(struct shared* s, int k) {
#pragma omp sections
  {
#pragma omp section
#pragma omp critical(in_sections)
    s->count[k] += 1;
#pragma omp section
#pragma omp critical(in_sections)
    s->count[k] += 10;
#pragma omp section
#pragma omp critical(in_sections)
    s->count[k] += 100;
  }
  CHECK_EQUAL(s->count[k], 111);
}

static void own_tasks(struct shared* s, int k, int tasks) {
  int done = 0;
  for (int i = 0; i < tasks; ++i) {
#pragma omp task shared(done) firstprivate(i)
    {
      if (i % 3 == 0) {
#pragma omp task shared(done)
#pragma omp atomic
        done += 1;
#pragma omp taskwait
      }
#pragma omp atomic
      s->count[k] += 1;
    }
  }
#pragma omp taskwait
  CHECK_EQUAL(done, (tasks + 2) / 3);
#pragma omp barrier
  CHECK_EQUAL(s->count[k], tasks * s->members);
}

static void chained_tasks(struct shared* s, int k, int tasks) {
#pragma omp single nowait
  {
#pragma omp taskgroup
    for (int i = 0; i < tasks; ++i) {
#pragma omp task depend(inout : s->count[k]) firstprivate(i)
      {
        CHECK_EQUAL(s->count[k], i);
        s->count[k] = i + 1;
      }
    }
    CHECK_EQUAL(s->count[k], tasks);
#pragma omp taskloop grainsize(3)
    for (int i = 0; i < tasks; ++i) {
#pragma omp atomic
      s->other[k] += 1;
    }
    CHECK_EQUAL(s->other[k], tasks);
  }
}

// Left to the region's end.
static void loose_tasks(struct shared* s, int k, int tasks) {
  for (int i = 0; i < tasks; ++i) {
#pragma omp task
#pragma omp atomic
    s->count[k] += 1;
  }
}

static void inner_region(struct shared* s, int k, u64 seed, int depth) {
  if (depth < 2) run_region(seed + (u64)omp_get_thread_num(), depth + 1);
#pragma omp atomic
  s->count[k] += 1;
#pragma omp barrier
  CHECK_EQUAL(s->count[k], s->members);
}

static void run_construct(struct shared* s, int k, u64 seed, int depth) {
  u64 state = seed;
  draw(&state);
  const int kind = (int)(draw(&state) % 12);
  const int many = 1 + (int)(draw(&state) % 60);
  switch (kind) {
    case 0: ordered_loop(s, k, many); break;
    case 1: doacross_loop(s, k, many); break;
    case 2: nowait_loops(s, k, many); break;
    case 3: reduced_tasks(s, k, many); break;
    case 4: cancelled_loop(s, k, many); break;
    case 5: shares_of_one(s, k); break;
    case 6: some_sections(s, k); break;
    case 7: own_tasks(s, k, many); break;
    case 8: chained_tasks(s, k, many); break;
    case 9: loose_tasks(s, k, many); break;
    case 10: inner_region(s, k, state, depth); break;
    default: break;  // none: two neighbours meet
  }
}

static void run_region(u64 seed, int depth) {
  u64 state = seed | 1;
  draw(&state);
  const int members = 1 + (int)(draw(&state) % (depth == 0 ? largest : 4));
  const int constructs = 1 + (int)(draw(&state) % most_constructs);
  const int is_cancelled = draw(&state) % 8 == 0;
  struct shared s = {members, {0}, {0}};
  int passed = 0, there = 0;
#pragma omp parallel num_threads(members) reduction(+ : there)
  {
    CHECK_EQUAL(omp_get_num_threads(), members);
    there = 1;
    for (int k = 0; k < constructs; ++k) run_construct(&s, k, state + (u64)k * 977, depth);
    if (is_cancelled) {
#pragma omp barrier
      if (omp_get_thread_num() == members / 2) {
#pragma omp cancel parallel
      }
#pragma omp barrier
#pragma omp atomic
      passed += 1;
    }
  }
  CHECK_EQUAL(passed, 0);
  if (!is_cancelled) CHECK_EQUAL(there, members);
}

static int number_in(const char* name, int otherwise) {
  const char* text = getenv(name);
  return text != NULL ? atoi(text) : otherwise;
}

static void* lead(void* seed) {
  u64 state = (u64)(size_t)seed * 0x9e3779b97f4a7c15ull | 1;
  for (int i = 0; i < 4; ++i) {
    run_region(draw(&state) << 20 ^ draw(&state), 0);
  }
  return NULL;
}

int main(void) {
  const int seed = number_in("RANDOM_SEED", 1), rounds = number_in("RANDOM_ROUNDS", 4 * number_in("HEDDLE_STRESS", 1));
  omp_set_dynamic(0);
  for (int r = 0; r < rounds; ++r) {
    pthread_t made[leaders];
    for (int i = 0; i < leaders; ++i)
      CHECK_EQUAL(pthread_create(&made[i], NULL, lead, (void*)(size_t)(seed * 1000003 + r * leaders + i)), 0);
    for (int i = 0; i < leaders; ++i) CHECK_EQUAL(pthread_join(made[i], NULL), 0);
  }
  return FINISHED();
}
