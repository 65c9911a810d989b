// Random fork-join programs whose work and span are known, and their
// runs on a simulated machine whose operations cost nothing.
#pragma once

#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "machine/topology.hpp"
#include "platform/sim/engine.hpp"

namespace heddle::sim {

// Computes, runs its children side by side, computes again.
struct tree_node {
  picoseconds before{0}, after{0};
  std::vector<unsigned> children;  // two: parallel_invoke; others: a task_group
};

enum class shape : std::uint8_t { balanced, lopsided, bushy, comb, wide };
inline constexpr shape all_shapes[] = {shape::balanced, shape::lopsided, shape::bushy, shape::comb, shape::wide};
inline const char* name(shape s) {
  constexpr const char* names[] = {"balanced", "lopsided", "bushy", "comb", "wide"};
  return names[static_cast<unsigned>(s)];
}

class random_tree {
 public:
  random_tree(shape form, std::uint64_t seed) : random_(seed * 1000 + static_cast<std::uint64_t>(form)) {
    switch (form) {
      case shape::balanced: (void)halves(1u << (6 + seed % 5), false); break;
      case shape::lopsided: (void)halves(400 + 150 * static_cast<unsigned>(seed % 8), true); break;
      case shape::bushy: (void)bush(7); break;
      case shape::comb: (void)comb(60 + 20 * static_cast<unsigned>(seed % 6)); break;
      case shape::wide: (void)fan(300 + 100 * static_cast<unsigned>(seed % 8)); break;
    }
    measure(root());
  }

  picoseconds work() const { return work_; }
  picoseconds span() const { return span_; }
  // nodes from the root to the deepest leaf: serial activations at once
  unsigned depth() const { return depth_; }
  // The most steps on a path: computations, and of a group the spawns one after the other.
  unsigned span_steps() const { return span_steps_; }
  unsigned root() const { return static_cast<unsigned>(nodes_.size() - 1); }
  const tree_node& at(unsigned i) const { return nodes_[i]; }

 private:
  // Exponential, 20 us on average; whole nanoseconds.
  picoseconds cost() {
    return static_cast<picoseconds>(1 + std::exponential_distribution<>(1.0 / 20'000)(random_)) * nanosecond;
  }
  unsigned below(unsigned bound) { return std::uniform_int_distribution<unsigned>(0, bound - 1)(random_); }
  unsigned add(tree_node n) {
    nodes_.push_back(std::move(n));
    return static_cast<unsigned>(nodes_.size() - 1);
  }
  unsigned leaf() { return add({cost(), 0, {}}); }

  unsigned halves(unsigned leaves, bool at_random) {
    if (leaves == 1) return leaf();
    const unsigned first = at_random ? 1 + below(leaves - 1) : leaves / 2;
    std::vector<unsigned> both{halves(first, at_random), halves(leaves - first, at_random)};
    return add({cost() / 8, cost() / 8, std::move(both)});
  }
  unsigned bush(unsigned levels) {
    if (levels == 0 || below(12) == 0) return leaf();
    std::vector<unsigned> children;
    for (unsigned n = 1 + below(6); n > 0; --n) children.push_back(bush(levels - 1));
    return add({cost(), cost(), std::move(children)});
  }
  // A long chain with small trees at its side: little parallelism.
  unsigned comb(unsigned teeth) {
    if (teeth == 0) return leaf();
    const unsigned side = halves(1 + below(16), true);
    std::vector<unsigned> both{side, comb(teeth - 1)};
    if (below(2) == 0) std::swap(both[0], both[1]);
    return add({cost(), cost(), std::move(both)});
  }
  // Children of one parent, one in sixteen a hundred times as long.
  unsigned fan(unsigned children) {
    std::vector<unsigned> all;
    for (unsigned i = 0; i < children; ++i) {
      all.push_back(leaf());
      if (below(16) == 0) nodes_.back().before *= 100;
    }
    return add({cost(), cost(), std::move(all)});
  }

  struct measured {
    picoseconds span;
    unsigned depth, steps;
  };
  measured measure(unsigned i) {
    const tree_node& n = nodes_[i];
    const auto count = static_cast<unsigned>(n.children.size());
    const bool group = count != 2;
    measured most{0, 0, group ? count : 0};
    work_ += n.before + n.after;
    for (unsigned k = 0; k < count; ++k) {
      const measured m = measure(n.children[k]);
      most = {std::max(most.span, m.span), std::max(most.depth, m.depth),
              std::max(most.steps, m.steps + (group ? k : 0))};
    }
    const measured all{most.span + n.before + n.after, most.depth + 1, most.steps + (count == 0 ? 1u : 2u)};
    if (i == root()) {
      span_ = all.span;
      depth_ = all.depth;
      span_steps_ = all.steps;
    }
    return all;
  }

  std::mt19937_64 random_;
  std::vector<tree_node> nodes_;  // children before parents
  picoseconds work_{0}, span_{0};
  unsigned depth_{0}, span_steps_{0};
};

struct tree_run {
  picoseconds time;      // from the root's first computation to its end
  picoseconds computed;  // by all workers together
  std::uint64_t steals, failed_steals;
  unsigned most_at_once;  // activations: nodes begun and not ended
};

// Searching and waking take time in the simulator even where the machine file says nothing: a turn of a waiting loop.
inline constexpr picoseconds turn = 14 * nanosecond;

class tree_runner {
 public:
  tree_runner(const random_tree& t, unsigned workers, const std::string& policy, std::uint64_t seed, unsigned spin)
      : tree_(t) {
    configuration c;
    c.units.assign(workers, {});
    for (unsigned i = 0; i < workers; ++i) c.units[i].number = static_cast<int>(i);
    c.charge = charging::annotations;
    c.times = {};
    c.times.pause = turn;
    machine::topology::pretend(machine::topology::from_synthetic("pu:" + std::to_string(workers)));
    engine e(std::move(c));
    active = &e;
    {
      heddle::runtime_options options;
      options.workers = workers;
      options.policy = policy;
      options.seed = seed + 1;  // 0 means another seed each time
      options.spin = spin;
      heddle::runtime runtime(options);
      runtime.run([&] {
        const picoseconds begin = e.now();
        go(tree_.root());
        result_.time = active->now() - begin;
      });
    }
    for (const auto& s : e.strands()) result_.computed += s->spent[static_cast<unsigned>(activity::program)];
    result_.steals = e.counts().steals;
    result_.failed_steals = e.counts().failed_steals;
    active = nullptr;
  }
  const tree_run& result() const { return result_; }

 private:
  void go(unsigned i) {
    const tree_node& n = tree_.at(i);
    result_.most_at_once = std::max(result_.most_at_once, ++at_once_);
    active->charge(activity::program, n.before);
    if (n.children.size() == 2) {
      heddle::parallel_invoke([this, &n] { go(n.children[0]); }, [this, &n] { go(n.children[1]); });
    } else if (!n.children.empty()) {
      heddle::task_group group;
      for (const unsigned child : n.children) group.run([this, child] { go(child); });
      group.wait();
    }
    active->charge(activity::program, n.after);
    --at_once_;
  }

  const random_tree& tree_;
  tree_run result_{};
  unsigned at_once_{0};  // one kernel thread: no race
};

inline tree_run run_tree(const random_tree& t, unsigned workers, const std::string& policy = "random_ws",
                         std::uint64_t seed = 42, unsigned spin = 0) {
  return tree_runner(t, workers, policy, seed, spin).result();
}

}  // namespace heddle::sim
