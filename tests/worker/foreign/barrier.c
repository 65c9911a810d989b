/* A C program that knows pthreads alone: members work in phases, look at each other's results between two barriers, and
   keep a tally under a lock. Its main() is the test's; its members run on whatever threads that starts. */
#include "barrier.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int program_begin(struct program* p, int members) {
  memset(p, 0, sizeof *p);
  p->members = members;
  if (members > MOST_MEMBERS || pthread_barrier_init(&p->barrier, NULL, (unsigned)members) != 0) return -1;
  return pthread_mutex_init(&p->lock, NULL);
}

void program_end(struct program* p) {
  pthread_mutex_destroy(&p->lock);
  pthread_barrier_destroy(&p->barrier);
}

/* Text and back again, by way of malloc, printf and errno. */
static long through_text(long value) {
  char* text = malloc(32);
  if (text == NULL) return -1;
  errno = 0;
  snprintf(text, 32, "%ld", value);
  const long back = strtol(text, NULL, 10);
  const int error = errno;
  free(text);
  return error == 0 ? back : -1;
}

long program_member(struct program* p, int who) {
  long wrong = 0;
  for (long phase = 1; !p->stop; ++phase) {
    p->cells[who] = through_text(phase * (who + 1));
    const int first = pthread_barrier_wait(&p->barrier);
    long sum = 0;
    for (int i = 0; i < p->members; ++i) sum += p->cells[i];
    if (sum != phase * p->members * (p->members + 1) / 2) ++wrong;
    pthread_mutex_lock(&p->lock);
    ++p->tally;
    pthread_mutex_unlock(&p->lock);
    if (first == PTHREAD_BARRIER_SERIAL_THREAD) {
      ++p->phases;
      struct timespec now;
      clock_gettime(CLOCK_MONOTONIC, &now);
      if (now.tv_sec > p->until.tv_sec || (now.tv_sec == p->until.tv_sec && now.tv_nsec >= p->until.tv_nsec))
        p->stop = 1;
    } else if (first != 0) {
      ++wrong;
    }
    pthread_barrier_wait(&p->barrier);
  }
  return wrong;
}
