#pragma once

#include <pthread.h>
#include <time.h>

#define MOST_MEMBERS 64

struct program {
  pthread_barrier_t barrier;
  pthread_mutex_t lock;
  struct timespec until; /* of CLOCK_MONOTONIC; set by the caller */
  int members;
  int stop;    /* written by one member between two barriers */
  long phases; /* the same */
  long tally;  /* under lock: phases of all members */
  long cells[MOST_MEMBERS];
};

#ifdef __cplusplus
extern "C" {
#endif

int program_begin(struct program* p, int members); /* 0, or an error */
long program_member(struct program* p, int who);   /* results that were wrong */
void program_end(struct program* p);

#ifdef __cplusplus
}
#endif
