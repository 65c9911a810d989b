// Which core gets which task, by load and by what tasks send to each other: the heuristic of NUMALB, a component of the
// policy of that name. It knows numbers only. Nothing is allocated but by `reserve`.
//
// Source: Pilla, Ribeiro, Cordeiro, Bhatele, Navaux, Mehaut, Kale, "Improving parallel system performance with a
// NUMA-aware load balancer" (TR-JLPC-11-02, 2011), as Chen and Guo (2017), section 4.3, equations 4.3 and 4.4,
// describe it.
//
// What the equations leave open, and what it is here:
// - Only partners that have a core already, in this pass, count as local or remote: the others may go anywhere.
// - A task whose partners lie on several nodes pays for each node by itself: the sum over nodes of its messages there
//   times the factor.
// - F(comm, node(p)) is, as printed, that of a core on the partner's node that reads from the node of p.
// - Of equal costs the first core wins, of equal loads the first task.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heddle::policy {

// Of nodes i and j, how many times longer a core of i reads from j than from i: equation 4.3. 1 where nothing is known.
class numa_factors {
 public:
  numa_factors() = default;
  // `latencies`: of node i reading from node j, in row i; as many rows as nodes. 0: not known.
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

  // `alpha`: load that a local message is worth. `node_of`: of each core.
  numa_balance(numa_factors factors, std::vector<unsigned> node_of, double alpha);
  // For so many tasks and pairs of tasks. Throws std::bad_alloc.
  void reserve(unsigned tasks, unsigned pairs);

  // Begins anew with `tasks` tasks without loads that send nothing; no more than were reserved.
  void clear(unsigned tasks) noexcept;
  void set_load(unsigned task, double load) noexcept { tasks_[task].load = load; }
  // More messages that one of the two sends to the other, whichever. False: there is no room for another pair.
  bool add_messages(unsigned a, unsigned b, double messages) noexcept;
  // Equation 4.4 for the cores that have been chosen so far.
  double cost(unsigned task, unsigned core) const noexcept;
  // Of the first `tasks` tasks the heaviest goes to the core where it costs least, then the next one: list scheduling.
  void assign(unsigned tasks) noexcept;

  unsigned core_of(unsigned task) const noexcept { return tasks_[task].core; }
  double load_of(unsigned core) const noexcept { return loads_[core]; }

 private:
  struct task {
    double load{0};
    unsigned core{no_core};
    unsigned first{0};  // of its talks, from 1; 0: none
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
