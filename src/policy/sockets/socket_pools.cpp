#include "policy/sockets/socket_pools.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace heddle::policy {

namespace {

std::vector<worker_group> cut_evenly(unsigned workers, unsigned into) {
  if (into > workers)
    throw std::invalid_argument("policy parameter sockets=" + std::to_string(into) + " is not a number from 1 to " +
                                std::to_string(workers) + ", the number of workers");
  std::vector<worker_group> groups;
  for (unsigned i = 0; i < into; ++i) {
    const unsigned first = workers * i / into;
    groups.push_back({first, workers * (i + 1) / into - first});
  }
  return groups;
}

}  // namespace

void socket_pools::start(scheduler& host) {
  host_ = &host;
  const std::vector<worker_group> groups =
      rules_.sockets == 0 ? worker_groups(host) : cut_evenly(host.workers(), rules_.sockets);
  count_ = static_cast<unsigned>(groups.size());
  sockets_.reset(new socket[count_]);
  for (unsigned i = 0; i < count_; ++i) sockets_[i].workers = groups[i];
  of_ = group_of_ranks(groups, host.workers());
  searches_.reset(new searches[host.workers()]);
}

double cache_of_a_socket(const scheduler& host) noexcept {
  const machine::view machine = host.machine();
  if (machine.workers() != host.workers()) return 0;
  const machine::memory_group* shared = machine.shared_cache_of(0);
  const machine::memory_group& from = shared != nullptr ? *shared : machine.leaf_of(0);
  return machine::is_cache(from.kind) && from.capacity != machine::unlimited ? static_cast<double>(from.capacity) : 0;
}

// Wakes the head first, because others act for it only after a search in vain.
bool socket_pools::wake_one_of(unsigned which) noexcept {
  const worker_group& workers = sockets_[which].workers;
  for (unsigned i = 0; i < workers.count; ++i) {
    if (host_->wake(workers.first + i)) return true;
  }
  return false;
}

// Wakes workers whether or not a socket is busy. A look at the flag could come before the change of the list is seen by
// the worker that resets the flag.
void socket_pools::put(unsigned self, task& t, unsigned to, unsigned which) noexcept {
  sockets_[to].list_of[which].push_back(t);
  if (which <= upper) {
    for (unsigned i = 0; i < count_; ++i) wake_one_of((to + i) % count_);
  } else if (!wake_one_of(to) && which == open) {
    host_->wake_any(self == nobody ? 0 : self);
  }
}

task* socket_pools::take_own(unsigned self) noexcept {
  socket& mine = sockets_[of_[self]];
  task* t = mine.list_of[local].pop_back();
  return t != nullptr ? t : mine.list_of[open].pop_back();
}

task* socket_pools::take_open(unsigned self, effort how) noexcept {
  if (rules_.patience != 0 && how == effort::glance) return nullptr;
  const unsigned from = host_->random(self, count_);
  for (unsigned i = 0; i < count_; ++i) {
    if (task* t = sockets_[(from + i) % count_].list_of[open].pop_front(); t != nullptr) return t;
  }
  return nullptr;
}

task* socket_pools::take_from(unsigned self, unsigned lists_of_each) noexcept {
  for (unsigned i = 0; i < count_; ++i) {
    for (unsigned which = 0; which < lists_of_each; ++which) {
      task* t = sockets_[(of_[self] + i) % count_].list_of[which].pop_front();
      if (t != nullptr) return t;
    }
  }
  return nullptr;
}

task* socket_pools::take_of_others(unsigned mine, unsigned from, list which) noexcept {
  for (unsigned i = 0; i < count_; ++i) {
    const unsigned there = (from + i) % count_;
    task* t = there == mine ? nullptr : sockets_[there].list_of[which].pop_front();
    if (t != nullptr) return t;
  }
  return nullptr;
}

// Tasks on whose data another socket has worked are left to that socket for a while, because they cost more here. A
// worker that waits for this does not sleep: may_find. Each worker counts for itself, so that steals of others keep no
// worker waiting.
task* socket_pools::take_inter(unsigned self, effort how) noexcept {
  const unsigned mine = of_[self];
  const bool allowed = leads(self) || (how == effort::insist && !rules_.literal);
  if (!allowed) return nullptr;
  const bool own = has_own_inter(mine);
  bool may_steal = false;
  if (!own && is_anywhere(inter)) {
    unsigned& waited = searches_[self].waited;
    may_steal = rules_.patience == 0 || waited >= rules_.patience;
    if (!may_steal && how == effort::insist && !is_busy(mine)) ++waited;
  } else {
    searches_[self].waited = 0;
  }
  if ((!own && !may_steal && !is_anywhere(fresh)) || !claim(mine)) return nullptr;
  const unsigned from = rules_.at_random ? host_->random(self, count_) : mine;
  task* t = nullptr;
  for (const list which : {upper, inter, fresh}) t = t != nullptr ? t : sockets_[mine].list_of[which].pop_back();
  if (t == nullptr) t = take_of_others(mine, from, fresh);
  if (t == nullptr && may_steal) t = take_of_others(mine, from, inter);
  // No wake-up is lost, because this worker looks again before it sleeps.
  if (t == nullptr) sockets_[mine].busy.store(false);
  else searches_[self].waited = 0;
  return t;
}

bool socket_pools::has_own_inter(unsigned which) const noexcept {
  for (unsigned i = 0; i <= upper; ++i) {
    if (!sockets_[which].list_of[i].looks_empty()) return true;
  }
  return false;
}

bool socket_pools::is_anywhere(list which) const noexcept {
  for (unsigned i = 0; i < count_; ++i) {
    if (!sockets_[i].list_of[which].looks_empty()) return true;
  }
  return false;
}

bool socket_pools::has_inter_for(unsigned which) const noexcept {
  return has_own_inter(which) || is_anywhere(inter) || is_anywhere(fresh);
}

bool socket_pools::is_filled(unsigned lists_of_each) const noexcept {
  for (unsigned i = 0; i < count_; ++i) {
    for (unsigned which = 0; which < lists_of_each; ++which) {
      if (!sockets_[i].list_of[which].looks_empty()) return true;
    }
  }
  return false;
}

bool socket_pools::may_find(unsigned self) const noexcept {
  const unsigned mine = of_[self];
  if (!sockets_[mine].list_of[local].looks_empty()) return true;
  for (unsigned i = 0; i < count_; ++i) {
    if (!sockets_[i].list_of[open].looks_empty()) return true;
  }
  const worker_group& workers = sockets_[mine].workers;
  for (unsigned i = 0; i < workers.count; ++i) {
    if (workers.first + i != self && host_->has_work(workers.first + i)) return true;
  }
  if (has_inter_for(mine) && !is_busy(mine) && (leads(self) || !rules_.literal)) return true;
  return !rules_.literal && holds_back() && host_->all_idle();
}

}  // namespace heddle::policy
