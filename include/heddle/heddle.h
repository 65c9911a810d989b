/* heddle for C, and for languages that can call C: threads, groups, loops and synchronisation. C11 (C++ includes
 * heddle.hpp).
 *
 * Functions return a heddle_status; HEDDLE_OK is 0. Each create function has a destroy function, which must be called
 * when the object is unused. Callbacks run on user-level threads: a wait in a callback through this header suspends the
 * callback's thread, never its worker. Unless a function says otherwise, it may be called from any thread, foreign
 * kernel threads included. A function marked [waits] may suspend the calling user-level thread, which may continue on
 * another kernel thread. No C++ exception leaves a function; an exception that leaves a C++ callback is reported as
 * HEDDLE_FAILED. Times are in nanoseconds. */
#ifndef HEDDLE_HEDDLE_H
#define HEDDLE_HEDDLE_H

#include <stddef.h>
#include <stdint.h>

#define HEDDLE_C_API __attribute__((visibility("default")))

/* Fixes the type of an enumeration in C++, too, so that a variable of it may hold any number. A function refuses a
 * number that has no name. */
#ifdef __cplusplus
#define HEDDLE_C_ENUM : unsigned
#else
#define HEDDLE_C_ENUM
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum heddle_status HEDDLE_C_ENUM {
  HEDDLE_OK = 0,
  HEDDLE_INVALID = 1, /* an argument is null or out of range */
  HEDDLE_NO_MEMORY = 2,
  HEDDLE_NO_THREAD = 3, /* no kernel thread or no stack can be had */
  HEDDLE_TIMED_OUT = 4,
  HEDDLE_BUSY = 5,       /* not possible without waiting */
  HEDDLE_NOT_OWNER = 6,  /* the calling thread may not do this */
  HEDDLE_FAILED = 7,     /* a callback ended by a C++ exception */
  HEDDLE_UNSUPPORTED = 8 /* not on this machine, with this C library or in this build */
} heddle_status;

/* Returns one line in English; never null. */
HEDDLE_C_API const char* heddle_strerror(heddle_status status);
HEDDLE_C_API const char* heddle_version(void);

/* --- kinds of threads --------------------------------------------------------------------------------------------- */

/* How a thread that does not wait is made to let other threads run. docs/guide/preemption.md says which code each kind
 * may run. */
typedef enum heddle_preemption HEDDLE_C_ENUM {
  HEDDLE_PREEMPTION_DEFAULT = 0, /* for a thread: as its runtime; for a runtime: as HEDDLE_PREEMPT says */
  HEDDLE_PREEMPTION_NONE = 1,    /* the thread runs until it waits, yields or ends */
  /* for code without malloc, errno and thread-local variables, or with HEDDLE_TLS_OWN */
  HEDDLE_PREEMPTION_SIGNAL_YIELD = 2,
  HEDDLE_PREEMPTION_KLT_SWITCHING = 3 /* for any code */
} heddle_preemption;

/* Which thread-local variables a thread sees. */
typedef enum heddle_tls HEDDLE_C_ENUM {
  HEDDLE_TLS_DEFAULT = 0, /* for a thread: as its runtime; for a runtime: as HEDDLE_PREEMPT_TLS says */
  HEDDLE_TLS_CARRIER = 1, /* those of the kernel thread that runs it at the moment */
  HEDDLE_TLS_OWN = 2,     /* its own, those of errno and malloc included */
  HEDDLE_TLS_CALLER = 3   /* those of the thread that waits for it; only for heddle_run */
} heddle_tls;

/* Priority levels of threads; the numbers between the names are levels, too. Of a runtime's ready threads those of
 * higher levels run first, and a preemptive thread makes way for a thread of a higher level; priority_mode has the
 * exceptions. A thread that holds a heddle_mutex has at least the level of the threads that wait for it; nothing else
 * is inherited. */
enum {
  HEDDLE_PRIORITY_LOWEST = -7,
  HEDDLE_PRIORITY_LOW = -1,
  HEDDLE_PRIORITY_NORMAL = 0,
  HEDDLE_PRIORITY_HIGH = 1,
  HEDDLE_PRIORITY_HIGHEST = 7
};

/* --- runtimes ----------------------------------------------------------------------------------------------------- */

typedef struct heddle_runtime heddle_runtime;

/* Options of a runtime. Initialise the structure with zeros. A field left 0 takes its HEDDLE_* variable, or else its
 * default. */
