// Random graphs of tasks: each member of a team makes one of its own, of tasks that depend on up to three variables in
// drawn ways, of all kinds that tasks have (undeferred, untied, final, with a priority, detached), some of which make
// graphs below them. Every task checks that what has to be over is, and that nothing later has begun. RANDOM_SEED asks
// for other ones, RANDOM_ROUNDS and HEDDLE_STRESS for more.
// env: OMP_MAX_TASK_PRIORITY=3
#include <stdlib.h>

#include "check.h"

enum { most_tasks = 60, variables = 5, most_uses = 3, largest_team = 6, deepest = 2 };

typedef unsigned long long u64;

static u64 draw(u64* state) {  // xorshift64*
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 0x2545f4914f6cdd1dull >> 33;
}

enum way { reads, writes, excludes };  // in, inout, mutexinoutset

// Uses of a variable in the order in which they were made fall into runs: of readers, of excluding ones, or a writer.
struct variable {
  int ended;   // uses, of all runs
  int inside;  // writers or excluding tasks, at most one
  // Of the run that the next task may join.
  int before;
  int* length;
  enum way way;
};

// A dependence of a task, which decides which tasks may run at the same time.
struct use {
  struct variable* of;
  enum way way;
  int before;
  const int* length;  // of its run, which is still growing
};

struct job {
  struct use uses[most_uses];
  int count;
  int depth, work;
  u64 seed;
};

static void make_graph(u64 seed, int depth);

static void begin_use(const struct use* u) {
  const int ended = __atomic_load_n(&u->of->ended, __ATOMIC_ACQUIRE);
  CHECK(ended >= u->before);
  CHECK(ended < u->before + __atomic_load_n(u->length, __ATOMIC_ACQUIRE));
  if (u->way != reads) CHECK_EQUAL(__atomic_exchange_n(&u->of->inside, 1, __ATOMIC_ACQ_REL), 0);
  else CHECK_EQUAL(__atomic_load_n(&u->of->inside, __ATOMIC_ACQUIRE), 0);
}

static void end_use(const struct use* u) {
  if (u->way != reads) CHECK_EQUAL(__atomic_exchange_n(&u->of->inside, 0, __ATOMIC_ACQ_REL), 1);
  __atomic_fetch_add(&u->of->ended, 1, __ATOMIC_ACQ_REL);
}

static void begin_job(const struct job* j) {
  for (int i = 0; i < j->count; ++i) begin_use(&j->uses[i]);
  check_work(j->work);
  if (j->depth < deepest && j->seed % 8 == 0) make_graph(j->seed, j->depth + 1);
}

static void end_job(const struct job* j) {
  for (int i = 0; i < j->count; ++i) end_use(&j->uses[i]);
}

static void do_job(const struct job* j) {
  begin_job(j);
  if (j->seed % 5 == 0) {
#pragma omp taskyield
  }
  end_job(j);
}

// The k-th of `count` uses of a task; `lengths` has a place for every run.
static struct use use_of(struct variable* v, enum way way, int** lengths) {
  if (way == writes || v->way != way || v->length == NULL) {
    v->before += v->length == NULL ? 0 : *v->length;
    v->length = (*lengths)++;
    *v->length = 0;
    v->way = way;
  }
  __atomic_fetch_add(v->length, 1, __ATOMIC_RELEASE);
  return (struct use){v, way, v->before, v->length};
}

static void depend_on(omp_depend_t* object, struct variable* v, enum way way) {
  switch (way) {
    case reads: {
#pragma omp depobj(*object) depend(in : *v)
      break;
    }
    case writes: {
#pragma omp depobj(*object) depend(inout : *v)
      break;
    }
    case excludes: {
#pragma omp depobj(*object) depend(mutexinoutset : *v)
      break;
    }
  }
}

