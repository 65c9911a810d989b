// Faster workers that have nothing take the running task of a slower one: task snatching. A component of `aats-ts` and
// `rts`.
//
// Sources: Bender and Rabin, "Online scheduling of parallel programs on heterogeneous systems" (Theory of Computing
// Systems 35, 2002); Chen and Guo (2017), sections 5.3.1 and 5.10.5.
//
// The thief leaves its rank with the victim and ends the victim's time slice. The mechanism then asks the victim's
// policy where the interrupted task goes, and the task goes to the thief. This needs a task that can be preempted. A
// thief whose claim stands for long has met one that cannot be, and takes the claim back.
#pragma once

#include <atomic>
#include <memory>

#include <heddle/policy.hpp>
#include "policy/task_list.hpp"

namespace heddle::policy {

class snatching {
 public:
  void start(scheduler& host) {
    host_ = &host;
    workers_.reset(new worker[host.workers()]);
  }

  // The thief's worker has nothing to do. `better(best, w)` returns true if the running task of worker w is to be
  // preferred to that of worker `best`, which is `nobody` at first. Claims the task of the best one.
  template <class Better>
  void try_claim(unsigned thief, Better&& better) noexcept {
    worker& me = workers_[thief];
    if (me.victim != nobody) {
      if (++me.looks < patience) return;
      unsigned mine = thief;
      if (workers_[me.victim].claimed_by.compare_exchange_strong(mine, nobody))
        host_->remark(thief, "a task that cannot be preempted was not snatched; its worker", me.victim);
      me.victim = nobody;
    }
    unsigned best = nobody;
    for (unsigned w = 0; w < host_->workers(); ++w) {
      // relaxed: a hint; the exchange below decides
      if (w != thief && workers_[w].claimed_by.load(std::memory_order_relaxed) == nobody && better(best, w)) best = w;
    }
    unsigned none = nobody;
    if (best == nobody) return;
    me.hungry.store(true);
    if (!workers_[best].claimed_by.compare_exchange_strong(none, thief)) return;
    me.victim = best;
    me.looks = 0;
    host_->interrupt(best);
  }
  // Worker `self` has something to run.
  void fed(unsigned self) noexcept {
    worker& me = workers_[self];
    if (me.victim == nobody) return;
    me.hungry.store(false);
    unsigned mine = self;
    workers_[me.victim].claimed_by.compare_exchange_strong(mine, nobody);
    me.victim = nobody;
  }

  // Of policy::preempted: the worker to which the task goes, or `nobody`.
  unsigned claimant_of(unsigned self) noexcept {
    if (workers_[self].claimed_by.load(std::memory_order_relaxed) == nobody) return nobody;  // relaxed: a hint
    const unsigned thief = workers_[self].claimed_by.exchange(nobody);
    return thief != nobody && workers_[thief].hungry.load() ? thief : nobody;
  }
  void enqueue(task& t, unsigned thief) noexcept {
    workers_[thief].snatched.push_back(t);
    host_->wake(thief);
  }
  // The task that was snatched for `self`; with `insist` also one that another thief has no use for.
  task* take(unsigned self, effort how) noexcept {
    task* found = workers_[self].snatched.pop_front();
    if (found != nullptr) workers_[self].victim = nobody;
    for (unsigned w = 0; found == nullptr && how == effort::insist && w < host_->workers(); ++w)
      found = workers_[w].snatched.pop_front();
    return found;
  }
  bool may_find(unsigned) const noexcept {
    for (unsigned w = 0; w < host_->workers(); ++w) {
      if (!workers_[w].snatched.looks_empty()) return true;
    }
    return false;
  }

 private:
  static constexpr unsigned patience = 64;  // looks of a thief that found nothing

  struct alignas(64) worker {
    std::atomic<unsigned> claimed_by{nobody};  // as a victim
    std::atomic<bool> hungry{false};           // as a thief; read by the victim
    unsigned victim{nobody};                   // as a thief, with the next one
    unsigned looks{0};
    shared_task_list snatched;
  };

  scheduler* host_{nullptr};
  std::unique_ptr<worker[]> workers_;  // by rank
};

}  // namespace heddle::policy
