// heddle, through its public headers. Threads, groups and loops as a user writes them.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <heddle/barrier.hpp>
#include <heddle/channel.hpp>
#include <heddle/cost.hpp>  // says to the simulator that kernels tell their costs
#include <heddle/detail/task.hpp>
#include <heddle/iteration.hpp>
#include <heddle/latch.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/parallel_pipeline.hpp>
#include <heddle/runtime.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/sleep.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>
#include <heddle/trace.hpp>
#include <string_view>

#include "backend/common.hpp"
#include "harness/cost.hpp"

namespace heddle::bench {

class heddle_backend : public backend_defaults {
 public:
  static constexpr bool tasks = true, loops = true, threads = true, pinned = true;

  explicit heddle_backend(const settings& s) : runtime_(options(s)), workers_(s.workers) {
    told::piece_of_grid = [](const char* grid, std::size_t x0, std::size_t y0, std::size_t x1, std::size_t y1) {
      heddle::trace::piece(grid, static_cast<std::uint32_t>(x0), static_cast<std::uint32_t>(y0),
                           static_cast<std::uint32_t>(x1), static_cast<std::uint32_t>(y1));
    };
  }

  template <class F>
  void run(F&& f) {
    runtime_.run(f);
  }
  template <class F>
  void run_loops(F&& f) {
    runtime_.run(f);
  }

  template <class F, class G>
  static void invoke(F&& f, G&& g) {
    heddle::parallel_invoke(std::forward<F>(f), std::forward<G>(g));
  }
  template <class F, class G>
  static void invoke(hint about, F&& f, G&& g) {
    heddle::parallel_invoke(work_hint{about.first, about.second, about.bytes}, std::forward<F>(f), std::forward<G>(g));
  }
  template <class F, class G>
  static std::uint64_t add(F&& f, G&& g) {
    const auto [x, y] = heddle::parallel_invoke(std::forward<F>(f), std::forward<G>(g));
    return x + y;
  }
  template <class F, class G>
  static std::uint64_t add(hint about, F&& f, G&& g) {
    const auto [x, y] = heddle::parallel_invoke(work_hint{about.first, about.second, about.bytes}, std::forward<F>(f),
                                                std::forward<G>(g));
    return x + y;
  }
  template <class F>
  static std::uint64_t sum(int n, F&& f) {
    return sum_by_halves<heddle_backend>(0, n, f);
  }

  template <class F>
  static void children(int n, const double* work, std::size_t bytes, const F& f) {
    double total = 0;
    for (int i = 0; i < n; ++i) total += work[i];
    heddle::task_group group(total, bytes);
    group.expect(static_cast<unsigned>(n));
    for (int i = 0; i < n; ++i) group.run([&f, i] { f(i); }, work[i]);
    group.wait();
  }
  static void next_iteration(const void* label) { heddle::next_iteration(label); }

  template <class F>
  static void loop(std::size_t n, F&& f) {
    heddle::parallel_for(std::size_t{0}, n, f);
  }
  // The row without a name is the first one's, not the best's: users need not choose.
  static constexpr std::array<std::string_view, 4> schedules{"adaptive", "fixed", "dynamic", "guided"};
  static constexpr bool schedule_by_default = true;
  template <class F>
  static void loop_by(std::size_t k, std::size_t n, F&& f) {
    const loop_schedule by[] = {schedule::adaptive, schedule::fixed(), schedule::dynamic(), schedule::guided()};
    heddle::parallel_for(std::size_t{0}, n, f, {.schedule = by[k]});
  }
  template <class F>
  static void each(std::size_t n, F&& f) {
    heddle::parallel_for(std::size_t{0}, n, f);
  }
  template <class F>
  static void pair(F&& f) {
    heddle::parallel_invoke([&f] { f(0); }, [&f] { f(1); });
  }

  template <class F>
  void members(F&& f) {
    heddle::barrier meeting(static_cast<std::ptrdiff_t>(workers_));
    std::vector<heddle::thread> all;
    for (unsigned i = 0; i < workers_; ++i) {
      thread_options o;
      o.worker = static_cast<std::uint16_t>(i);
      all.emplace_back(o, [&, i] { f(std::size_t{i}, std::size_t{workers_}, [&] { meeting.arrive_and_wait(); }); });
    }
    for (heddle::thread& t : all) t.join();
  }

