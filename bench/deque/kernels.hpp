// The workloads. Each takes a pool and returns one sample; `workload` checks its own result and
// ends the process when it is wrong.
#pragma once

#include "pool.hpp"

#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace deque_bench {

inline void check(bool correct, const char* what) {
  if (correct) return;
  std::fprintf(stderr, "wrong result: %s\n", what);
  std::exit(1);
}

// A sample in which a worker was preempted, or waited for a processor all the time, says nothing about a deque. So a
// sample counts only if there was no involuntary context switch in the process, and its threads had at least 95 % of
// the processor time that they could have had.
class quiet_check {
 public:
  explicit quiet_check(unsigned workers) : workers_(workers), switches_(switches()), cpu_(cpu()), wall_(seconds()) {}
  bool quiet() const {
    const double wall = seconds() - wall_;
    return switches() == switches_ && cpu() - cpu_ > 0.95 * workers_ * wall;
  }

 private:
  static long switches() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
  }
  static double cpu() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  unsigned workers_;
  long switches_;
  double cpu_, wall_;
};

// Returns true if at most one other thread wants a processor at the moment.
inline bool machine_idle() {
  int running = 99;
  if (std::FILE* f = std::fopen("/proc/loadavg", "r")) {
    if (std::fscanf(f, "%*s %*s %*s %d", &running) != 1) running = 99;
    std::fclose(f);
  }
  return running <= 2;
}

inline double ticks_per_nanosecond() {
  static const double value = [] {
    const double t = seconds();
    const std::uint64_t a = ticks();
    while (seconds() - t < 0.05) {
    }
    return static_cast<double>(ticks() - a) / ((seconds() - t) * 1e9);
  }();
  return value;
}

inline void spin_nanoseconds(double n) noexcept {
  const auto limit = static_cast<std::uint64_t>(n * ticks_per_nanosecond());
  const std::uint64_t start = ticks();
  while (ticks() - start < limit) {
  }
}

template <class Deque>
struct kernels {
  using pool_type = pool<Deque>;

