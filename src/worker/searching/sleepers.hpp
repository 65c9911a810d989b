// The sleeping workers of a runtime, and who wakes which of them for what: [wake:1] to [wake:6] of src/sync/sleep.md.
// Owns the idle set; the words on which carriers sleep are the workers' (`worker::token`). Any kernel thread may call,
// with preemption off, unless it says otherwise. Promise: after something was published, a call that wakes leaves no
// worker that may take it asleep while nobody looks for it.
#pragma once

#include <heddle/policy.hpp>

#include "sync/idle_set.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

class sleepers {
 public:
  // `limits`: the policy says who may take from whom.
  sleepers(const worker_list& workers, policy::policy& policy, bool limits, unsigned count)
      : workers_(workers), policy_(policy), limits_(limits), idle_(count) {}

  sync::idle_set& idle() noexcept { return idle_; }

  // The worker shall look for work. False: it is lent, and will be its carrier's as soon as the call is over.
  bool send_token(unsigned rank) noexcept;
  void send_tokens() noexcept;  // to all

  // Anybody, `near` first, unless somebody searches who will find it.
  void wake_one_for(unsigned near) noexcept;
  // The same by a kernel thread that is no worker and may keep the processor that it shares with worker `beside`: that
  // one comes last, and is nobody who will find it.
  void wake_one_away_from(unsigned beside) noexcept;
  // Worker `rank`, the caller's, has put something into the inbox that is to be somebody else's, whoever searches.
  void leave_to_another(unsigned rank) noexcept;
  // One of these, by rank, whoever searches.
  void wake_one_of(const std::vector<bool>& allowed) noexcept;
  // As wake_one_for where the policy does not trust those that search.
  void wake_any(unsigned near) noexcept;
  // Somebody who may take what worker `rank` has made public.
  void wake_thief_of(unsigned rank) noexcept;
  // That one. False: it does not sleep.
  bool wake(unsigned rank) noexcept;

  // Somebody sleeps who may take what worker `rank` queues.
  [[nodiscard]] bool has_thief_of(unsigned rank) const noexcept;

 private:
  unsigned count() const noexcept { return static_cast<unsigned>(workers_.size()); }
  // False: nobody slept.
  bool choose(unsigned first) noexcept;
  template <class MayTake>
  void wake_first(unsigned near, MayTake may_take) noexcept;

  const worker_list& workers_;
  policy::policy& policy_;
  const bool limits_;
  sync::idle_set idle_;
};

}  // namespace heddle::worker
