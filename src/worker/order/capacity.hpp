// The number of workers of a runtime that run threads. It is limited by the number that was asked for, and by the
// processors that the process has. The other workers are inactive, and threads are packed onto the active ones
// (packing.md). Owns the numbers, the pools, and the marks that tell workers of both: `worker::aside`,
// `queues_specially`, `picks_specially`. Numbers are set by any kernel thread but a signal handler; any code may read
// them. Promise: while some worker is inactive, every ready thread of the normal level is, or comes to be, in a pool
// that an active one serves.
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
  // `allowed` returns the processors that the process may use at the moment. If it is empty, such limits are not
  // followed. `count`: see packing.
  capacity(const worker_list& workers, sleepers& all, inbox& incoming, const policy::policy_wants& wants,
           const std::function<unsigned()>& allowed, unsigned count)
      : workers_(workers), sleepers_(all), inbox_(incoming), wants_(wants), allowed_(allowed), pools_(count) {}

  // All workers are made, and active; none runs yet.
  void begin() noexcept;

  packing& pools() noexcept { return pools_; }
  const packing& pools() const noexcept { return pools_; }
  // Returns true if the policy bears that workers are inactive.
  bool can_change() const noexcept { return !wants_.limits && !wants_.picks && !wants_.spawns; }
  // A number. Whether a worker is inactive, the worker itself tells.
  unsigned active() const noexcept { return active_.load(std::memory_order_relaxed); }
  // Workers of this rank and above become inactive at their next switch or tick, and their work goes to the others.
  void set_active(unsigned count) noexcept;

  // All workers are active again, and stay so: limits are not followed any more.
  void end() noexcept;

  // From this call on the numbers follow the limits of the process. The creator calls follow_limits now and then.
  void begin_to_follow();
  bool has_limits() const noexcept { return static_cast<bool>(allowed_); }
  void follow_limits() noexcept;

  // Grows whenever some worker becomes inactive or active. A futex word, which is woken if the policy wants to know.
  std::atomic<std::uint32_t>& changes() noexcept { return changes_; }

  // Threads of levels beside the normal one, or pinned ones, are about to be made: from this call on every worker looks
  // for them.
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
  std::atomic<unsigned> active_{0};  // active workers; written under mutex_
  std::atomic<std::uint32_t> changes_{0};
  unsigned allowed_at_start_{0};
  sync::mutex mutex_;
  unsigned asked_active_{0};             // by set_active; under mutex_
  unsigned allowed_active_{0};           // by the limits of the process; under mutex_
  bool expects_special_threads_{false};  // under mutex_
};

}  // namespace heddle::worker
