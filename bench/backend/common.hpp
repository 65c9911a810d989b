// The interface of a backend. Each kernel is a template over one; heddle-bench-<runtime> instantiates it.
//
//   tasks, loops, threads: static constexpr bool; the parts that the backend has. A kernel asks for what it needs.
//   backend(settings): starts the runtime with settings.workers workers, this thread among them where the runtime lets
//   it take part.
//   run(f): runs f as the root task, inside the runtime; returns when it is done.
//   run_loops(f): runs f where a parallel loop is started from (OpenMP: outside a region).
//   invoke(f, g): runs f and g as two tasks; waits for both.
//   invoke(hint, f, g): does the same with hints of work and bytes, where the runtime takes some.
//   add(f, g): returns f() + g(), where the runtime's fork-join returns results.
//   sum(n, f): returns f(0) + .. + f(n - 1), each a task.
//   loop(n, f): calls f(i) for all i < n, by the runtime's best loop of equal trivial iterations.
//   schedules, loop_by(k, n, f): the names of the runtime's schedules for loops of unequal iterations, and the loop by
//   the k-th; without them loop(n, f) is the form that users write. schedule_by_default: the first schedule is the one
//   of a loop that names none.
//   each(n, f): calls f(i) for all i < n, each as a task of its own that may run loops.
//   pair(f): calls f(0) and f(1), on two workers if both are free.
//   group: run(f), wait(); children started one by one.
//   scope(f): calls f(s); s.spawn(g) may be called from any task inside; returns when all are done.
//   members(f), if pinned: calls f(i, n, meet) for all i < n, the number of workers, at once, each always on the same
//   worker; meet() waits for all.
//   thread(f): join(); yield(); gate: wait(), open(). Threads that may block, and the object that they block on.
//   wave<Graph>: (graph), run(); the runtime's own graph facility, see the kernel wavefront.
//   line: (capacity; 0 means unbounded, if unbounded_lines), send(value), receive(), close(); see the kernel channel.
//   line_thread(f): join(). The thread that sends and receives.
//   pipe(tokens, source, middle, sink), if pipelines: takes items through stages, see the kernel pipeline.
//   every(period, end, f, ticks): calls f at each period by the runtime's own timer, see the kernel idle.
//   nested_block(settings, levels): see the kernel memory.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "harness/kernel.hpp"

namespace heddle::bench {

struct backend_defaults {
  static constexpr bool tasks = false, loops = false, threads = false, pipelines = false;
  static constexpr bool is_serial = false, pinned = false;
  static std::size_t size(std::string_view, std::size_t otherwise) { return otherwise; }
  static std::size_t most(std::string_view) { return 0; }
  static bool can(std::string_view) { return true; }
};

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// Room for the results of a node's children. Nodes with more than `inplace` children are rare (the root of the binomial
// tree).
class results {
 public:
  explicit results(int n) {
    if (n > inplace) {
      many_.resize(static_cast<std::size_t>(n));
      data_ = many_.data();
    }
  }
  std::uint64_t& operator[](int i) { return data_[i]; }
  [[nodiscard]] std::uint64_t total(int n) const {
    std::uint64_t sum = 0;
    for (int i = 0; i < n; ++i) sum += data_[i];
    return sum;
  }