  static long fib(long n) {
    if (n < 2) return n;
    auto [x, y] = fork_join_values<Deque>([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
    return x + y;
  }
  static long fib_serial(long n) {
    long a = 0, b = 1;
    for (long i = 0; i < n; ++i) b += a, a = b - a;
    return a;
  }
  static double spawns(long n) { return static_cast<double>(fib_serial(n + 1) - 1); }

  // ns per spawn.
  static double fib_sample(pool_type& p, long n) {
    double t = 0;
    long result = 0;
    p.run([&] {
      t = seconds();
      result = fib(n);
      t = seconds() - t;
    });
    check(result == fib_serial(n), "fib");
    return t / spawns(n) * 1e9;
  }

  // Binomial tree: a node has two children with probability q, the root `roots` of them; nodes are
  // counted.
  static std::uint64_t mix(std::uint64_t x) noexcept {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  static constexpr std::uint64_t threshold = static_cast<std::uint64_t>(0.4995 * 18446744073709551616.0);
  static long uts_node(std::uint64_t node) {
    const std::uint64_t h = mix(node);
    if (h >= threshold) return 1;
    auto [x, y] = fork_join_values<Deque>([h] { return uts_node(h + 1); }, [h] { return uts_node(h + 2); });
    return 1 + x + y;
  }
  static long uts_serial(std::uint64_t node) {
    const std::uint64_t h = mix(node);
    return h >= threshold ? 1 : 1 + uts_serial(h + 1) + uts_serial(h + 2);
  }
  template <class Leaf>
  static long split(long lo, long hi, Leaf leaf) {
    if (hi - lo == 1) return leaf(lo);
    const long mid = lo + (hi - lo) / 2;
    auto [x, y] = fork_join_values<Deque>([=] { return split(lo, mid, leaf); }, [=] { return split(mid, hi, leaf); });
    return x + y;
  }
  // ms.
  static double uts_sample(pool_type& p, long roots, long expected) {
    double t = 0;
    long result = 0;
    p.run([&] {
      t = seconds();
      result = split(0, roots, [](long i) { return uts_node(static_cast<std::uint64_t>(i)); });
      t = seconds() - t;
    });
    check(result == expected, "uts");
    return t * 1e3;
  }

  // Returns true for a sample that takes 20 ms where 1 ms would do, in which a worker had no processor. It is given up,
  // and returned as negative.
  static bool hopeless(double t) noexcept { return t > 2e7 * ticks_per_nanosecond(); }

  // A loop of 64 leaves of about 50 ns, as a fork tree; us per loop, over `loops` loops with `gap`
  // ns of serial work between them.
  static double loop_sample(pool_type& p, int loops, double gap) {
    double t = 0;
    long sum = 0;
    p.run([&] {
      for (int i = 0; i < loops; ++i) {
        if (hopeless(t)) return;
        if (gap > 0) spin_nanoseconds(gap);
        const std::uint64_t start = ticks();
        sum += split(0, 64, [](long k) {
          long x = k;
          for (int step = 0; step < 90; ++step) {
            asm volatile("" : "+r"(x));  // one multiplication after the other, about 1 ns each
            x *= 0x9e3779b97f4a7c1;
          }
          asm volatile("" ::"r"(x));
          return k;
        });
        t += static_cast<double>(ticks() - start);
      }
    });
    if (hopeless(t)) return -1;
    check(sum == 63L * 32 * loops, "loop");
    return t / ticks_per_nanosecond() / 1e3 / loops;
  }

  // Both workers must take part: the first half waits for the second. us per region.
  static double rendezvous_sample(pool_type& p, int regions) {
    double t = 0;
    p.run([&] {
      for (int i = 0; i < regions; ++i) {
        if (hopeless(t)) return;
        std::atomic<bool> other{false};
        const std::uint64_t start = ticks();
        fork_join<Deque>(
            [&] {
              unsigned idle = 0;
              while (!other.load(std::memory_order_acquire))
                pool_type::spin(idle);  // pairs with the store below: the flag
            },
            [&] { other.store(true, std::memory_order_release); });  // pairs with the load above
        t += static_cast<double>(ticks() - start);
      }
    });
    if (hopeless(t)) return -1;
    return t / ticks_per_nanosecond() / 1e3 / regions;
  }

  // Two halves of 1 ms, the thief is already looking: us from the fork to the start of the second
  // half; NaN if the owner ran it.
  static double coarse_sample(pool_type& p) {
    std::uint64_t fork = 0, start = 0;
    unsigned by = 0;
    p.run([&] {
      spin_nanoseconds(30000);
      fork = ticks();
      fork_join<Deque>([] { spin_nanoseconds(1e6); },
                       [&] { start = ticks(), by = pool_type::worker_id(), spin_nanoseconds(1e6); });
    });
    return by == 0 ? NAN : static_cast<double>(start - fork) / ticks_per_nanosecond() / 1e3;
  }

  // The thief comes free while the victim is in a leaf of 1 ms below two more forks. Returns the us from the end of the
  // thief's job to the start of the next, and of the one after that, or NaN if the owner ran one of them.
  struct hidden {
    double first, second;
  };
  static hidden long_leaf_sample(pool_type& p) {
    std::uint64_t free[2] = {}, start[2] = {};
    unsigned by[3] = {};
    p.run([&] {
      spin_nanoseconds(30000);
      fork_join<Deque>(
          [&] {
            spin_nanoseconds(20000);  // the thief has the outer half by now, or will get it from the next fork
            fork_join<Deque>(
                [&] {
                  fork_join<Deque>([] { spin_nanoseconds(1e6); },
                                   [&] { start[1] = ticks(), by[2] = pool_type::worker_id(); });
                },
                [&] {
                  start[0] = ticks(), by[1] = pool_type::worker_id();
                  spin_nanoseconds(50000);
                  free[1] = ticks();
                });
          },
          [&] { by[0] = pool_type::worker_id(), spin_nanoseconds(100000), free[0] = ticks(); });
    });
    auto us = [&](int i) {
      return start[i] < free[i] ? NAN : static_cast<double>(start[i] - free[i]) / ticks_per_nanosecond() / 1e3;
    };
    if (!by[0] || !by[1] || !by[2]) return {NAN, NAN};
    return {us(0), us(1)};
  }
};

}  // namespace deque_bench
