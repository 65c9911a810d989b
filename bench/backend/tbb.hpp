// oneTBB: parallel_invoke for two children, task_group for many; loops with static_partitioner.
#pragma once

#include <tbb/concurrent_queue.h>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <array>
#include <deque>
#include <optional>
#include <thread>

#include "backend/common.hpp"

namespace heddle::bench {

struct tbb_backend : backend_defaults {
  static constexpr bool tasks = true, loops = true;

  // About 90 ns a spawn: sizes that keep a sample under half a second.
  static std::size_t size(std::string_view kernel, std::size_t otherwise) {
    return kernel == "fib" || kernel == "spawn" ? 32 : otherwise;
  }

  explicit tbb_backend(const settings& s)
      : limit_(tbb::global_control::max_allowed_parallelism, s.workers), arena_(static_cast<int>(s.workers)) {}

  template <class F>
  void run(F&& f) {
    arena_.execute(f);
  }
  template <class F>
  void run_loops(F&& f) {
    arena_.execute(f);
  }

  template <class F, class G>
  static void invoke(F&& f, G&& g) {
    tbb::parallel_invoke(std::forward<F>(f), std::forward<G>(g));
  }
  template <class F>
  static std::uint64_t sum(int n, F&& f) {
    if (n == 0) return 0;
    results r(n);
    tbb::task_group g;
    for (int i = 0; i + 1 < n; ++i) g.run([&r, &f, i] { r[i] = f(i); });
    g.run_and_wait([&r, &f, n] { r[n - 1] = f(n - 1); });
    return r.total(n);
  }
  template <class F>
  static void loop(std::size_t n, F&& f) {
    loop_by(1, n, f);
  }
  static constexpr std::array<std::string_view, 3> schedules{"auto", "static", "affinity"};
  template <class F>
  static void loop_by(std::size_t schedule, std::size_t n, F&& f) {
    const tbb::blocked_range<std::size_t> range(0, n);
    const auto part = [&f](const tbb::blocked_range<std::size_t>& r) {
      for (std::size_t i = r.begin(); i != r.end(); ++i) f(i);
    };
    static tbb::affinity_partitioner last_time;  // one for each body: this is a template
    if (schedule == 0) tbb::parallel_for(range, part, tbb::auto_partitioner{});
    else if (schedule == 1) tbb::parallel_for(range, part, tbb::static_partitioner{});
    else tbb::parallel_for(range, part, last_time);
  }
  template <class F>
  static void each(std::size_t n, F&& f) {
    tbb::parallel_for(std::size_t{0}, n, f);
  }
  template <class F>
  static void pair(F&& f) {
    tbb::parallel_for(0, 2, f, tbb::static_partitioner{});
  }

  struct group {
    template <class F>
    void run(F&& f) {
      group_.run(std::forward<F>(f));
    }
    void wait() { group_.wait(); }

   private:
    tbb::task_group group_;
  };
  struct scope_type {
    template <class F>
    void spawn(F&& f) {
      group.run(std::forward<F>(f));
    }
    tbb::task_group group;
  };
  template <class F>
  static void scope(F&& f) {
    scope_type s;
    s.group.run_and_wait([&f, &s] { f(s); });
  }

  // TBB's means of passing values; a pop blocks its kernel thread.
  static constexpr bool unbounded_lines = true;
  class line {
   public:
    explicit line(std::size_t capacity) {
      if (capacity != 0) values_.set_capacity(static_cast<std::ptrdiff_t>(capacity));
    }
    void send(std::uint64_t value) { values_.push(value); }
    void close() { values_.push(0); }  // no value is 0
    std::optional<std::uint64_t> receive() {
      std::uint64_t value;
      values_.pop(value);
      return value != 0 ? std::optional(value) : std::nullopt;
    }

   private:
    tbb::concurrent_bounded_queue<std::uint64_t> values_;
  };
  using line_thread = std::thread;

  static constexpr bool pipelines = true;
  template <class Source, class Middle, class Sink>
  static void pipe(std::size_t tokens, Source&& source, Middle&& middle, Sink&& sink) {
    using tbb::filter_mode, tbb::make_filter;
    using item = typename std::invoke_result_t<Source&>::value_type;
    tbb::parallel_pipeline(tokens, make_filter<void, item>(filter_mode::serial_in_order,
                                                           [&](tbb::flow_control& control) {
                                                             const auto got = source();
                                                             if (!got) control.stop();
                                                             return got.value_or(item{});
                                                           }) &
                                       make_filter<item, item>(filter_mode::parallel, middle) &
                                       make_filter<item, void>(filter_mode::serial_in_order, sink));
  }

  template <class Graph>
  class wave {
   public:
    explicit wave(Graph& graph) {
      const std::size_t side = graph.side();
      for (std::size_t i = 0; i < side; ++i) {
        for (std::size_t j = 0; j < side; ++j) {
          nodes_.emplace_back(flow_, [x = &graph.at(i, j)](const tbb::flow::continue_msg&) { x->visit(); });
          if (i > 0) tbb::flow::make_edge(nodes_[(i - 1) * side + j], nodes_.back());
          if (j > 0) tbb::flow::make_edge(nodes_[i * side + j - 1], nodes_.back());
        }
      }
    }
    void run() {
      nodes_.front().try_put(tbb::flow::continue_msg());
      flow_.wait_for_all();
    }

   private:
    tbb::flow::graph flow_;
    std::deque<tbb::flow::continue_node<tbb::flow::continue_msg>> nodes_;
  };

 private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

}  // namespace heddle::bench