 private:
  static constexpr int inplace = 16;
  std::uint64_t few_[inplace];
  std::vector<std::uint64_t> many_;
  std::uint64_t* data_ = few_;
};

// The work of two tasks in any unit, and the bytes that they touch together; 0 if not known.
struct hint {
  double first;
  double second;
  std::size_t bytes = 0;
};

// f and g as two tasks, with hints for runtimes that take them.
template <class Backend, class F, class G>
void invoke(hint about, F&& f, G&& g) {
  if constexpr (requires { Backend::invoke(about, f, g); }) {
    Backend::invoke(about, std::forward<F>(f), std::forward<G>(g));
  } else {
    Backend::invoke(std::forward<F>(f), std::forward<G>(g));
  }
}

// f(first, last) on pieces of [0, n) of at most `cutoff` bytes, by halves: a
// loop over elements of `size` bytes, of which an iteration touches `touched`.
template <class Backend, class F>
void for_halves(std::size_t first, std::size_t last, std::size_t size, std::size_t touched, std::size_t cutoff,
                const F& f) {
  if ((last - first) * size <= cutoff || last - first < 2) return f(first, last);
  const std::size_t middle = first + (last - first) / 2;
  invoke<Backend>(
      hint{static_cast<double>(middle - first), static_cast<double>(last - middle), (last - first) * touched},
      [=, &f] { for_halves<Backend>(first, middle, size, touched, cutoff, f); },
      [=, &f] { for_halves<Backend>(middle, last, size, touched, cutoff, f); });
}

// f(i) for all i < n as children of one group; waits for all. work[i] is the i-th one's, in any unit, and `bytes` are
// what they touch together.
template <class Backend, class F>
void children(int n, const double* work, std::size_t bytes, const F& f) {
  if constexpr (requires { Backend::children(n, work, bytes, f); }) {
    Backend::children(n, work, bytes, f);
  } else {
    Backend::sum(n, [&f](int i) {
      f(i);
      return std::uint64_t{0};
    });
  }
}

// Says that the tasks which the calling task makes from here on belong to the next iteration of the loop that `label`
// stands for, if the runtime uses iterations.
template <class Backend>
void next_iteration([[maybe_unused]] const void* label) {
  if constexpr (requires { Backend::next_iteration(label); }) Backend::next_iteration(label);
}

// f() + g() as two tasks.
template <class Backend, class F, class G>
std::uint64_t add(F&& f, G&& g) {
  if constexpr (requires { Backend::add(f, g); }) {
    return Backend::add(std::forward<F>(f), std::forward<G>(g));
  } else {
    std::uint64_t x, y;
    Backend::invoke([&] { x = f(); }, [&] { y = g(); });
    return x + y;
  }
}

// The same with hints.
template <class Backend, class F, class G>
std::uint64_t add(hint about, F&& f, G&& g) {
  if constexpr (requires { Backend::add(about, f, g); })
    return Backend::add(about, std::forward<F>(f), std::forward<G>(g));
  else return add<Backend>(std::forward<F>(f), std::forward<G>(g));
}

// f(first) + .. + f(last - 1) by halves: for runtimes whose cheapest fork is the one in two.
template <class Backend, class F>
std::uint64_t sum_by_halves(int first, int last, const F& f) {
  if (last - first <= 1) return first < last ? f(first) : 0;
  if (last - first == 2) {
    return add<Backend>([first, &f] { return f(first); }, [first, &f] { return f(first + 1); });
  }
  const int middle = first + (last - first) / 2;
  return add<Backend>([first, middle, &f] { return sum_by_halves<Backend>(first, middle, f); },
                      [middle, last, &f] { return sum_by_halves<Backend>(middle, last, f); });
}

// How a node's children become tasks: the form that the backend sums by, a task group with a child each, or halves.
struct own_form {
  template <class Backend, class F>
  static std::uint64_t sum(int n, const F& f) {
    return Backend::sum(n, f);
  }
};
struct group_form {
  template <class Backend, class F>
  static std::uint64_t sum(int n, const F& f) {
    results r(n);
    typename Backend::group group;
    for (int i = 0; i < n; ++i) group.run([&r, &f, i] { r[i] = f(i); });
    group.wait();
    return r.total(n);
  }
};
struct halves_form {
  template <class Backend, class F>
  static std::uint64_t sum(int n, const F& f) {
    return sum_by_halves<Backend>(0, n, f);
  }
};

// Measures the same tree in the backend's own form as "time", and in both others. tree(form) gives its result.
template <class Context, class F>
void measure_forms(Context& c, F&& tree) {
  std::uint64_t result = 0;
  const auto one = [&](const char* metric, auto form) {
    if (c.wants(metric)) c.measure(metric, "ms", 1e3, [] {}, [&] { result = tree(form); }, [&] { return result; });
  };
  one("time", own_form{});
  one("group", group_form{});
  one("halves", halves_form{});
}

}  // namespace heddle::bench
