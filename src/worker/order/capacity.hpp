// How many workers of a runtime run threads: as many as were asked for, and as the process has processors for; the
// others stand aside, and threads are packed onto those that are left (packing.md). Owns the numbers, the pools, and
// what workers are told of both: `worker::aside`, `queues_specially`, `picks_specially`. Numbers are set by any kernel
// thread but a signal handler; anybody may read them. Promise: while some worker stands aside, every ready thread of
// the normal level is, or comes to be, in a pool that an active one serves.
#pragma once

#include <atomic>
#include <functional>

#include <heddle/policy.hpp>

#include "sync/mutex.hpp"
#include "worker/order/packing.hpp"
#include "worker/searching/inbox.hpp"
#include "worker/searching/sleepers.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

class capacity {
 public:
  // `allowed`: processors that the process may use now; empty: that is nobody's concern. `count`: see packing.
  capacity(const worker_list& workers, sleepers& all, inbox& incoming, const policy::policy_wants& wants,
           const std::function<unsigned()>& allowed, unsigned count)
      : workers_(workers), sleepers_(all), inbox_(incoming), wants_(wants), allowed_(allowed), pools_(count) {}

  // All workers are made, and active; none runs yet.
  void begin() noexcept;

  packing& pools() noexcept { return pools_; }
  const packing& pools() const noexcept { return pools_; }
  // Whether the policy bears that any worker stands aside.
  bool can_change() const noexcept { return !wants_.limits && !wants_.picks && !wants_.spawns; }
  // a number; who stands aside is told by its worker
  unsigned active() const noexcept { return active_.load(std::memory_order_relaxed); }
  // Workers of this rank and above stand aside at their next switch or tick, and what they have goes to the others.
  void set_active(unsigned count) noexcept;

  // All workers are on again, and stay so: nobody follows limits any more.
  void end() noexcept;

  // From now on the numbers follow what the process may use: somebody calls follow_limits now and then.
  void begin_to_follow();
  bool has_limits() const noexcept { return static_cast<bool>(allowed_); }
  void follow_limits() noexcept;

  // Grows whenever some worker begins to stand aside or ceases to; a futex word, woken if the policy wants to know.
  std::atomic<std::uint32_t>& changes() noexcept { return changes_; }

  // Threads of levels beside the normal one, or pinned ones, are about to be made: every worker looks for them from now
  // on.
  void expect_special_threads() noexcept;

 private:
  unsigned count() const noexcept { return static_cast<unsigned>(workers_.size()); }
  void apply() noexcept;

  const worker_list& workers_;
  sleepers& sleepers_;
  inbox& inbox_;
  const policy::policy_wants& wants_;
  const std::function<unsigned()>& allowed_;
  packing pools_;
  std::atomic<unsigned> active_{0};  // workers that do not stand aside; written under mutex_
  std::atomic<std::uint32_t> changes_{0};
  unsigned allowed_at_start_{0};
  sync::mutex mutex_;
  unsigned asked_active_{0};             // by set_active; under mutex_
  unsigned allowed_active_{0};           // by the limits of the process; under mutex_
  bool expects_special_threads_{false};  // under mutex_
};

}  // namespace heddle::worker
