#include "omp/core/teams/member_kind.hpp"

#include <atomic>
#include <cstdio>

namespace heddle::omp {

namespace {

constinit std::atomic<member_kind> best{member_kind::own_storage};

}  // namespace

member_kind set_kind(heddle::thread_options& options, bool preemptive) noexcept {
  // relaxed: a single number, which publishes nothing else
  const member_kind now = best.load(std::memory_order_relaxed);
  const bool own = now == member_kind::own_storage;
  options.tls = own ? heddle::tls::own : heddle::tls::carrier;
  if (!preemptive || now == member_kind::not_preempted) options.preemption = heddle::preemption::none;
  else options.preemption = own ? heddle::preemption::signal_yield : heddle::preemption::klt_switching;
  return now;
}

// relaxed as in set_kind: a single number
bool members_can_be_preempted() noexcept { return best.load(std::memory_order_relaxed) != member_kind::not_preempted; }

bool settle_for_less(member_kind tried, const char* why) noexcept {
  if (tried == member_kind::not_preempted) return false;
  const auto lesser = static_cast<member_kind>(static_cast<int>(tried) + 1);
  // Another thread has said it.
  if (member_kind was = tried; !best.compare_exchange_strong(was, lesser)) return true;
  std::fprintf(stderr, "heddle: OpenMP: %s: %s\n",
               tried == member_kind::own_storage
                   ? "threads of teams share their workers' thread-local storage, threadprivate variables included"
                   : "threads of teams are not preempted; programs that spin may hang",
               why);
  return true;
}

}  // namespace heddle::omp