  class group {
   public:
    template <class F>
    void run(F&& f) {
      group_.run(std::forward<F>(f));
    }
    void wait() { group_.wait(); }

   private:
    heddle::task_group group_;
  };
  struct scope_type {
    template <class F>
    void spawn(F&& f) {
      group.run(std::forward<F>(f));
    }
    heddle::task_group group;
  };
  template <class F>
  static void scope(F&& f) {
    scope_type s;
    f(s);
    s.group.wait();
  }

  using thread = heddle::thread;
  static void yield() { heddle::this_thread::yield(); }

  // A graph's nodes as tasks in memory that exists already: nothing is allocated in a run.
  template <class Graph>
  class bare {
   public:
    explicit bare(Graph& graph) : first_(&graph.at(0, 0)), tasks_(new task[graph.count()]) {
      for (std::size_t i = 0; i < graph.count(); ++i) tasks_[i].owner = this;
    }
    void run() {
      detail::enqueue(tasks_[0]);
      done_.acquire();
    }
    // The scope that run_from sees: the lambda that it spawns says which node.
    void spawn(typename Graph::node* x) { detail::enqueue(tasks_[x - first_]); }
    void finished() { done_.release(); }

   private:
    struct task : detail::job {
      task() : job(&task::execute) {}
      static void execute(detail::job* self) noexcept {
        auto* const mine = static_cast<task*>(self);
        bare& all = *mine->owner;
        if (Graph::continue_from(all, all.first_ + (mine - all.tasks_.get()))) all.finished();
      }
      bare* owner = nullptr;
    };

    typename Graph::node* first_;
    std::unique_ptr<task[]> tasks_;
    heddle::binary_semaphore done_{0};
  };

  static constexpr bool unbounded_lines = true;
  static constexpr bool pipelines = true;
  template <class Source, class Middle, class Sink>
  static void pipe(std::size_t tokens, Source&& source, Middle&& middle, Sink&& sink) {
    heddle::parallel_pipeline({.tokens = tokens}, heddle::stage::serial_in_order(source),
                              heddle::stage::parallel(middle), heddle::stage::serial_in_order(sink));
  }

  struct line : heddle::channel<std::uint64_t> {
    explicit line(std::size_t capacity) : channel(capacity == 0 ? unbounded : capacity) {}
  };
  using line_thread = heddle::thread;

  class gate {
   public:
    void wait() { opened_.wait(); }
    void open() { opened_.count_down(); }

   private:
    heddle::latch opened_{1};
  };

  template <class Once>
  void every(std::chrono::milliseconds period, std::chrono::steady_clock::time_point end, Once&& once,
             std::uint64_t& ticks) {
    runtime_.run([&] {
      for (; std::chrono::steady_clock::now() < end; ++ticks) {
        heddle::this_thread::sleep_for(period);
        once();
      }
    });
  }

  // The innermost level waits until every other half of the levels above has run; returns halves
  // and levels that have.
  static std::uint64_t nested_block(const settings& s, std::size_t levels) {
    runtime_options o = options(s);
    o.stack_size = levels * 512 + (std::size_t{1} << 20);
    runtime r(o);
    std::atomic<std::uint64_t> passed = 0;
    latch others(static_cast<std::ptrdiff_t>(levels));
    r.run([&] { descend(levels, others, passed); });
    return passed.load();
  }

 private:
  static void descend(std::size_t levels, latch& others, std::atomic<std::uint64_t>& passed) {
    if (levels == 0) {
      others.wait();
      return;
    }
    heddle::parallel_invoke([&, levels] { descend(levels - 1, others, passed); },
                            [&] {
                              ++passed;
                              others.count_down();
                            });
    ++passed;
  }

  static runtime_options options(const settings& s) {
    runtime_options o;
    o.workers = s.workers;
    if (!s.policy.empty()) o.policy = s.policy;
    // 1,360 nested nodes: what rivals take from a kernel thread's stack of 8 MiB, by default.
    if (s.kernel == "uts") o.stack_size = std::size_t{8} << 20;
    return o;
  }

  runtime runtime_;
  unsigned workers_;
};

}  // namespace heddle::bench
