#include "policy/numa/numa_balance.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace heddle::policy {

numa_factors::numa_factors(std::vector<double> latencies, unsigned nodes)
    : nodes_(nodes), factors_(std::move(latencies)) {
  for (unsigned i = 0; i < nodes_; ++i) {
    const double own = factors_[i * nodes_ + i];
    for (unsigned j = 0; j < nodes_; ++j) {
      double& f = factors_[i * nodes_ + j];
      f = own > 0 && f > 0 ? f / own : 1;
    }
  }
}

numa_balance::numa_balance(numa_factors factors, std::vector<unsigned> node_of, double alpha)
    : factors_(std::move(factors)), node_of_(std::move(node_of)), alpha_(alpha), loads_(node_of_.size(), 0) {}

void numa_balance::reserve(unsigned tasks, unsigned pairs) {
  tasks_.resize(tasks);
  order_.resize(tasks);
  talks_.resize(std::size_t{2} * pairs + 1);
}

void numa_balance::clear(unsigned tasks) noexcept {
  count_ = tasks;
  used_ = 0;
  std::fill_n(tasks_.begin(), count_, task{});
}

bool numa_balance::add_messages(unsigned a, unsigned b, double messages) noexcept {
  if (a == b) return true;
  talk* const known = find(a, b);
  if (known == nullptr && used_ + 2 >= talks_.size()) return false;
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    if (known != nullptr) {
      find(from, to)->messages += messages;
    } else {
      talks_[++used_] = {to, tasks_[from].first, messages};
      tasks_[from].first = used_;
    }
  }
  return true;
}

numa_balance::talk* numa_balance::find(unsigned from, unsigned to) noexcept {
  unsigned i = tasks_[from].first;
  while (i != 0 && talks_[i].with != to) i = talks_[i].next;
  return i == 0 ? nullptr : &talks_[i];
}

double numa_balance::cost(unsigned task, unsigned core) const noexcept {
  const unsigned here = node_of_[core];
  double local = 0, remote = 0;
  for (unsigned i = tasks_[task].first; i != 0; i = talks_[i].next) {
    const unsigned partner = tasks_[talks_[i].with].core;
    if (partner == no_core) continue;
    const unsigned there = node_of_[partner];
    if (there == here) local += talks_[i].messages;
    else remote += talks_[i].messages * factors_(there, here);
  }
  return loads_[core] + alpha_ * (remote - local);
}

void numa_balance::assign(unsigned tasks) noexcept {
  std::fill(loads_.begin(), loads_.end(), 0.0);
  for (unsigned t = 0; t < count_; ++t) tasks_[t].core = no_core;
  const auto end = order_.begin() + std::min(tasks, count_);
  std::iota(order_.begin(), end, 0u);
  // equal tasks are ordered by number, because std::stable_sort would allocate
  std::sort(order_.begin(), end, [&](unsigned a, unsigned b) {
    return tasks_[a].load != tasks_[b].load ? tasks_[a].load > tasks_[b].load : a < b;
  });
  for (auto next = order_.begin(); next != end; ++next) {
    unsigned best = 0;
    double least = cost(*next, 0);
    for (unsigned core = 1; core < loads_.size(); ++core) {
      const double here = cost(*next, core);
      if (here < least) least = here, best = core;
    }
    tasks_[*next].core = best;
    loads_[best] += tasks_[*next].load;
  }
}

}  // namespace heddle::policy
