#include "omp/core/member_kind.hpp"

#include <atomic>
#include <cstdio>

namespace heddle::omp {

namespace {

// Each is less than the one before it. Sanitizers and unknown C libraries allow no storage of a thread's own;
// ThreadSanitizer allows no preemption either.
enum kind : int {
  own_storage,       // preempted by signal-yield
  carriers_storage,  // preempted by KLT-switching, which suits code that uses its carrier's storage
  not_preempted,
};

constinit std::atomic<int> best{own_storage};

}  // namespace

void set_kind(heddle::thread_options& options, bool preemptive) noexcept {
  const int now = best.load(std::memory_order_relaxed);  // a number alone: nothing else is published by it
  options.tls = now == own_storage ? heddle::tls::own : heddle::tls::carrier;
  options.preemption = !preemptive || now == not_preempted ? heddle::preemption::none
                       : now == own_storage                ? heddle::preemption::signal_yield
                                                           : heddle::preemption::klt_switching;
}

bool settle_for_less(const char* why) noexcept {
  int was = best.load();
  if (was == not_preempted) return false;
  if (!best.compare_exchange_strong(was, was + 1)) return true;  // somebody else has said it
  std::fprintf(stderr, "heddle: OpenMP: %s: %s\n",
               was == own_storage
                   ? "threads of teams share their workers' thread-local storage, threadprivate variables included"
                   : "threads of teams are not preempted; programs that spin may hang",
               why);
  return true;
}

}  // namespace heddle::omp
