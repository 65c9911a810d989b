// No runtime: a spawn is a call. The results of all other backends are checked against this one.
#pragma once

#include "backend/common.hpp"

namespace heddle::bench {

struct serial_backend : backend_defaults {
  static constexpr bool tasks = true, loops = true, threads = true, pipelines = true;
  static constexpr bool is_serial = true, pinned = true;

  explicit serial_backend(const settings&) {}

  template <class F>
  void run(F&& f) {
    f();
  }
  template <class F>
  void run_loops(F&& f) {
    f();
  }

  template <class F, class G>
  static void invoke(F&& f, G&& g) {
    f();
    g();
    asm volatile("");  // the second call stays a call; gcc makes a loop of fib's otherwise, which
                       // no runtime can
  }
  template <class F>
  static std::uint64_t sum(int n, F&& f) {
    std::uint64_t total = 0;
    for (int i = 0; i < n; ++i) total += f(i);
    return total;
  }
  template <class F>
  static void loop(std::size_t n, F&& f) {
    for (std::size_t i = 0; i < n; ++i) f(i);
  }
  template <class F>
  static void each(std::size_t n, F&& f) {
    loop(n, f);
  }

  template <class F>
  static void members(F&& f) {
    f(std::size_t{0}, std::size_t{1}, [] {});
  }

  struct group {
    template <class F>
    void run(F&& f) {
      f();
    }
    void wait() {}
  };
  struct scope_type {
    template <class F>
    void spawn(F&& f) {
      f();
    }
  };
  template <class F>
  static void scope(F&& f) {
    scope_type s;
    f(s);
  }

  template <class Source, class Middle, class Sink>
  static void pipe(std::size_t, Source&& source, Middle&& middle, Sink&& sink) {
    while (const auto item = source()) sink(middle(*item));
  }

  struct thread {
    template <class F>
    explicit thread(F&& f) {
      f();
    }
    void join() {}
  };
  static void yield() {}
};

}  // namespace heddle::bench