typedef struct heddle_runtime_options {
  unsigned workers;
  const char* policy;
  size_t stack_size;
  /* how threads without a kind of their own are preempted, those that run the children of groups included */
  heddle_preemption preemption;
  heddle_tls tls;            /* the thread-local storage of such threads */
  uint64_t preempt_interval; /* time slice of a preemptive thread, in nanoseconds */
  const char* preempt_timer; /* "creation", "aligned", "one-to-all", "chain", "hybrid:GROUPS" */
  const char* packing;       /* "off" or "auto": follow the number of processors that the process may use as it runs */
  /* "aging": a thread that was ready for long gets a time slice, whatever is above it; "strict": it never does */
  const char* priority_mode;
  unsigned priority_aging; /* time slices until then */
} heddle_runtime_options;

typedef void (*heddle_function)(void* argument);

/* Where a function takes a runtime, NULL means the runtime of the calling thread. For a foreign kernel thread it means
 * the global runtime, which is made at first use. */
HEDDLE_C_API heddle_status heddle_runtime_create(heddle_runtime** out, const heddle_runtime_options* options);
/* Waits for the runtime's threads to end. Returns HEDDLE_NOT_OWNER to a thread of the runtime itself. [waits] */
HEDDLE_C_API heddle_status heddle_runtime_destroy(heddle_runtime* runtime);
/* Calls f(argument) on a user-level thread of the runtime and waits for it. [waits] */
HEDDLE_C_API heddle_status heddle_runtime_run(heddle_runtime* runtime, heddle_function f, void* argument);
HEDDLE_C_API unsigned heddle_runtime_workers(heddle_runtime* runtime);
/* Lets only the first n workers run threads; preemptive threads get equal shares of them. Returns HEDDLE_INVALID unless
 * 1 <= n <= workers, and if the policy places work at certain workers. Does not wait until the other workers are
 * inactive. */
HEDDLE_C_API heddle_status heddle_runtime_set_active_workers(heddle_runtime* runtime, unsigned n);
HEDDLE_C_API unsigned heddle_runtime_active_workers(heddle_runtime* runtime);
/* Returns the rank of the worker that runs the caller, or -1 if it is not a worker of the runtime. The result may be
 * out of date after any wait. */
HEDDLE_C_API int heddle_runtime_worker_rank(heddle_runtime* runtime);

/* --- threads ------------------------------------------------------------------------------------------------------ */

typedef struct heddle_thread heddle_thread;

/* Options of a thread. Initialise the structure with zeros; a field that is 0 has its default. */
typedef struct heddle_thread_options {
  size_t stack_size; /* in bytes; 0 means the runtime's default */
  const char* name;  /* shown when threads are dumped; must outlive the thread; may be NULL */
  heddle_runtime* runtime;
  heddle_preemption preemption;
  heddle_tls tls;
  int priority; /* from HEDDLE_PRIORITY_LOWEST to HEDDLE_PRIORITY_HIGHEST */
  /* not 0: the thread runs on worker number `worker` and nowhere else; HEDDLE_INVALID if there is no such worker */
  int pinned;
  unsigned worker;
} heddle_thread_options;

/* Makes a thread that calls f(argument); options may be NULL. Exactly one join or detach must follow, which frees the
 * handle. Also returns HEDDLE_INVALID for a priority or kind that does not exist, and HEDDLE_UNSUPPORTED for a kind
 * that cannot be had here. Allocates memory, like all create functions. */
HEDDLE_C_API heddle_status heddle_thread_create(heddle_thread** out, const heddle_thread_options* options,
                                                void* (*f)(void* argument), void* argument);
/* Waits until the thread has ended. Stores what f returned in *result unless result is NULL. [waits] */
HEDDLE_C_API heddle_status heddle_thread_join(heddle_thread* thread, void** result);
HEDDLE_C_API heddle_status heddle_thread_detach(heddle_thread* thread);
/* Calls f(argument) on a new thread with these options and waits for it. With HEDDLE_TLS_CALLER the thread has the
 * thread-local variables of the calling thread (heddle::run in heddle/thread.hpp). [waits] */
HEDDLE_C_API heddle_status heddle_run(const heddle_thread_options* options, heddle_function f, void* argument);
/* Returns the id of the calling user-level thread, or 0 on a foreign kernel thread. */
HEDDLE_C_API uint64_t heddle_thread_id(void);
HEDDLE_C_API void heddle_yield(void);          /* [waits] */
HEDDLE_C_API void heddle_sleep(uint64_t time); /* [waits] */
/* Calls f while the worker goes on with other threads on another kernel thread. It is for calls that block in the
 * kernel. [waits] */
HEDDLE_C_API heddle_status heddle_blocking(heddle_function f, void* argument);

/* --- groups, forks, loops ----------------------------------------------------------------------------------------- */

