// MKL's tries for its locks. Its parallel LAPACK routines wait in a graph of tasks: a try, a look for a task, for ever,
// with no call of any other library ([waits:5]).
#include <dlfcn.h>
#include <link.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "omp/waits/giving_way.hpp"
#include "omp/waits/member.hpp"
#include "omp/waits/real.hpp"

namespace heddle::omp::waits {

namespace {

using try_function = int(int*);

// The function that the caller would have called is in the caller's library, because a library of MKL's that tries
// defines it. There may be several MKLs in a process, each with its own function.
try_function* find_of_caller(const void* caller) noexcept {
  constexpr const char* name = "mkl_serv_trylock";
  Dl_info at{};
  link_map* map = nullptr;
  void* found = nullptr;
  if (dladdr1(caller, &at, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 && map != nullptr) {
    void* const library = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) {
      found = dlsym(library, name);
      dlclose(library);  // the library stays loaded, because its caller is in it
    }
  }
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "heddle: OpenMP: MKL's %s is not in the library that calls it, %s\n", name,
                 map != nullptr ? map->l_name : "which is not known");
    std::abort();
  }
  return reinterpret_cast<try_function*>(found);
}

// The function by the call site of the call, of which there are few. Calls beyond the table look each time.
try_function* real_try(const void* caller) noexcept {
  struct row {
    std::atomic<try_function*> function{nullptr};  // not null if the row is taken
    std::atomic<const void*> call_site{nullptr};   // published after it
  };
  static constinit row rows[32];
  for (row& r : rows) {
    // acquire pairs with the release below: the function is of this call_site
    if (r.call_site.load(std::memory_order_acquire) == caller) return r.function.load(std::memory_order_relaxed);
    if (r.function.load() != nullptr) continue;
    try_function* const found = find_of_caller(caller);
    try_function* nobody = nullptr;
    // release: a thread that finds the call_site finds its function
    if (r.function.compare_exchange_strong(nobody, found)) r.call_site.store(caller, std::memory_order_release);
    return found;
  }
  return find_of_caller(caller);
}

using steady = std::chrono::steady_clock;

// A thread that tries for one lock again and again, with no time for work in between, looks under the lock for
// something that another thread has to bring. A task of MKL's takes longer, and fetching a task and handing it in takes
// fewer tries.
constexpr unsigned tries = 4;
constexpr steady::duration no_time = std::chrono::microseconds(2);

struct trying {
  const int* lock;
  unsigned again;
  steady::time_point last;
};

bool looks_in_vain(const int* lock) noexcept {
  static thread_local constinit trying mine [[gnu::tls_model("initial-exec")]]{};
  const steady::time_point now = steady::now();
  mine.again = mine.lock == lock && now - mine.last < no_time ? mine.again + 1 : 0;
  mine.lock = lock;
  mine.last = now;
  if (mine.again < tries) return false;
  mine.again = 0;
  return true;
}

// The kernel is asked only if there are more threads than processors; MKL itself never asks here.
void let_others_run() noexcept {
  const bool is_crowded = heddle_omp_is_crowded();
  if (is_member()) {
    if (is_crowded) give_way();
    else heddle::detail::yield();
  } else if (is_crowded) {
    // The thread may lead a team whose members have workers.
    real::sched_yield();
  }
}

}  // namespace

}  // namespace heddle::omp::waits

using namespace heddle::omp::waits;

// Returns nonzero if the caller has the lock. Others never run while it has, because a member that gives way then would
// keep its siblings from the lock.
HEDDLE_OMP_ENTRY int mkl_serv_trylock(int* lock) {
  try_function* const attempt = real_try(__builtin_return_address(0));
  if (looks_in_vain(lock)) let_others_run();
  const int got = attempt(lock);
  if (got == 0) let_others_run();
  return got;
}
