// The policy of a runtime, and the requests that it makes of the mechanism: the other side of the seam
// (<heddle/policy.hpp>). Owns the policy and the record of what it wants. The policy calls from any worker, and from
// any kernel thread where a comment says so, with preemption off. Promise: figures that the policy does not want are
// not computed [seam:1]; an entry that the policy gets belongs to nobody else.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <heddle/policy.hpp>

#include "machine/topology.hpp"
#include "queue/askers.hpp"
#include "trace/trace.hpp"
#include "worker/carriers/census.hpp"
#include "worker/searching/sleepers.hpp"
#include "worker/time/accounts.hpp"
#include "worker/time/task_meter.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

class policy_host final : private policy::scheduler {
 public:
  // Throws std::invalid_argument if there is no such policy. `all` and `alive` are not used before start.
  policy_host(const std::string& name, const worker_list& workers, sleepers& all, census& alive);

  policy::policy& scheduler_policy() noexcept { return *policy_; }
  const policy::policy_wants& wants() const noexcept { return wants_; }

  // Called when all workers are made, and none runs yet: tells them what the policy wants of them, and the policy of
  // them. `traced` is where the trace goes, or null. `machine` is null if the machine is not known.
  void start(std::shared_ptr<const machine::topology> machine, trace::recorder* traced, bool trace_forks);

  bool may_rob(unsigned thief, unsigned victim) const noexcept {
    return thief != victim && (!wants_.limits || policy_->may_rob(thief, victim));
  }
  unsigned distance(unsigned a, unsigned b) const noexcept override;
  // Tells which worker asks which by name; null if the policy does not want that.
  [[nodiscard]] queue::askers* askers_of_all() const noexcept { return askers_.get(); }
  // True if the mailbox of that worker holds something. A hint, or exact after a heavy fence, or after a fence for
  // entries that were announced before it.
  [[nodiscard]] bool has_given(unsigned rank) const noexcept { return askers_ != nullptr && askers_->has(rank); }
  // Worker `self` takes the contents of the mailbox of `of`, itself or one that it may rob; 0 if it is empty.
  [[nodiscard]] entry take_given(unsigned self, unsigned of) noexcept {
    return has_given(of) ? take_from_box(self, of) : 0;
  }

  // Stores a measurement of `beat`: the part of the time that the worker's kernel thread had a processor.
  void set_share(unsigned rank, double share) noexcept {
    shares_[rank].store(share, std::memory_order_relaxed);  // a number
  }
  double speed(unsigned rank) const noexcept override;

  // Hands the thread to the policy. `self` is the calling worker of this runtime, or policy::nobody for any other
  // kernel thread.
  void enqueue(unsigned self, thread& t) noexcept;
  // How many threads have been given to the policy like that. relaxed: a hint
  unsigned threads_sent() const noexcept { return threads_sent_.load(std::memory_order_relaxed); }
  // The time slice of `t` has ended, a thread of the normal level, whose context is complete. Called on the worker
  // where that was. Returns true if the policy has taken the thread.
  [[nodiscard]] bool places_preempted(unsigned rank, thread& t) noexcept {
    if (t.scheduling.tag == nullptr || !wants_.preemptions || t.level.load() != 0 || t.ties.belongs.is_pinned())
        [[likely]]
      return false;
    if (policy_->preempted(rank, t.scheduling) != policy::placement::send) return false;
    policy_->enqueue(rank, t.scheduling);
    return true;
  }
  // The calling thread is suspended and then placed by the policy.
  void place_running() noexcept;

  // The calling worker takes up to `most` of the oldest public entries of another one into `out`, and returns their
  // number. It does not ask the policy, so it returns 0 where the policy has a say in that.
  [[nodiscard]] unsigned steal_several(worker& thief, worker& from, entry* out, unsigned most) noexcept;

  // The calling worker takes the oldest entry of another one, private entries included, or else a ready thread that its
  // worker has given up. `fence` is the fence of queue::force_steal. Does not ask the policy.
  [[nodiscard]] entry take_by_force(worker& thief, worker& from, void (*fence)() noexcept) const noexcept;

