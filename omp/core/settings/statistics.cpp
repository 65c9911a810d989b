#include "omp/core/settings/statistics.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "omp/core/other_runtimes.hpp"
#include "omp/core/teams/parker.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp {

namespace {

using clock = std::chrono::steady_clock;

enum class wanted : std::uint8_t { none, line, all };

// HEDDLE_OMP_STATS: on, or all, which also prints a line for each thread.
wanted read_wanted() noexcept {
  const char* const text = std::getenv("HEDDLE_OMP_STATS");
  if (text == nullptr || *text == 0 || std::strcmp(text, "off") == 0 || std::strcmp(text, "0") == 0)
    return wanted::none;
  return std::strcmp(text, "all") == 0 ? wanted::all : wanted::line;
}

// Descriptors are never freed, and numbers are given from the lowest on ([thread:1]).
template <class F>
void for_each_descriptor(F&& f) {
  for (int i = 0; thread* const t = thread::of(i); ++i) f(i, *t);
}

double seconds_of(const timeval& t) noexcept {
  return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
}

class reporter {
 public:
  reporter() noexcept : what_(read_wanted()), begun_(clock::now()) {
    if (what_ != wanted::none) pthread_atfork(nullptr, nullptr, forget);
  }

  void print() const noexcept {
    if (what_ == wanted::none || thread::of(0) == nullptr) return;  // for example a shell that starts the program
    std::uint64_t regions = 0, members = 0, largest = 0, deepest = 0, tasks = 0, steals = 0, spun = 0;
    for_each_descriptor([&](int number, const thread& t) {
      const thread_counts& did = t.did;
      regions += did.regions.get();
      members += did.members.get();
      largest = std::max(largest, did.largest.get());
      deepest = std::max(deepest, did.deepest.get());
      tasks += did.tasks.get();
      steals += did.steals.get();
      spun += did.spun.get();
      if (what_ == wanted::all) print_thread(number, did);
    });
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const double elapsed = std::chrono::duration<double>(clock::now() - begun_).count();
    const double processor = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    // relaxed: a number that does not change
    const int workers = std::max(active_count::processors.load(std::memory_order_relaxed), 1);
    const double capacity = std::max(elapsed * workers, 1e-9);
    const double used_up = std::min(100 * processor / capacity, 100.0);
    const double overhead = std::min(100e-9 * static_cast<double>(spun) / capacity, used_up);
    std::fprintf(stderr,
                 "heddle: OpenMP: %llu regions (%llu threads in all, at most %llu in a team, depth %llu), %llu tasks "
                 "(%llu stolen); %d workers, %.3f s of processor time in %.3f s (busy %.0f %%, overhead %.0f %%, idle "
                 "%.0f %%)\n",
                 to_print(regions), to_print(members), to_print(largest), to_print(deepest), to_print(tasks),
                 to_print(steals), workers, processor, elapsed, used_up - overhead, overhead, 100 - used_up);
    report_other_runtimes(what_ == wanted::all);
  }

 private:
  static unsigned long long to_print(std::uint64_t n) noexcept { return n; }

  static void print_thread(int number, const thread_counts& did) noexcept {
    std::fprintf(stderr,
                 "heddle: OpenMP: thread %d: %llu regions, %llu tasks, %llu stolen, %.3f s of waiting actively\n",
                 number, to_print(did.regions.get()), to_print(did.tasks.get()), to_print(did.steals.get()),
                 1e-9 * static_cast<double>(did.spun.get()));
  }

  // Called in a child of fork(), which has one thread; the parent's counts remain the parent's.
  static void forget();

  wanted what_;
  clock::time_point begun_;
};

// Made when the library is loaded. For a program that is linked with the library that is before main().
reporter& report() noexcept {
  static reporter one;
  return one;
}

void reporter::forget() {
  for_each_descriptor([](int, thread& t) { t.did.clear(); });
  report().begun_ = clock::now();
}

[[gnu::constructor]] void begin() noexcept { (void)report(); }
[[gnu::destructor]] void end() noexcept { report().print(); }

}  // namespace

}  // namespace heddle::omp