typedef struct heddle_group heddle_group;

/* Makes a group. `work` is the children's work in any unit, and `bytes` is the memory that they touch together; 0 means
 * unknown. The thread that makes the group is its owner, whose children are the cheapest. */
HEDDLE_C_API heddle_status heddle_group_create(heddle_group** out, double work, size_t bytes);
/* Waits for the children, then destroys the group. No other thread may be inside a call. Returns HEDDLE_NOT_OWNER, and
 * does nothing, in a child of the group that runs on its owner's stack. [waits] */
HEDDLE_C_API heddle_status heddle_group_destroy(heddle_group* group);
/* Makes a child that calls f(argument). `work` is its share of the group's work, 0 if unknown. Any thread
 * may call it. [waits] */
HEDDLE_C_API heddle_status heddle_group_run(heddle_group* group, heddle_function f, void* argument, double work);
/* Says how many children the owner is going to make before its next wait (0: unknown), for policies that lay them out.
 * The owner must call it before the first child. */
HEDDLE_C_API heddle_status heddle_group_expect(heddle_group* group, unsigned children);
/* Says that all tasks the calling thread makes from here on belong to the next iteration of its loop, for policies that
 * repeat what they saw in earlier iterations. `label` is the same for all iterations of a loop; null stands for the
 * place of the call. Does nothing if the policy does not use iterations. [waits] */
HEDDLE_C_API void heddle_next_iteration(const void* label);
/* Waits until all children have ended. Any thread but a child of the group may call it, several at once. Returns
 * HEDDLE_FAILED, to one of them, if a child failed. Returns HEDDLE_NOT_OWNER, and does nothing, in a child that runs on
 * the owner's stack. The group can be used again when all waits have returned. [waits] */
HEDDLE_C_API heddle_status heddle_group_wait(heddle_group* group);
/* The next two functions set how children made from then on are preempted, and their priority. They must not be called
 * during a call of heddle_group_run. A child whose priority is not normal becomes ready and does not run at once. The
 * errors HEDDLE_UNSUPPORTED and HEDDLE_INVALID are those of threads. */
HEDDLE_C_API heddle_status heddle_group_set_preemption(heddle_group* group, heddle_preemption preemption,
                                                       heddle_tls tls);
HEDDLE_C_API heddle_status heddle_group_set_priority(heddle_group* group, int priority);
/* Drops the children that have not begun. */
HEDDLE_C_API heddle_status heddle_group_cancel(heddle_group* group);

/* Calls f(f_argument) and g(g_argument), possibly in parallel, and returns when both have ended. [waits] */
HEDDLE_C_API heddle_status heddle_invoke(heddle_function f, void* f_argument, heddle_function g, void* g_argument);

/* Calls body(low, high, argument) on chunks that cover [first, last) once, possibly in parallel. `grain` is the least
 * number of iterations in a chunk; 0 lets heddle choose. [waits] */
HEDDLE_C_API heddle_status heddle_for(int64_t first, int64_t last, uint64_t grain,
                                      void (*body)(int64_t low, int64_t high, void* argument), void* argument);

/* --- teams -------------------------------------------------------------------------------------------------------- */

/* How the threads of a team get workers. GANG: all at once, each on a worker of its own, so that they may wait for each
 * other by spinning (docs/guide/teams.md says when). STEALING: one by one, as workers become free. DEFAULT: as
 * heddle_set_gang_sched and heddle_reset_gang_sched say. */
typedef enum heddle_team_mode HEDDLE_C_ENUM {
  HEDDLE_TEAM_DEFAULT = 0,
  HEDDLE_TEAM_GANG = 1,
  HEDDLE_TEAM_STEALING = 2
} heddle_team_mode;

/* Options of a team. Initialise the structure with zeros; a field that is 0 has its default. */
typedef struct heddle_team_options {
  unsigned threads; /* 0 means as many as the runtime has workers */
  heddle_team_mode mode;
  size_t stack_size;
  const char* name;
  heddle_runtime* runtime;
  heddle_preemption preemption;
  heddle_tls tls;
  int priority;
} heddle_team_options;

/* One of a team's threads, as the function that it executes sees it. */
typedef struct heddle_team_member heddle_team_member;

/* Calls f(self, argument) on each of the team's new threads, and waits for them; options may be NULL. The caller is
 * none of them. Returns HEDDLE_FAILED if a call of f ended by an exception. The errors of heddle_thread_create. [waits]
 */
HEDDLE_C_API heddle_status heddle_team_run(const heddle_team_options* options,
                                           void (*f)(heddle_team_member* self, void* argument), void* argument);