  // Names a worker whose queue shows work for many, where a policy limits no thief. Searching workers find that work at
  // once, and not after as many tries as there are workers. A hint; the last call counts.
  void tell_of(unsigned rank) noexcept { told_of_.rank.store(rank, std::memory_order_relaxed); }
  // relaxed: as above
  void tell_no_more_of(unsigned rank) noexcept {
    if (told_of_.rank.load(std::memory_order_relaxed) == rank) tell_of(policy::nobody);
  }
  entry take_told_of(unsigned self) noexcept {
    const unsigned rank = told_of_.rank.load(std::memory_order_relaxed);  // a hint
    if (rank == policy::nobody || rank == self || !queue::has_public(*workers_[rank])) [[likely]]
      return 0;
    return steal(self, rank, policy::effort::glance);
  }

 private:
  // policy::scheduler
  unsigned workers() const noexcept override { return static_cast<unsigned>(workers_.size()); }
  machine::view machine() const noexcept override { return machine_ != nullptr ? machine_->view() : machine::view(); }
  policy::source speed_source(unsigned rank) const noexcept override;
  const policy::task* running(unsigned rank) const noexcept override {
    const task_meter* meter = workers_[rank]->meter;
    return meter == nullptr ? nullptr : meter->shown();
  }
  void interrupt(unsigned victim) noexcept override;
  std::uint32_t random(unsigned self, std::uint32_t bound) noexcept override {
    return workers_[self]->random.below(bound);
  }
  entry steal(unsigned self, unsigned victim, policy::effort how) noexcept override;
  bool has_work(unsigned victim) const noexcept override;
  void request(unsigned self, unsigned victim) noexcept override;
  entry newest(unsigned self) noexcept override { return workers_[self]->take_newest(); }
  entry oldest(unsigned self) noexcept override;
  unsigned queued(unsigned rank) const noexcept override;
  bool ask(unsigned self, unsigned victim) noexcept override;
  bool asks(unsigned self, unsigned victim) const noexcept override;
  bool withdraw(unsigned self, unsigned victim) noexcept override;
  unsigned askers(unsigned self) const noexcept override;
  entry given(unsigned self) noexcept override { return take_given(self, self); }
  entry entry_of(policy::task& t) noexcept override;
  bool wake(unsigned rank) noexcept override;
  void wake_any(unsigned near) noexcept override;
  void widened() noexcept override;
  bool all_idle() const noexcept override;
  void watch(unsigned self, bool on) noexcept override;
  void warn_of_hint(unsigned self, const char* text, double value) noexcept override;
  void remark(unsigned self, const char* text, std::uint64_t value) noexcept override;

  entry take_from_box(unsigned self, unsigned of) noexcept;
  void note_steal(worker& thief, unsigned victim, entry item) const noexcept;
  // The victims' handlers of messages: run for requests by name that have arrived ([ask:9]).
  void handle_requests() const noexcept;

  const worker_list& workers_;
  sleepers& sleepers_;
  census& census_;
  const std::unique_ptr<policy::policy> policy_;
  policy::policy_wants wants_;  // settled by start, where the policy may take some away
  std::shared_ptr<const machine::topology> machine_;
  std::unique_ptr<queue::askers> askers_;  // made by start, if they are wanted
  trace::recorder* recorder_{nullptr};
  // Null unless the policy wants speeds. A share is negative until it is measured. Written by `beat`, read by anybody,
  // relaxed: numbers.
  std::unique_ptr<std::atomic<double>[]> shares_;
  std::atomic<unsigned> threads_sent_{0};
  account_store accounts_;
  std::vector<std::unique_ptr<task_meter>> meters_;  // of the workers
  struct alignas(64) {
    std::atomic<unsigned> rank{policy::nobody};
  } told_of_;  // read by all workers that search
};

}  // namespace heddle::worker
