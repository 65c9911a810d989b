// An assignment of tasks to cores, by load and by the messages between tasks: the heuristic of NUMALB, a component of
// the policy of that name. It knows numbers only. `reserve` alone allocates.
//
// Source: Pilla, Ribeiro, Cordeiro, Bhatele, Navaux, Mehaut, Kale, "Improving parallel system performance with a
// NUMA-aware load balancer" (TR-JLPC-11-02, 2011), as Chen and Guo (2017), section 4.3, equations 4.3 and 4.4,
// describe it.
//
// The equations leave some points open. Here they are settled as follows:
// - Only partners that have a core already, in this pass, count as local or remote, because the others may go anywhere.
// - A task whose partners lie on several nodes pays for each node by itself: the sum over nodes of its messages there
//   times the factor.
// - F(comm, node(p)) is, as printed, that of a core on the partner's node that reads from the node of p.
// - Among equal costs the first core wins, among equal loads the first task.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heddle::policy {

// For nodes i and j, how many times longer a core of i reads from j than from i: equation 4.3. It is 1 if nothing is
// known.
class numa_factors {
 public:
  numa_factors() = default;
  // `latencies`, with as many rows as nodes, has in row i those of node i reading from node j; 0 if not known.
  numa_factors(std::vector<double> latencies, unsigned nodes);
  unsigned nodes() const noexcept { return nodes_; }
  double operator()(unsigned reader, unsigned home) const noexcept { return factors_[reader * nodes_ + home]; }

 private:
  unsigned nodes_{1};
  std::vector<double> factors_{1.0};
};

class numa_balance {
 public:
  static constexpr unsigned no_core = ~0u;

  // `alpha` is the load that a local message is worth. `node_of` is indexed by core.
  numa_balance(numa_factors factors, std::vector<unsigned> node_of, double alpha);
  // Reserves room for so many tasks and pairs of tasks. Throws std::bad_alloc.
  void reserve(unsigned tasks, unsigned pairs);

  // Begins a new problem with `tasks` tasks, no more than were reserved, without loads and messages.
  void clear(unsigned tasks) noexcept;
  void set_load(unsigned task, double load) noexcept { tasks_[task].load = load; }
  // Adds messages that either task sends to the other, in whichever direction. Returns false if there is no room for
  // another pair.
  bool add_messages(unsigned a, unsigned b, double messages) noexcept;
  // Equation 4.4, with the cores that have been chosen so far.
  double cost(unsigned task, unsigned core) const noexcept;
  // List scheduling: of the first `tasks` tasks the heaviest goes to the core where it costs least, then the next one.
  void assign(unsigned tasks) noexcept;

  unsigned core_of(unsigned task) const noexcept { return tasks_[task].core; }
  double load_of(unsigned core) const noexcept { return loads_[core]; }

 private:
  struct task {
    double load{0};
    unsigned core{no_core};
    unsigned first{0};  // the first of its talks, counted from 1; 0 if it has none
  };
  struct talk {
    unsigned with;
    unsigned next;
    double messages;
  };

  talk* find(unsigned from, unsigned to) noexcept;

  const numa_factors factors_;
  const std::vector<unsigned> node_of_;
  const double alpha_;
  unsigned count_{0};
  unsigned used_{0};  // talks
  std::vector<task> tasks_;
  std::vector<talk> talks_;
  std::vector<unsigned> order_;  // tasks, the heaviest first
  std::vector<double> loads_;    // by core
};

}  // namespace heddle::policy