static void make_task(const struct job* told, int kind, omp_depend_t a, omp_depend_t b, omp_depend_t c) {
  const struct job j = *told;
  switch (kind) {
    case 0: {
#pragma omp task if (0) depend(depobj : a) depend(depobj : b) depend(depobj : c) firstprivate(j)
      do_job(&j);
      break;
    }
    case 1: {
#pragma omp task untied depend(depobj : a) depend(depobj : b) depend(depobj : c) firstprivate(j)
      do_job(&j);
      break;
    }
    case 2: {
#pragma omp task final(1) mergeable depend(depobj : a) depend(depobj : b) depend(depobj : c) firstprivate(j)
      do_job(&j);
      break;
    }
    case 3: {
#pragma omp task priority(3) depend(depobj : a) depend(depobj : b) depend(depobj : c) firstprivate(j)
      do_job(&j);
      break;
    }
    case 4: {  // ends when a task that it makes says so
      omp_event_handle_t event;
#pragma omp task detach(event) depend(depobj : a) depend(depobj : b) depend(depobj : c) firstprivate(j)
      {
        begin_job(&j);
#pragma omp task firstprivate(j, event)
        {
          end_job(&j);
          omp_fulfill_event(event);
        }
      }
      break;
    }
    default: {
#pragma omp task depend(depobj : a) depend(depobj : b) depend(depobj : c) firstprivate(j)
      do_job(&j);
      break;
    }
  }
}

static void wait_for_readable(struct variable* v, omp_depend_t object) {
#pragma omp taskwait depend(depobj : object)
  const int before =
      v->way == reads && v->length != NULL ? v->before : v->before + (v->length == NULL ? 0 : *v->length);
  CHECK(__atomic_load_n(&v->ended, __ATOMIC_ACQUIRE) >= before);
}

static void make_graph(u64 seed, int depth) {
  u64 state = seed * 0x9e3779b97f4a7c15ull | 1;
  draw(&state);
  const int tasks = 1 + (int)(draw(&state) % (depth == 0 ? most_tasks : most_tasks / 6));
  struct variable v[variables] = {{0}};
  int lengths[most_tasks * most_uses];
  int* next = lengths;
  char nothing[most_uses];  // what a task that has fewer uses depends on instead, and nobody else does
  omp_depend_t ways[variables][3], none[most_uses];
  for (int i = 0; i < variables; ++i) {
    for (int way = reads; way <= excludes; ++way) depend_on(&ways[i][way], &v[i], (enum way)way);
  }
  for (int i = 0; i < most_uses; ++i) {
#pragma omp depobj(none[i]) depend(in : nothing[i])
  }
  const int in_group = draw(&state) % 3 == 0;
#pragma omp taskgroup
  {
    for (int t = 0; t < tasks; ++t) {
      struct job j = {.count = (int)(draw(&state) % (most_uses + 1)), .depth = depth, .seed = draw(&state)};
      j.work = (int)(draw(&state) % 300);
      omp_depend_t objects[most_uses] = {none[0], none[1], none[2]};
      int which = (int)(draw(&state) % variables);
      for (int i = 0; i < j.count; ++i) {
        const enum way way = (enum way)(draw(&state) % 3);
        objects[i] = ways[which][way];
        j.uses[i] = use_of(&v[which], way, &next);
        which = (which + 1 + (int)(draw(&state) % 2)) % variables;  // three in a row of five meet no one twice
      }
      make_task(&j, (int)(draw(&state) % 9), objects[0], objects[1], objects[2]);
      if (draw(&state) % 16 == 0) {
        const int i = (int)(draw(&state) % variables);
        wait_for_readable(&v[i], ways[i][reads]);
      }
    }
    if (!in_group) {
#pragma omp taskwait
    }
  }
  for (int i = 0; i < variables; ++i) {
    CHECK_EQUAL(v[i].ended, v[i].before + (v[i].length == NULL ? 0 : *v[i].length));
    for (int way = reads; way <= excludes; ++way) {
#pragma omp depobj(ways[i][way]) destroy
    }
  }
  for (int i = 0; i < most_uses; ++i) {
#pragma omp depobj(none[i]) destroy
  }
}

static int number_in(const char* name, int otherwise) {
  const char* text = getenv(name);
  return text != NULL ? atoi(text) : otherwise;
}

int main(void) {
  const int seed = number_in("RANDOM_SEED", 1), rounds = number_in("RANDOM_ROUNDS", 10 * number_in("HEDDLE_STRESS", 1));
  omp_set_dynamic(0);
  for (int r = 0; r < rounds; ++r) {
    u64 state = (u64)(seed * 1000003 + r) * 0x9e3779b97f4a7c15ull | 1;
    draw(&state);
    const u64 of_round = draw(&state);
    const int members = 1 + (int)(draw(&state) % largest_team), makers = 1 + (int)(draw(&state) % members);
#pragma omp parallel num_threads(members)
    {
      if (omp_get_thread_num() < makers) make_graph(of_round + (u64)omp_get_thread_num() * 7919, 0);
    }
  }
  return FINISHED();
}
