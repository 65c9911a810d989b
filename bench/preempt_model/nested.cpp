// Parallel operations of a library inside a parallel program, as in figures 3.10 and 3.11 of the thesis: the threads of
// an operation compute, and meet, again and again.
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include <heddle/barrier.hpp>
#include <heddle/condition_variable.hpp>
#include <heddle/mutex.hpp>
#include <heddle/thread.hpp>

#include "model.hpp"

namespace heddle::preempt_model {

namespace {

// The place where the threads of an operation meet. With spinning it is no more than a flag: a thread that waits keeps
// its worker, unless it is preempted or yields.
class meeting {
 public:
  meeting(unsigned size, const settings& s)
      : size_(size), turn_us_(s.turn_us), yields_(s.waits == "yield"), parks_(s.waits == "park"), parked_(size) {}
  void meet() {
    if (parks_) return parked_.arrive_and_wait();
    const unsigned now = phase_.load();
    if (arrived_.fetch_add(1) == size_ - 1) {
      arrived_.store(0);
      phase_.store(now + 1);
    }
    while (phase_.load() == now) {
      wait_a_turn(turn_us_);
      if (yields_) heddle::this_thread::yield();
    }
  }

 private:
  const unsigned size_;
  const double turn_us_;
  const bool yields_, parks_;
  std::atomic<unsigned> arrived_{0}, phase_{0};
  heddle::barrier<> parked_;
};

heddle::thread_options inner_options(const settings& s, heddle::runtime& home) {
  heddle::thread_options o;
  o.where = &home;
  o.preemption = technique_of(s.technique);
  return o;
}

// By s.inner threads, of which the caller is one.
void operation(const settings& s, heddle::runtime& home, double alone_us) {
  meeting meets(s.inner, s);
  const double part_ms = alone_us / 1000 / s.inner / s.phases;
  const auto part = [&](unsigned who) {
    for (unsigned p = 0; p < s.phases; ++p) {
      compute(part_ms, who);
      if (s.inner > 1) meets.meet();
    }
  };
  std::vector<heddle::thread> others;
  for (unsigned i = 1; i < s.inner; ++i) others.emplace_back(inner_options(s, home), [&part, i] { part(i); });
  part(0);
  for (heddle::thread& one : others) one.join();
}

std::unique_ptr<heddle::runtime> runtime_of(const settings& given) {
  settings s = given;
  if (by_kernel_threads(s)) {  // a worker each
    s.workers = s.outer * s.inner;
    s.threads = 1;
  }
  return runtime_for(s);
}

// Tiles (row, column) of step k: its decomposition, the tiles below it, and what these change.
class tile_graph {
 public:
  explicit tile_graph(unsigned tiles) : t_(tiles) {
    const auto at = [&](unsigned i, unsigned j) -> unsigned& { return last_[static_cast<std::size_t>(i) * t_ + j]; };
    last_.assign(static_cast<std::size_t>(t_) * t_, none);
    for (unsigned k = 0; k < t_; ++k) {
      const unsigned diagonal = at(k, k) = add(1.0 / 6, {at(k, k)});
      for (unsigned i = k + 1; i < t_; ++i) at(i, k) = add(0.5, {diagonal, at(i, k)});
      for (unsigned i = k + 1; i < t_; ++i) {
        for (unsigned j = k + 1; j <= i; ++j) at(i, j) = add(i == j ? 0.5 : 1, {at(i, k), at(j, k), at(i, j)});
      }
    }
  }

  struct node {
    double cost;  // over that of a product of two tiles
    unsigned waits_for = 0;
    std::vector<unsigned> next{};
  };
  std::vector<node> nodes;

 private:
  static constexpr unsigned none = ~0u;
  unsigned add(double cost, const std::vector<unsigned>& after) {
    const auto number = static_cast<unsigned>(nodes.size());
    nodes.push_back({cost});
    for (const unsigned before : after) {
      if (before == none) continue;
      nodes[before].next.push_back(number);
      ++nodes[number].waits_for;
    }
    return number;
  }

  unsigned t_;
  std::vector<unsigned> last_;
};

// Runs the graph's operations by s.outer threads, which take operations that are ready.
double decompose(const settings& s, heddle::runtime& home) {
  tile_graph graph(s.tiles);
  heddle::mutex guard;
  heddle::condition_variable changed;
  std::vector<unsigned> ready;
  std::size_t left = graph.nodes.size();
  for (unsigned i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].waits_for == 0) ready.push_back(i);
  }
  const auto take = [&] {
    std::unique_lock lock(guard);
    while (left > 0) {
      if (ready.empty()) {
        changed.wait(lock);
        continue;
      }
      tile_graph::node& node = graph.nodes[ready.back()];
      ready.pop_back();
      lock.unlock();
      operation(s, home, node.cost * s.operation_us);
      lock.lock();
      --left;
      for (const unsigned n : node.next) {
        if (--graph.nodes[n].waits_for == 0) ready.push_back(n);
      }
      changed.notify_all();
    }
  };
  const double begin = seconds();
  std::vector<heddle::thread> all;
  for (unsigned i = 0; i < s.outer; ++i) all.emplace_back(inner_options(s, home), take);
  for (heddle::thread& one : all) one.join();
  return seconds() - begin;
}

}  // namespace

samples gemm(const settings& s) {
  samples got;
  for (unsigned r = 0; r < s.repeats; ++r) {
    const auto home = runtime_of(s);
    const double begin = seconds();
    std::vector<heddle::thread> all;
    for (unsigned i = 0; i < s.outer; ++i)
      all.emplace_back(inner_options(s, *home), [&s, &home] { operation(s, *home, s.operation_us); });
    for (heddle::thread& one : all) one.join();
    got["time"].push_back(seconds() - begin);
  }
  return got;
}

samples cholesky(const settings& s) {
  samples got;
  for (unsigned r = 0; r < s.repeats; ++r) {
    const auto home = runtime_of(s);
    got["time"].push_back(decompose(s, *home));
  }
  return got;
}

}  // namespace heddle::preempt_model
