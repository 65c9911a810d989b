// Measures every prototype on every workload, interleaved, and prints one row a measure. Samples
// that were disturbed by other programs are dropped (quiet_check); so is a sample in which the
// owner ran the half that a thief should have taken: these are counted under "not stolen".
#include "chase_lev.hpp"
#include "heartbeat.hpp"
#include "kernels.hpp"
#include "split_request.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

extern "C" {
thread_local void* deque_bench_worker = nullptr;
}

namespace {

using namespace deque_bench;

struct row {
  std::vector<double> samples;
  long dropped = 0, not_stolen = 0;
  steal_counters counters;
};
std::map<std::string, row> table;
std::string only;
double patience_us = 5, deadline = 0;

// Programs that share the machine leave gaps. A sample is taken in a gap if one comes within 50 ms. Returns false if
// the time is over.
bool wait_for_idle_machine() {
  for (int i = 0; i < 50 && !machine_idle() && seconds() < deadline; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return seconds() < deadline;
}

// The helpers sleep when nothing runs. This keeps them awake for the next 100 us.
template <class Deque>
void wake(pool<Deque>& p) {
  p.run([] { spin_nanoseconds(20000); });
}

template <class Deque, class Sample>
void take_sample(pool<Deque>& p, const char* kernel, const char* unit, unsigned workers, Sample sample) {
  const std::string key = std::string(kernel) + " " + Deque::name + " " + std::to_string(workers) + " " + unit;
  row& r = table[key];
  if (!wait_for_idle_machine()) return;
  wake(p);
  p.clear_counters();
  const quiet_check check(workers);
  const double value = sample(p);
  if (value < 0 || !check.quiet()) {
    ++r.dropped;
    return;
  }
  if (std::isnan(value)) {
    ++r.not_stolen;
    return;
  }
  r.samples.push_back(value);
  r.counters += p.counters();
}

bool wanted(const char* kernel) { return only.empty() || only == kernel; }

template <class Deque>
void round_of(long uts_roots, long uts_nodes) {
  using k = kernels<Deque>;
  for (unsigned w : {1u, 2u}) {
    pool<Deque> p(w, static_cast<std::uint64_t>(patience_us * 1e3 * ticks_per_nanosecond()));
    if (wanted("fib")) {
      for (int i = 0; i < 8; ++i) take_sample(p, "fib", "ns/spawn", w, [](auto& q) { return k::fib_sample(q, 26); });
      for (int i = 0; i < 2; ++i) take_sample(p, "fib30", "ns/spawn", w, [](auto& q) { return k::fib_sample(q, 30); });
    }
    if (wanted("uts")) {
      for (int i = 0; i < 3; ++i)
        take_sample(p, "uts", "ms", w, [&](auto& q) { return k::uts_sample(q, uts_roots, uts_nodes); });
    }
    if (wanted("loop")) {
      for (int i = 0; i < 6; ++i) {
        take_sample(p, "loop64", "us/loop", w, [](auto& q) { return k::loop_sample(q, 100, 0); });
        take_sample(p, "loop64-gap", "us/loop", w, [](auto& q) { return k::loop_sample(q, 100, 2000); });
      }
    }
    if (w == 1) continue;
    if (wanted("search")) {  // how long a free worker looks for a job while the victim forks all
                             // the time
      for (int i = 0; i < 20; ++i) {
        if (!wait_for_idle_machine()) continue;
        wake(p);
        p.take_search_times();
        const quiet_check check(w);
        k::fib_sample(p, 24);
        row& r = table[std::string("search ") + Deque::name + " 2 us"];
        if (!check.quiet()) {
          ++r.dropped;
          continue;
        }
        for (auto t : p.take_search_times()) r.samples.push_back(static_cast<double>(t) / ticks_per_nanosecond() / 1e3);
        r.counters += p.counters();
        p.clear_counters();
      }
    }
    if (wanted("leaf")) {
      for (int i = 0; i < 6; ++i) {
        take_sample(p, "coarse", "us", w, [](auto& q) { return k::coarse_sample(q); });
        take_sample(p, "long-leaf-1", "us", w, [](auto& q) { return k::long_leaf_sample(q).first; });
        take_sample(p, "long-leaf-2", "us", w, [](auto& q) { return k::long_leaf_sample(q).second; });
      }
    }
    // Without a way to take from a victim that waits in its first half, the region never ends. So this is not run for
    // the plain heartbeat.
    if constexpr (Deque::serves_long_leaves) {
      if (wanted("rendezvous")) {
        for (int i = 0; i < 4; ++i)
          take_sample(p, "rendezvous", "us/region", w, [](auto& q) { return k::rendezvous_sample(q, 100); });
      }
    }
  }
}

double at(const std::vector<double>& sorted, double q) {
  return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 10;
  double limit = 1e9;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--rounds")) rounds = std::atoi(argv[i + 1]);
    else if (!std::strcmp(argv[i], "--seconds")) limit = std::atof(argv[i + 1]);
    else if (!std::strcmp(argv[i], "--only")) only = argv[i + 1];
    else if (!std::strcmp(argv[i], "--patience-us")) patience_us = std::atof(argv[i + 1]);
    else {
      std::fprintf(stderr,
                   "unknown argument %s: valid are --rounds N, --seconds S, --only "
                   "fib|uts|loop|search|leaf|rendezvous, --patience-us X\n",
                   argv[i]);
      return 2;
    }
  }
  const long roots = 2000;
  long nodes = 0;
  for (long i = 0; i < roots; ++i) nodes += kernels<chase_lev_seq_deque>::uts_serial(static_cast<std::uint64_t>(i));
  std::printf("# %s, uts nodes %ld, patience %.0f us, %d rounds\n", __VERSION__, nodes, patience_us, rounds);
  deadline = seconds() + limit;
  for (int r = 0; r < rounds && seconds() < deadline; ++r) {
    round_of<chase_lev_seq_deque>(roots, nodes);
    round_of<chase_lev_asym_deque>(roots, nodes);
    round_of<split_request_deque<false>>(roots, nodes);
    round_of<split_request_deque<true>>(roots, nodes);
    round_of<split_request_deque<false, false>>(roots, nodes);
    round_of<heartbeat_deque<false>>(roots, nodes);
    round_of<heartbeat_deque<true>>(roots, nodes);
    round_of<heartbeat_deque<false, 1000>>(roots, nodes);
  }
  std::printf(
      "| kernel | prototype | workers | unit | median | min | q90 | samples | dropped | not stolen "
      "| steals | requests | lost | membarrier | last resort |\n");
  std::printf(
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- "
      "|\n");
  for (auto& [key, r] : table) {
    char kernel[32], name[32], workers[8], unit[16];
    std::sscanf(key.c_str(), "%31s %31s %7s %15s", kernel, name, workers, unit);
    auto& s = r.samples;
    std::sort(s.begin(), s.end());
    std::printf("| %s | %s | %s | %s | ", kernel, name, workers, unit);
    if (s.empty()) std::printf("- | - | - |");
    else std::printf("%.2f | %.2f | %.2f |", at(s, 0.5), s[0], at(s, 0.9));
    const double n = s.empty() ? 1 : static_cast<double>(s.size());
    std::printf(" %zu | %ld | %ld | %.1f | %.1f | %.1f | %.1f | %.1f |\n", s.size(), r.dropped, r.not_stolen,
                r.counters.taken / n, r.counters.requests / n, r.counters.lost / n, r.counters.barriers / n,
                r.counters.last_resort_taken / n);
  }
}
