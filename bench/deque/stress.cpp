// Every item of a random fork tree is taken exactly once, by any worker, for every prototype, with 2 to 8 workers and
// several patiences (0 means that thieves never ask, and every steal of a private job is a last resort). Arguments:
// seconds per configuration (1), prototype name (all).
#include "chase_lev.hpp"
#include "heartbeat.hpp"
#include "pool.hpp"
#include "split_request.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

extern "C" {
thread_local void* deque_bench_worker = nullptr;
}

namespace {

using namespace deque_bench;

constexpr long items = 20000;
using marks = std::unique_ptr<std::atomic<unsigned char>[]>;

// Plain memory that the forked half writes and the forking half reads after the join:
// ThreadSanitizer sees a missing edge here.
struct half {
  long count = 0;
  std::uint64_t sum = 0;
};

template <class Deque>
half tree(std::uint64_t seed, std::atomic<unsigned char>* seen, long lo, long hi) {
  if (hi - lo == 1) {
    seen[lo].fetch_add(1, std::memory_order_relaxed);  // a counter: read after the run
    return {1, static_cast<std::uint64_t>(lo)};
  }
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  const long mid = lo + 1 + static_cast<long>((seed >> 33) % static_cast<std::uint64_t>(hi - lo - 1));
  auto [x, y] = fork_join_values<Deque>([=] { return tree<Deque>(seed, seen, lo, mid); },
                                        [=] { return tree<Deque>(seed ^ 77, seen, mid, hi); });
  return {x.count + y.count, x.sum + y.sum};
}

// One small tree after the other: the deque holds one to three jobs, so that owner and thieves meet
// at the same slot all the time.
template <class Deque>
half small_trees(std::uint64_t seed, std::atomic<unsigned char>* seen) {
  half all;
  for (long lo = 0; lo < items;) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const long hi = std::min(items, lo + 2 + static_cast<long>((seed >> 33) % 3));
    const half part = tree<Deque>(seed, seen, lo, hi);
    all.count += part.count, all.sum += part.sum;
    lo = hi;
  }
  return all;
}

template <class Deque>
bool stress(unsigned workers, std::uint64_t patience, double duration) {
  pool<Deque> p(workers, patience);
  marks seen(new std::atomic<unsigned char>[items]);
  const double end = seconds() + duration;
  std::uint64_t rounds = 0;
  do {
    for (long i = 0; i < items; ++i) seen[i].store(0);
    half got;
    p.run(
        [&] { got = rounds % 2 ? tree<Deque>(rounds, seen.get(), 0, items) : small_trees<Deque>(rounds, seen.get()); });
    ++rounds;
    bool good = got.count == items && got.sum == static_cast<std::uint64_t>(items) * (items - 1) / 2;
    for (long i = 0; i < items; ++i) good = good && seen[i].load() == 1;
    if (!good) {
      std::printf("FAILED %s workers %u patience %lu round %lu\n", Deque::name, workers, patience, rounds);
      return false;
    }
  } while (seconds() < end);
  const steal_counters c = p.counters();
  std::printf(
      "%-20s workers %u patience %6lu: %6lu rounds, %5.1f M items, taken %lu, lost %lu, requests "
      "%lu, membarriers %lu, last resort %lu\n",
      Deque::name, workers, patience, rounds, static_cast<double>(rounds) * items / 1e6, c.taken, c.lost, c.requests,
      c.barriers, c.last_resort_taken);
  std::fflush(stdout);
  return true;
}

template <class Deque>
bool stress_all(double duration, const char* only) {
  if (only && std::strcmp(only, Deque::name) != 0) return true;
  for (unsigned workers : {2u, 3u, 4u, 8u}) {
    for (std::uint64_t patience : {0u, 500u, 50000u}) {
      if (!stress<Deque>(workers, patience, duration)) return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const double duration = argc > 1 ? std::atof(argv[1]) : 1.0;
  const char* only = argc > 2 ? argv[2] : nullptr;
  const bool good =
      stress_all<chase_lev_seq_deque>(duration, only) && stress_all<chase_lev_asym_deque>(duration, only) &&
      stress_all<split_request_deque<false>>(duration, only) && stress_all<split_request_deque<true>>(duration, only) &&
      stress_all<split_request_deque<false, false>>(duration, only) &&
      stress_all<heartbeat_deque<false>>(duration, only) && stress_all<heartbeat_deque<true>>(duration, only);
  return good ? 0 : 1;
}
