// A prebuilt graph of 256 x 256 nearly empty tasks: a node may run when its upper and left neighbours have run. The
// figure is ns per task. "counters": each node holds an atomic count of predecessors. A finished node continues with
// its first ready successor and spawns the second, on the runtime's bare tasks (a runtime that has tasks in the
// caller's memory: `bare` of its backend). "graph": the runtime's own graph facility, where it has one (TBB:
// continue_node, built once; OpenMP: task depend, which has to be built at every run). --n is the side.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>

#include "harness/cost.hpp"
#include "harness/kernel.hpp"

namespace heddle::bench {

// The number of paths from the first node to each node, modulo 2^64. A node that runs before a predecessor gives a
// wrong number.
struct wavefront_node {
  std::uint64_t paths = 1;
  const wavefront_node* up = nullptr;
  const wavefront_node* left = nullptr;

  void visit() {
    paths =
        up == nullptr && left == nullptr ? 1 : (up != nullptr ? up->paths : 0) + (left != nullptr ? left->paths : 0);
  }
};

template <told::telling Tell>
class wavefront_graph {
 public:
  struct node : wavefront_node {
    std::atomic<int> missing = 0;  // predecessors still to come in this run
    int predecessors = 0;
    int successor_count = 0;
    std::array<node*, 2> successors{};
  };

  explicit wavefront_graph(std::size_t side) : side_(side), nodes_(std::make_unique<node[]>(side * side)) {
    for (std::size_t i = 0; i < side; ++i) {
      for (std::size_t j = 0; j < side; ++j) {
        node& x = at(i, j);
        if (j + 1 < side) edge(x, at(i, j + 1)), at(i, j + 1).left = &x;
        if (i + 1 < side) edge(x, at(i + 1, j)), at(i + 1, j).up = &x;
      }
    }
    for (std::size_t i = 0; i < side * side; ++i) nodes_[i].missing = nodes_[i].predecessors;
  }

  [[nodiscard]] std::size_t side() const { return side_; }
  [[nodiscard]] std::size_t count() const { return side_ * side_; }
  [[nodiscard]] node& at(std::size_t i, std::size_t j) { return nodes_[i * side_ + j]; }

  // Before a run: nothing of the last one may be left for the check.
  void forget() {
    for (std::size_t i = 0; i < count(); ++i) nodes_[i].paths = 0;
  }
  [[nodiscard]] std::uint64_t checksum() { return at(side_ - 1, side_ - 1).paths; }

  // Runs x and the nodes that it makes ready, one by one; a second node that becomes ready goes to `tasks`. Returns
  // true if the last node of the graph was among them.
  template <class Tasks>
  static bool continue_from(Tasks& tasks, node* x) {
    bool last = false;
    while (x != nullptr) {
      told::cycles_if<Tell>(node_cycles);
      x->visit();
      x->missing.store(x->predecessors,
                       std::memory_order_relaxed);  // for the next run; the fetch_sub below publish it
      last = x->successor_count == 0;
      node* next = nullptr;
      for (int i = 0; i < x->successor_count; ++i) {
        node* const s = x->successors[static_cast<std::size_t>(i)];
        // pairs with the same line in the other predecessor's task: the one that comes last sees both predecessors'
        // paths
        if (s->predecessors != 1 && s->missing.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
        if (next == nullptr) next = s;
        else tasks.spawn(s);
      }
      x = next;
    }
    return last;
  }

  template <class Scope>
  static void run_from(Scope& scope, node* x) {
    struct in_scope {
      Scope& scope;
      void spawn(node* s) {
        scope.spawn([&inner = scope, s] { run_from(inner, s); });
      }
    } tasks{scope};
    continue_from(tasks, x);
  }

 private:
  // The sum of two predecessors' paths, the counts of two successors and their test.
  static constexpr double node_cycles = 15;

  static void edge(node& from, node& to) {
    from.successors[static_cast<std::size_t>(from.successor_count++)] = &to;
    ++to.predecessors;
  }

  std::size_t side_;
  std::unique_ptr<node[]> nodes_;
};

struct wavefront {
  static constexpr std::size_t default_n = 256;
  static constexpr std::size_t runs = 20;  // a sample
  template <class Backend>
  static constexpr bool supports = Backend::tasks && requires { Backend::scope([](auto&) {}); };

  template <class Backend>
  static void execute(context& c) {
    if (c.n() == 0) throw std::invalid_argument("wavefront: --n must be at least 1");
    Backend backend(c.options());
    told::choose([&]<told::telling Tell>() { backend.run([&] { time<Backend, wavefront_graph<Tell>>(c); }); });
  }

  template <class Backend, class Graph>
  static void time(context& c) {
    Graph graph(c.n());
    const double scale = 1e9 / static_cast<double>(runs * graph.count());
    if (c.wants("counters")) {
      const auto measure = [&](auto&& run) {
        c.measure(
            "counters", "ns", scale, [&] { graph.forget(); },
            [&] {
              for (std::size_t i = 0; i < runs; ++i) run();
            },
            [&] { return graph.checksum(); });
      };
      if constexpr (requires { typename Backend::template bare<Graph>; }) {
        typename Backend::template bare<Graph> tasks(graph);
        measure([&] { tasks.run(); });
      } else {
        measure([&] { Backend::scope([&graph](auto& scope) { graph.run_from(scope, &graph.at(0, 0)); }); });
      }
    }
    if (c.wants("graph")) {
      if constexpr (requires { typename Backend::template wave<Graph>; }) {
        typename Backend::template wave<Graph> wave(graph);
        c.measure(
            "graph", "ns", scale, [&] { graph.forget(); },
            [&] {
              for (std::size_t i = 0; i < runs; ++i) wave.run();
            },
            [&] { return graph.checksum(); });
      } else if constexpr (Backend::is_serial) {
        c.measure(
            "graph", "ns", scale, [&] { graph.forget(); },
            [&] {
              for (std::size_t r = 0; r < runs; ++r) {
                for (std::size_t i = 0; i < graph.count(); ++i) graph.at(i / graph.side(), i % graph.side()).visit();
              }
            },
            [&] { return graph.checksum(); });
      }
    }
  }
};

}  // namespace heddle::bench
