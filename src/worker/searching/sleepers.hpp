// The sleeping workers of a runtime, and how a publisher wakes one: [wake:1] to [wake:6] of src/sync/sleep.md. Owns the
// idle set. The words on which carriers sleep belong to the workers (`worker::token`). Any kernel thread may call these
// functions with preemption off, unless they say otherwise. Promise: after something was published and one of the
// waking functions was called, no worker that may take it stays asleep unless another worker looks for it.
#pragma once

#include <heddle/policy.hpp>

#include "sync/idle_set.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

class sleepers {
 public:
  // `limits`: the policy says which worker may take from which.
  sleepers(const worker_list& workers, policy::policy& policy, bool limits, unsigned count)
      : workers_(workers), policy_(policy), limits_(limits), idle_(count) {}

  sync::idle_set& idle() noexcept { return idle_; }

  // Makes the worker look for work. Returns false if a foreign kernel thread carries it. Its own carrier then gets it
  // as soon as the call is over.
  bool send_token(unsigned rank) noexcept;
  void send_tokens() noexcept;  // to all

  // Wakes any sleeper, beginning with `near`, unless a worker searches, which will find the work.
  void wake_one_for(unsigned near) noexcept;
  // The same, by a kernel thread that is no worker and may keep the processor that it shares with worker `beside`. That
  // worker is chosen last, and is not relied on to find the work.
  void wake_one_away_from(unsigned beside) noexcept;
  // The caller is on worker `rank`, and has put a thread into the inbox that another worker must take. Wakes one even
  // if a worker searches.
  void leave_to_another(unsigned rank) noexcept;
  // Wakes one of these workers, by rank, whether any searches or not.
  void wake_one_of(const std::vector<bool>& allowed) noexcept;
  // As wake_one_for. Where the policy limits who may rob whom, it does not rely on searchers.
  void wake_any(unsigned near) noexcept;
  // Wakes a worker that may take what worker `rank` has made public.
  void wake_thief_of(unsigned rank) noexcept;
  // Wakes worker `rank`. Returns false if it does not sleep.
  bool wake(unsigned rank) noexcept;

  // Whether a worker sleeps that may take what worker `rank` queues.
  [[nodiscard]] bool has_thief_of(unsigned rank) const noexcept;

 private:
  unsigned count() const noexcept { return static_cast<unsigned>(workers_.size()); }
  // Returns false if no worker slept.
  bool choose(unsigned first) noexcept;
  template <class MayTake>
  void wake_first(unsigned near, MayTake may_take) noexcept;

  const worker_list& workers_;
  policy::policy& policy_;
  const bool limits_;
  sync::idle_set idle_;
};

}  // namespace heddle::worker
