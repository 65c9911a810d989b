#include "cli/group/recursive.hpp"

#include <algorithm>
#include <numeric>

#include "cli/group/partition.hpp"

namespace heddle::cli {

namespace {

using tasks_of_group = std::vector<unsigned>;

class grouper {
 public:
  grouper(const sharing_graph& tasks, const machine::view& machine, std::uint64_t line_bytes,
          policy::grouping::site& into)
      : tasks_(tasks), machine_(machine), line_bytes_(line_bytes), into_(into) {}

  // Places `some` under this memory group: as groups that fit into its cache, one after the other.
  void place(const tasks_of_group& some, const machine::memory_group& under) {
    if (some.empty()) return;
    std::vector<tasks_of_group> fitting{some};
    const std::uint64_t bytes = tasks_.lines_of(some) * line_bytes_;
    if (machine::is_cache(under.kind) && under.capacity != 0 && bytes > under.capacity) {
      const std::uint64_t wanted = std::min<std::uint64_t>((bytes + under.capacity - 1) / under.capacity, some.size());
      fitting = ordered(partition(tasks_, some, std::vector<double>(wanted, 1)));
    }
    for (const tasks_of_group& one : fitting) share_out(one, under);
  }

 private:
  void share_out(const tasks_of_group& some, const machine::memory_group& under) {
    if (under.is_leaf()) {
      const tasks_of_group in_order = ordered_tasks(some);
      if (!in_order.empty()) into_.workers[under.first_worker].push_back(in_order);
      return;
    }
    std::vector<double> shares;
    for (const machine::memory_group& child : machine_.children(under)) shares.push_back(child.worker_count);
    const std::vector<tasks_of_group> parts = partition(tasks_, some, shares);
    for (std::size_t i = 0; i < parts.size(); ++i) place(parts[i], machine_.children(under)[i]);
  }

  // Orders groups by the lines that they share with the groups before them.
  std::vector<tasks_of_group> ordered(std::vector<tasks_of_group> groups) const {
    std::erase_if(groups, [](const tasks_of_group& g) { return g.empty(); });
    std::vector<std::vector<unsigned>> sets;
    for (const tasks_of_group& g : groups) {
      std::vector<unsigned>& pieces = sets.emplace_back();
      for (const unsigned t : g) pieces.insert(pieces.end(), tasks_.pieces_of(t).begin(), tasks_.pieces_of(t).end());
      std::sort(pieces.begin(), pieces.end());
      pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
    }
    std::vector<tasks_of_group> in_order;
    for (const unsigned at : order_by_sharing(tasks_, sets)) in_order.push_back(std::move(groups[at]));
    return in_order;
  }

  tasks_of_group ordered_tasks(const tasks_of_group& some) const {
    std::vector<std::vector<unsigned>> sets;
    for (const unsigned t : some) sets.emplace_back(tasks_.pieces_of(t).begin(), tasks_.pieces_of(t).end());
    tasks_of_group in_order;
    for (const unsigned at : order_by_sharing(tasks_, sets)) in_order.push_back(some[at]);
    return in_order;
  }

  const sharing_graph& tasks_;
  const machine::view& machine_;
  const std::uint64_t line_bytes_;
  policy::grouping::site& into_;
};

double within(const sharing_graph& tasks, const std::vector<unsigned>& group_of_task) {
  double all = 0, inside = 0;
  for (unsigned t = 0; t < tasks.tasks(); ++t) {
    for (const sharing_graph::edge& e : tasks.edges(t)) {
      all += static_cast<double>(e.lines);
      if (group_of_task[t] == group_of_task[e.to]) inside += static_cast<double>(e.lines);
    }
  }
  return all > 0 ? inside / all : 1;
}

std::vector<unsigned> workers_of_tasks(const policy::grouping::site& site) {
  std::vector<unsigned> worker(site.tasks, 0);
  for (unsigned w = 0; w < site.workers.size(); ++w)
    for (const policy::grouping::group& g : site.workers[w])
      for (const unsigned t : g) worker[t] = w;
  return worker;
}

}  // namespace

policy::grouping::site group_tasks(const sharing_graph& tasks, const machine::view& machine, std::uint64_t line_bytes) {
  policy::grouping::site site{tasks.tasks(), std::vector<std::vector<policy::grouping::group>>(machine.workers())};
  tasks_of_group all(tasks.tasks());
  std::iota(all.begin(), all.end(), 0u);
  grouper(tasks, machine, line_bytes, site).place(all, machine.root());
  return site;
}

std::vector<group_quality> quality_of(const policy::grouping::site& site, const sharing_graph& tasks,
                                      const machine::view& machine) {
  const std::vector<unsigned> worker = workers_of_tasks(site);
  std::vector<group_quality> found;
  for (unsigned level = 1; level < machine.levels(); ++level) {
    const std::vector<unsigned> groups = machine.groups_at(level);
    std::vector<unsigned> of_worker(machine.workers(), 0);
    for (unsigned i = 0; i < groups.size(); ++i) {
      const machine::memory_group& g = machine.group(groups[i]);
      std::fill_n(of_worker.begin() + g.first_worker, g.worker_count, i);
    }
    std::vector<unsigned> grouped, dealt;
    for (unsigned t = 0; t < tasks.tasks(); ++t) {
      grouped.push_back(of_worker[worker[t]]);
      dealt.push_back(of_worker[std::uint64_t{t} * machine.workers() / tasks.tasks()]);
    }
    found.push_back({name(machine.group(groups.front()).kind), static_cast<unsigned>(groups.size()),
                     within(tasks, grouped), within(tasks, dealt)});
  }
  return found;
}

double imbalance_of(const policy::grouping::site& site, const sharing_graph& tasks) {
  double all = 0, most = 0;
  for (const auto& groups : site.workers) {
    double sum = 0;
    for (const policy::grouping::group& g : groups)
      for (const unsigned t : g) sum += tasks.weight(t);
    all += sum;
    most = std::max(most, sum);
  }
  return all > 0 ? most * static_cast<double>(site.workers.size()) / all : 1;
}

}  // namespace heddle::cli
