// Boost.Fiber: a fiber per child. One worker uses the default round-robin scheduler, several the
// work-stealing one. Children are queued (launch::post), so a tree is walked breadth first and
// every live fiber has a stack: small sizes.
#pragma once

#include <boost/fiber/all.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "backend/common.hpp"

namespace heddle::bench {

struct boost_fiber_backend : backend_defaults {
  static constexpr bool tasks = true, threads = true;

  static std::size_t size(std::string_view kernel, std::size_t otherwise) {
    if (kernel == "fib" || kernel == "spawn" || kernel == "memory") return 20;
    if (kernel == "nqueens") return 9;
    if (kernel == "skynet") return 10'000;
    if (kernel == "channel") return 1'000'000;
    if (kernel == "blocked") return 100'000;  // 12 KiB of each stack are touched
    return otherwise;
  }
  static std::size_t most(std::string_view kernel) {
    if (kernel == "fib" || kernel == "spawn" || kernel == "memory") return 22;
    if (kernel == "nqueens") return 9;
    if (kernel == "skynet") return 100'000;
    return 0;
  }
  static bool can(std::string_view kernel) {
    return kernel != "uts" && kernel != "wavefront" && kernel != "loop" && kernel != "rendezvous";
  }

  explicit boost_fiber_backend(const settings& s) {
    alone_ = s.workers == 1;
    if (alone_) return;
    // The constructor of each scheduler waits for all of them, so the helpers come first and this thread last.
    for (unsigned i = 1; i < s.workers; ++i) {
      helpers_.emplace_back([this, workers = s.workers] {
        boost::fibers::use_scheduling_algorithm<boost::fibers::algo::work_stealing>(workers, true);
        std::unique_lock lock(mutex_);
        stopped_.wait(lock, [this] { return stop_; });
      });
    }
    boost::fibers::use_scheduling_algorithm<boost::fibers::algo::work_stealing>(s.workers, true);
  }
  boost_fiber_backend(const boost_fiber_backend&) = delete;
  boost_fiber_backend& operator=(const boost_fiber_backend&) = delete;
  ~boost_fiber_backend() {
    {
      std::unique_lock lock(mutex_);
      stop_ = true;
    }
    stopped_.notify_all();
    for (auto& h : helpers_) h.join();
  }

  template <class F>
  void run(F&& f) {
    f();
  }

  template <class F, class G>
  static void invoke(F&& f, G&& g) {
    auto child = start(f);
    g();
    child.join();
  }
  template <class F>
  static std::uint64_t sum(int n, F&& f) {
    if (n == 0) return 0;
    results r(n);
    std::vector<boost::fibers::fiber> children;
    children.reserve(static_cast<std::size_t>(n - 1));
    for (int i = 0; i + 1 < n; ++i) children.push_back(start([&r, &f, i] { r[i] = f(i); }));
    r[n - 1] = f(n - 1);
    for (auto& child : children) child.join();
    return r.total(n);
  }

  struct group {
    template <class F>
    void run(F&& f) {
      children_.push_back(start(std::forward<F>(f)));
    }
    void wait() {
      for (auto& child : children_) child.join();
      children_.clear();
    }

   private:
    std::vector<boost::fibers::fiber> children_;
  };

  struct thread {
    template <class F>
    explicit thread(F&& f) : fiber_(start(std::forward<F>(f))) {}
    void join() { fiber_.join(); }

   private:
    boost::fibers::fiber fiber_;
  };
  static void yield() { boost::this_fiber::yield(); }

  static constexpr bool unbounded_lines = false;
  class line {
   public:
    explicit line(std::size_t capacity) : values_(capacity) {}
    void send(std::uint64_t value) { values_.push(value); }
    void close() { values_.close(); }
    std::optional<std::uint64_t> receive() {
      std::uint64_t value;
      return values_.pop(value) == boost::fibers::channel_op_status::success ? std::optional(value) : std::nullopt;
    }

   private:
    boost::fibers::buffered_channel<std::uint64_t> values_;
  };
  using line_thread = thread;

  class gate {
   public:
    void wait() {
      std::unique_lock lock(mutex_);
      opened_.wait(lock, [this] { return open_; });
    }
    void open() {
      {
        std::unique_lock lock(mutex_);
        open_ = true;
      }
      opened_.notify_all();
    }

   private:
    boost::fibers::mutex mutex_;
    boost::fibers::condition_variable opened_;
    bool open_ = false;
  };

 private:
  static constexpr std::size_t stack_size = 32 * 1024;

  // The pool of stacks takes no lock, so it serves one worker only.
  template <class F>
  static boost::fibers::fiber start(F&& f) {
    static boost::fibers::pooled_fixedsize_stack pooled(stack_size);
    if (alone_)
      return boost::fibers::fiber(boost::fibers::launch::post, std::allocator_arg, pooled, std::forward<F>(f));
    return boost::fibers::fiber(boost::fibers::launch::post, std::allocator_arg,
                                boost::fibers::fixedsize_stack(stack_size), std::forward<F>(f));
  }
  static inline bool alone_ = true;

  std::vector<std::thread> helpers_;
  boost::fibers::mutex mutex_;
  boost::fibers::condition_variable_any stopped_;
  bool stop_ = false;
};

}  // namespace heddle::bench