/* The number of a member, from 0, and of all members. Only the member itself may call these. */
HEDDLE_C_API unsigned heddle_team_number(const heddle_team_member* self);
HEDDLE_C_API unsigned heddle_team_size(const heddle_team_member* self);
/* Returns when every member has come here or has ended its part. [waits] */
HEDDLE_C_API heddle_status heddle_team_barrier(heddle_team_member* self);
/* After the first call, teams of the mode HEDDLE_TEAM_DEFAULT that begin anywhere in the process are gangs; after the
 * second call they are not. At the start they are. */
HEDDLE_C_API void heddle_set_gang_sched(void);
HEDDLE_C_API void heddle_reset_gang_sched(void);

/* --- synchronisation ---------------------------------------------------------------------------------------------- */

typedef struct heddle_mutex heddle_mutex;
HEDDLE_C_API heddle_status heddle_mutex_create(heddle_mutex** out);
HEDDLE_C_API heddle_status heddle_mutex_destroy(heddle_mutex* mutex);
HEDDLE_C_API heddle_status heddle_mutex_lock(heddle_mutex* mutex);                        /* [waits] */
HEDDLE_C_API heddle_status heddle_mutex_try_lock(heddle_mutex* mutex);                    /* HEDDLE_BUSY */
HEDDLE_C_API heddle_status heddle_mutex_try_lock_for(heddle_mutex* mutex, uint64_t time); /* HEDDLE_TIMED_OUT [waits] */
HEDDLE_C_API heddle_status heddle_mutex_unlock(heddle_mutex* mutex);

typedef struct heddle_condition heddle_condition;
HEDDLE_C_API heddle_status heddle_condition_create(heddle_condition** out);
HEDDLE_C_API heddle_status heddle_condition_destroy(heddle_condition* condition);
/* The caller must hold the mutex. It holds it again on return, whatever is returned, and must then check its predicate
 * again. [waits] */
HEDDLE_C_API heddle_status heddle_condition_wait(heddle_condition* condition, heddle_mutex* mutex);
HEDDLE_C_API heddle_status heddle_condition_wait_for(heddle_condition* condition, heddle_mutex* mutex,
                                                     uint64_t time); /* HEDDLE_TIMED_OUT [waits] */
HEDDLE_C_API heddle_status heddle_condition_notify_one(heddle_condition* condition);
HEDDLE_C_API heddle_status heddle_condition_notify_all(heddle_condition* condition);

typedef struct heddle_semaphore heddle_semaphore;
HEDDLE_C_API heddle_status heddle_semaphore_create(heddle_semaphore** out, size_t permits);
HEDDLE_C_API heddle_status heddle_semaphore_destroy(heddle_semaphore* semaphore);
HEDDLE_C_API heddle_status heddle_semaphore_acquire(heddle_semaphore* semaphore);     /* [waits] */
HEDDLE_C_API heddle_status heddle_semaphore_try_acquire(heddle_semaphore* semaphore); /* HEDDLE_BUSY */
HEDDLE_C_API heddle_status heddle_semaphore_try_acquire_for(heddle_semaphore* semaphore,
                                                            uint64_t time); /* HEDDLE_TIMED_OUT [waits] */
HEDDLE_C_API heddle_status heddle_semaphore_release(heddle_semaphore* semaphore, size_t count);

typedef struct heddle_barrier heddle_barrier;
HEDDLE_C_API heddle_status heddle_barrier_create(heddle_barrier** out, size_t expected);
HEDDLE_C_API heddle_status heddle_barrier_destroy(heddle_barrier* barrier);
HEDDLE_C_API heddle_status heddle_barrier_wait(heddle_barrier* barrier); /* arrives and waits [waits] */
HEDDLE_C_API heddle_status heddle_barrier_drop(heddle_barrier* barrier); /* arrives and leaves the later phases */

typedef struct heddle_latch heddle_latch;
HEDDLE_C_API heddle_status heddle_latch_create(heddle_latch** out, size_t expected);
HEDDLE_C_API heddle_status heddle_latch_destroy(heddle_latch* latch);
/* HEDDLE_INVALID if `count` is more than is left; the count is zero then, so waiters go on. */
HEDDLE_C_API heddle_status heddle_latch_count_down(heddle_latch* latch, size_t count);
HEDDLE_C_API heddle_status heddle_latch_wait(heddle_latch* latch);     /* [waits] */
HEDDLE_C_API heddle_status heddle_latch_try_wait(heddle_latch* latch); /* HEDDLE_BUSY */

#ifdef __cplusplus
}
#endif

#endif
