// Counters of the processor by perf_event_open(2). Each kernel thread has one group, which one read() returns. The
// group counts user code alone, which perf_event_paranoid = 2 still permits. read() is used and not rdpmc, because one
// call returns all events and the time for which the group was on the processor, and because it works on every
// architecture.
//
// A miss of the private caches is a reference to the last level; a miss of the shared caches is a miss of the last
// level. Of the node's events the kernel counts all accesses and those that went elsewhere.
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "platform/linux/counters.hpp"
#include "platform/platform.hpp"

namespace heddle::platform {

namespace {

constexpr std::uint64_t node_reads =
    PERF_COUNT_HW_CACHE_NODE | (PERF_COUNT_HW_CACHE_OP_READ << 8) | (PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16);
constexpr std::uint64_t remote_reads =
    PERF_COUNT_HW_CACHE_NODE | (PERF_COUNT_HW_CACHE_OP_READ << 8) | (PERF_COUNT_HW_CACHE_RESULT_MISS << 16);

int open_event(const counted_event& event, int leader) noexcept {
  perf_event_attr what{};
  what.size = sizeof what;
  what.type = event.type;
  what.config = event.config;
  what.exclude_kernel = 1;
  what.exclude_hv = 1;
  what.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &what, 0, -1, leader, PERF_FLAG_FD_CLOEXEC));
}

// Returns false if the clock does not exist.
bool read_clock(clockid_t clock, nanoseconds& out) noexcept {
  timespec time;
  if (clock_gettime(clock, &time) != 0) return false;
  out = static_cast<nanoseconds>(time.tv_sec) * 1'000'000'000u + static_cast<nanoseconds>(time.tv_nsec);
  return true;
}

// The clock of another kernel thread's processor time, in the form of the kernel's clock numbers.
clockid_t clock_of(int kernel_thread) noexcept {
  constexpr unsigned per_thread = 4, scheduler_time = 2;
  return static_cast<clockid_t>((~static_cast<unsigned>(kernel_thread) << 3) | per_thread | scheduler_time);
}

}  // namespace

void open_events(usage_counters& out, std::span<const counted_event> events) noexcept {
  for (const counted_event& event : events) {
    if (out.opened == usage_counters::most) return;
    const int descriptor = open_event(event, out.opened == 0 ? -1 : out.descriptor[0]);
    if (descriptor < 0) continue;
    out.descriptor[out.opened] = descriptor;
    out.counts[out.opened++] = static_cast<std::uint8_t>(event.figure);
  }
}

void open_counters(usage_counters& out, const policy::usage_figures& wanted) noexcept {
  counted_event events[usage_counters::most];
  std::size_t count = 0;
  if (wanted.instructions)
    events[count++] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, usage_reading::instructions};
  if (wanted.misses) {
    events[count++] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, usage_reading::private_misses};
    events[count++] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, usage_reading::shared_misses};
  }
  if (wanted.accesses) {
    events[count++] = {PERF_TYPE_HW_CACHE, node_reads, usage_reading::local_accesses};
    events[count++] = {PERF_TYPE_HW_CACHE, remote_reads, usage_reading::remote_accesses};
  }
  open_events(out, {events, count});
}

void close_counters(usage_counters& of) noexcept {
  while (of.opened != 0) ::close(of.descriptor[--of.opened]);
}

usage_reading read_usage(const usage_counters& counters, const policy::usage_figures& wanted) noexcept {
  usage_reading now;
  if (wanted.processor_time) {
    nanoseconds& time = now.value[usage_reading::processor_time];
    if (!read_clock(CLOCK_THREAD_CPUTIME_ID, time)) time = cycles() * 1000 / cycles_per_microsecond();
    now.from[usage_reading::processor_time] = policy::source::clock;
  }
  if (counters.opened == 0) return now;
  struct {
    std::uint64_t count, enabled, running, value[usage_counters::most];
  } told{};
  const ssize_t got = ::read(counters.descriptor[0], &told, sizeof told);
  // Nothing was counted while others had the processor's counters, so the counts are scaled up for that time.
  if (got < static_cast<ssize_t>(3 * sizeof(std::uint64_t)) || told.running == 0) return now;
  const double share = static_cast<double>(told.enabled) / static_cast<double>(told.running);
  for (unsigned i = 0; i < std::min<std::uint64_t>(told.count, counters.opened); ++i) {
    now.value[counters.counts[i]] = told.enabled == told.running
                                        ? told.value[i]
                                        : static_cast<std::uint64_t>(static_cast<double>(told.value[i]) * share);
    now.from[counters.counts[i]] = policy::source::counter;
  }
  // The event for local accesses also counts remote ones.
  policy::source& local = now.from[usage_reading::local_accesses];
  if (now.from[usage_reading::remote_accesses] == policy::source::none) {
    local = policy::source::none;
  } else if (local != policy::source::none) {
    std::uint64_t& all = now.value[usage_reading::local_accesses];
    all -= std::min(all, now.value[usage_reading::remote_accesses]);
  }
  return now;
}

nanoseconds processor_time_of(int kernel_thread) noexcept {
  nanoseconds time = 0;
  return read_clock(clock_of(kernel_thread), time) ? time : 0;
}

}  // namespace heddle::platform
